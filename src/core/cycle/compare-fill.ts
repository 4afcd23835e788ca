import { evidenceOf, tradePrice } from './evidence.ts';
import type { TradeEvidence } from './evidence.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  add,
  fraction,
  greatest,
  money,
  price,
  priceOf,
  quantity,
  roundUp,
  scale,
  size,
  subtract,
  text,
} from '../money.ts';
import type { AnyAmount, Money, Price, Quantity } from '../money.ts';
import type { CorrectionRecord, FillRecord, Missing } from '../record.ts';
import { MINUTE_MS, after } from '../time.ts';
import type { Instant } from '../time.ts';

/** Result of comparing a booked fill with a read of the account. */
export type Comparison =
  /** Nothing new, or the fill need not appear yet. */
  | { readonly is: 'agreed' | 'early' }
  /** The fill appears for the first time, exactly as booked. */
  | { readonly is: 'shown'; readonly rows: readonly number[] }
  /** A part appears; the venue may still be booking. `isMore`: the new rows are an additional trade. */
  | { readonly is: 'booking'; readonly isMore: boolean; readonly why: string }
  /** The fill should have appeared by now. */
  | { readonly is: 'unbooked' }
  /** The account shows other figures, and they count. */
  | {
      readonly is: 'differs';
      readonly correction: CorrectionRecord;
      /** `rounding`: by at most one unit; `grave`: too large to ignore. */
      readonly by: 'rounding' | 'units' | 'grave';
      /** More was executed than was ordered: the venue executed its quote twice. */
      readonly isMore: boolean;
      readonly why: string;
    };

/** The account must show a fill within this time of its execution, milliseconds. */
const SHOWN_AFTER_MS = MINUTE_MS;
/** If the account shows one leg, it must show the other within this time. */
const WHOLE_AFTER_MS = 2 * MINUTE_MS;
/** A difference above this share of a figure is not a rounding difference. */
const TOLERANCE = '0.001';

export interface FillCheck {
  /** Including its last correction. */
  readonly fill: FillRecord;
  /** The fill's trade in the read, if the read shows one. */
  readonly trade: TradeEvidence | undefined;
  /** When the read began. */
  readonly readAt: Instant;
  /** Whether the venue has had time to book the whole fill, and the read covers that time. */
  readonly isDue: boolean;
  readonly basePrecision: number;
  readonly quotePrecision: number;
}

/** What the account shows of a fill, over all reads. */
interface Total {
  readonly quantity: Quantity;
  readonly amount: Money;
  readonly fees: Money;
  readonly price: Price;
  readonly orderId: string;
  readonly rows: readonly number[];
  readonly trades: number;
  readonly isWhole: boolean;
}

/**
 * Compares a fill with the account. The account is authoritative, because the venue settles by it. Its figures apply
 * once the booking margin is over, and earlier if no pending row can explain them.
 */
export function compareFill(check: FillCheck): Comparison {
  const { fill, trade, readAt, isDue } = check;
  const total = trade === undefined ? undefined : totalOf(fill, trade);
  if (total === undefined) {
    if (fill.rows !== undefined) return { is: 'agreed' };
    return { is: readAt >= after(fill.executed_at, SHOWN_AFTER_MS) ? 'unbooked' : 'early' };
  }
  const found = differences(check, total);
  if (!total.isWhole || (found.isLess && !isDue)) {
    const isLate = readAt >= after(fill.executed_at, WHOLE_AFTER_MS);
    if (!total.isWhole && !found.isMore && fill.rows === undefined && isLate) return { is: 'unbooked' };
    const why = `${text(total.quantity)} of ${text(found.ordered.quantity)} so far`;
    return { is: 'booking', isMore: found.isMore, why };
  }
  const isPriced = fill.source !== 'operator' || fill.price === text(total.price);
  if (found.names.length === 0 && isPriced) return { is: 'shown', rows: total.rows };
  return {
    is: 'differs',
    by: found.by,
    isMore: found.isMore,
    why:
      found.names.length === 0
        ? `price ${text(total.price)} instead of ${fill.price}`
        : found.names.join(', '),
    correction: correctionOf(fill, total, found.missing),
  };
}

/** Adds the rows that are not in the fill yet; `undefined` if it contains all of them. */
function totalOf(fill: FillRecord, trade: TradeEvidence): Total | undefined {
  if (fill.rows === undefined) return totalFrom(trade, tradePriceOf(trade));
  const known = new Set(fill.rows);
  const fresh = trade.rows.filter(({ id }) => !known.has(id));
  if (fresh.length === 0) return undefined;
  const more = evidenceOf(trade.clientId, fresh, fill);
  const all = {
    ...totalFrom(more, price(fill.price)),
    quantity: add(quantity(fill.quantity), more.quantity),
    amount: add(money(fill.amount), more.amount),
    fees: add(money(fill.fees), more.fees),
    orderId: fill.order_id,
    rows: [...fill.rows, ...fresh.map(({ id }) => id)],
  };
  return all.quantity.gt(0)
    ? { ...all, price: price(roundUp(priceOf(all.amount, all.quantity), 18).toFixed()) }
    : all;
}

const tradePriceOf = (trade: TradeEvidence): Price =>
  trade.quantity.gt(0) && trade.amount.gt(0) ? tradePrice(trade) : price('0');

const totalFrom = (trade: TradeEvidence, each: Price): Total => ({
  quantity: trade.quantity,
  amount: trade.amount,
  fees: trade.fees,
  price: each,
  orderId: trade.orderId,
  rows: trade.rows.map(({ id }) => id),
  trades: new Set(trade.rows.map(({ tradeId }) => tradeId)).size,
  isWhole: trade.isWhole,
});

interface Differences {
  /** Describes the differences, one per figure. */
  readonly names: readonly string[];
  readonly by: 'rounding' | 'units' | 'grave';
  /** Less than the order was traded; the rest may still be booked. */
  readonly isLess: boolean;
  readonly isMore: boolean;
  readonly ordered: { readonly quantity: Quantity; readonly amount: Money };
  readonly missing: Missing | undefined;
}

function differences({ fill, basePrecision, quotePrecision }: FillCheck, total: Total): Differences {
  const [base, quote] = [price(`1e-${basePrecision}`), price(`1e-${quotePrecision}`)];
  const figures = [
    { name: 'quantity', was: quantity(fill.quantity), is: total.quantity, unit: base },
    { name: 'amount', was: money(fill.amount), is: total.amount, unit: quote },
    { name: 'fees', was: money(fill.fees), is: total.fees, unit: quote },
  ] as const;
  const others = figures.filter(({ was, is }) => !was.eq(is));
  const beyond = others.filter((one) => away(one).gt(one.unit));
  const isGrave = beyond.some((one) => one.name !== 'fees' && away(one).gt(one.is.times(TOLERANCE)));
  const ordered = {
    quantity: add(quantity(fill.quantity), quantity(fill.missing?.quantity ?? '0')),
    amount: add(money(fill.amount), money(fill.missing?.amount ?? '0')),
  };
  const lacks = {
    quantity: subtract(ordered.quantity, total.quantity),
    amount: subtract(ordered.amount, total.amount),
  };
  // The amount of each trade of an order is rounded separately.
  const isLess = lacks.quantity.gt(0) || lacks.amount.gt(quote.times(total.trades));
  // A difference from a person's figures is only a typing error. The size of an adopted order is unknown.
  const isKnown = fill.adopted === undefined && (fill.source !== 'operator' || fill.rows !== undefined);
  const isBoth = lacks.quantity.lte(base.times(-1)) && lacks.amount.lte(quote.times(-1));
  // One unit more on both sides may be rounding.
  const isRounding = lacks.quantity.eq(base.times(-1)) && lacks.amount.gte(quote.times(-total.trades));
  // For a trade with one leg so far, that leg decides.
  const isEither = lacks.quantity.lt(base.times(-1)) || lacks.amount.lt(quote.times(-total.trades));
  const isMore = isKnown && (total.isWhole ? isBoth && !isRounding : isEither);
  const isCrumb = lacks.quantity.lte(base) && lacks.amount.lte(quote.times(total.trades));
  return {
    names: others.map(({ name, was, is }) => `${name} ${text(is)} instead of ${text(was)}`),
    by: isGrave ? 'grave' : beyond.length > 0 ? 'units' : 'rounding',
    isLess,
    isMore,
    ordered,
    // If only part of the amount is missing, the price was different.
    missing: lacks.quantity.gt(0) && !isCrumb ? missingAs(fill, ordered, lacks) : undefined,
  };
}

const away = ({ was, is }: { readonly was: AnyAmount; readonly is: AnyAmount }): AnyAmount =>
  size(subtract(is, was));

function missingAs(
  fill: FillRecord,
  ordered: { readonly quantity: Quantity; readonly amount: Money },
  lacks: { readonly quantity: Quantity; readonly amount: Money },
): Missing {
  const [base, amount] = [greatest(lacks.quantity, NO_QUANTITY), greatest(lacks.amount, NO_MONEY)];
  const worth = add(money(fill.notional_usd), money(fill.missing?.notional_usd ?? '0'));
  const share = ordered.amount.isZero() ? fraction(base, ordered.quantity) : fraction(amount, ordered.amount);
  return {
    quantity: text(base),
    amount: text(amount),
    notional_usd: text(roundUp(scale(worth, share), 8)),
  };
}

function correctionOf(fill: FillRecord, total: Total, missing: Missing | undefined): CorrectionRecord {
  const made: { -readonly [K in keyof CorrectionRecord]: CorrectionRecord[K] } = {
    kind: 'correction',
    client_order_id: fill.client_order_id,
    order_id: total.orderId,
    quantity: text(total.quantity),
    price: text(total.price),
    amount: text(total.amount),
    fees: text(total.fees),
    was_quantity: fill.quantity,
    was_amount: fill.amount,
    was_fees: fill.fees,
    rows: total.rows,
  };
  // Omitted rather than `undefined`, because the journal holds plain JSON.
  if (missing !== undefined) made.missing = missing;
  return made;
}

/** Applies a correction to a fill. Its value in the currency of the limits scales with its amount. */
export function corrected(fill: FillRecord, by: CorrectionRecord): FillRecord {
  return {
    ...fill,
    quantity: by.quantity,
    price: by.price,
    amount: by.amount,
    fees: by.fees,
    notional_usd: notionalOf(fill, by.amount),
    rows: by.rows ?? fill.rows,
    missing: by.missing,
  };
}

function notionalOf(fill: FillRecord, amount: string): string {
  const before = money(fill.amount);
  if (fill.notional_usd === fill.amount || before.isZero()) return amount;
  // Truncated like every other notional, because a quotient with endless digits could not be read back.
  return text(roundUp(scale(money(fill.notional_usd), fraction(money(amount), before)), 8));
}
