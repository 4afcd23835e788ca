import { NO_QUANTITY, add, money, quantity, size, subtract, text } from '../money.ts';
import { extentOf, missingOf, orderOf } from '../cycle/order-extent.ts';
import type { Precisions } from '../cycle/order-extent.ts';
import type { CorrectionRecord, FillRecord, Missing, RowText } from '../record.ts';
import { changeText, currentRows, figuresOf, hasBothLegs, otherFeesIn } from './rows.ts';
import type { Replaced, Trade } from './rows.ts';

/** Result of comparing a booked fill with a read of the account. */
export type Comparison =
  /** Nothing new, or the fill need not appear yet. */
  | { readonly is: 'agreed' | 'early' }
  /** The account shows exactly what is booked, in these rows for the first time. */
  | {
      readonly is: 'shown';
      readonly rows: readonly RowText[];
      readonly replaced: readonly Replaced[];
    }
  /** A part appears; the venue may still be booking. `isMore`: more than was ordered appears. */
  | { readonly is: 'booking'; readonly isMore: boolean; readonly why: string }
  /** `unclear`: rows may be those of the journal under new ids. `unbooked`: the fill should have appeared by now. */
  | { readonly is: 'unclear' | 'unbooked' }
  /** The account shows other figures, and they count. */
  | {
      readonly is: 'differs';
      readonly correction: CorrectionRecord;
      readonly replaced: readonly Replaced[];
      /** `rounding`: by at most one unit; `grave`: too large to ignore. */
      readonly by: 'rounding' | 'units' | 'grave';
      /** More was executed than was ordered: the venue executed its quote twice. */
      readonly isMore: boolean;
      readonly why: string;
    };

/** A difference above this share of a figure is not a rounding difference. */
const TOLERANCE = '0.001';

export interface FillCheck {
  /** Including its last correction. */
  readonly fill: FillRecord;
  /** The fill's trade in the read, if the read shows rows of it. */
  readonly trade: Trade | undefined;
  /** Whether the read would show this row of the journal, if it still existed under its id. */
  covers(row: RowText): boolean;
  /** The booking margin after the end of the quote was over when the read began, and the read covers all rows of the order. */
  readonly isDue: boolean;
  readonly precisions: Precisions;
}

/**
 * Compares a fill with the account. A fill is the sum of all rows of its order as of the last read, because the venue
 * settles by them. Less than the order counts once the booking margin is over, anything else at once.
 */
export function compareFill(check: FillCheck): Comparison {
  const { fill, trade, isDue } = check;
  if (trade === undefined) return { is: fill.rows !== undefined ? 'agreed' : isDue ? 'unbooked' : 'early' };
  const { rows, replaced, isUnclear } = currentRows(fill.rows ?? [], trade.kept, (row) => check.covers(row));
  if (isUnclear) return { is: 'unclear' };
  if (fill.rows !== undefined && replaced.length === 0 && rows.length === fill.rows.length)
    return { is: 'agreed' };
  const total = totalOf(fill, trade, rows);
  const found = differences(check, total);
  const isWhole = hasBothLegs(total);
  if (!isWhole || found.isHalfMore || (found.isLess && !isDue)) {
    if (!isWhole && !found.isMore && isDue) return { is: 'unbooked' };
    const why = `${text(total.quantity)} of ${found.asked.intent.size} so far`;
    return { is: 'booking', isMore: found.isMore, why };
  }
  if (found.names.length === 0) return { is: 'shown', rows, replaced };
  return {
    is: 'differs',
    replaced,
    by: found.by,
    isMore: found.isMore,
    why: found.names.join(', '),
    correction: correctionOf(fill, total, { missing: found.missing, replaced }),
  };
}

/** What the account shows of a fill, over all reads. */
function totalOf(fill: FillRecord, trade: Trade, rows: readonly RowText[]) {
  const figures = figuresOf(fill, rows);
  return {
    ...figures,
    price: fill.rows === undefined ? trade.price : figures.price,
    orderId: fill.rows === undefined ? trade.orderId : fill.order_id,
    rows,
    parts: Math.max(1, legs(rows, fill.base), legs(rows, fill.quote)),
    isUneven: isUneven(fill, rows),
  };
}

const legs = (rows: readonly RowText[], currency: string): number =>
  rows.filter((row) => row.is_fee !== true && row.currency === currency).length;
/** A leg is missing, or one of a second execution has come. */
const isUneven = ({ base, quote }: FillRecord, rows: readonly RowText[]): boolean =>
  legs(rows, base) !== legs(rows, quote);

/** How a fill differs from what the account shows of it, a text per figure, and how far that is from its order. */
function differences({ fill, precisions }: FillCheck, total: ReturnType<typeof totalOf>) {
  const { basePrecision, quotePrecision } = precisions;
  const booked = new Map(Object.entries(fill.other_fees ?? {}));
  const fees = [...new Set([...booked.keys(), ...total.otherFees.keys()])].map((currency) => ({
    name: `fees in ${currency}`,
    was: quantity(booked.get(currency) ?? '0'),
    is: total.otherFees.get(currency) ?? NO_QUANTITY,
    unit: NO_QUANTITY,
  }));
  const [base, quote] = [quantity(`1e-${basePrecision}`), quantity(`1e-${quotePrecision}`)];
  const others = [
    { name: 'quantity', was: quantity(fill.quantity), is: total.quantity, unit: base },
    { name: 'amount', was: quantity(fill.amount), is: quantity(text(total.amount)), unit: quote },
    { name: 'fees', was: quantity(fill.fees), is: quantity(text(total.fees)), unit: quote },
    ...fees,
  ]
    .map((figure) => ({ ...figure, away: size(subtract(figure.is, figure.was)) }))
    .filter(({ away }) => !away.isZero());
  const beyond = others.filter(({ away, unit }) => away.gt(unit));
  const isGrave = beyond.some(
    ({ name, away, is }) => !name.startsWith('fees') && away.gt(is.times(TOLERANCE)),
  );
  const asked = orderOf(fill, precisions);
  const { quantity: wanted, amount } = asked.quoted ?? total;
  // A difference from a person's figures is only a typing error. The size of an adopted order is unknown.
  const isKnown = fill.adopted === undefined && (fill.source !== 'operator' || fill.rows !== undefined);
  // The amount of each part of an order is rounded separately.
  const rounding = money(quote.times(total.parts).toFixed());
  const isBelow = total.amount.lt(subtract(amount, rounding));
  // Twice an order of one unit is more than rounding.
  const isAbove = [
    total.quantity.gt(add(wanted, base)) || total.quantity.gte(wanted.times(2)),
    total.amount.gt(add(amount, rounding)) || total.amount.gte(amount.times(2)),
  ] as const;
  const isHalfMore = isKnown && total.isUneven && isAbove[0] !== isAbove[1];
  // More of one currency alone is another price, unless the other leg of the excess was booked before.
  const isOther = total.amount.gt(amount) || isUneven(fill, fill.rows ?? []);
  const isCrumb = subtract(wanted, total.quantity).lte(base) && !isBelow;
  return {
    names: others.map(({ name, was, is }) => `${name} ${text(is)} instead of ${text(was)}`),
    by: isGrave ? ('grave' as const) : beyond.length > 0 ? ('units' as const) : ('rounding' as const),
    // The rest may still be booked. Without a quote, what is missing is an estimate: rows that add to the fill count.
    isLess:
      fill.missing !== undefined && fill.quote_id === ''
        ? total.isUneven || total.quantity.lt(fill.quantity) || total.amount.lt(quantity(fill.amount))
        : total.quantity.lt(wanted) || isBelow,
    isMore: isHalfMore || (isKnown && isOther && isAbove.includes(true) && extentOf(asked, total) === 'more'),
    // Only one leg of the excess has come; the figures wait for the other.
    isHalfMore,
    asked,
    // If only part of the amount is missing, the price was different.
    missing: isCrumb ? undefined : missingOf(asked, total),
  };
}

function correctionOf(
  fill: FillRecord,
  total: ReturnType<typeof totalOf>,
  { missing, replaced }: { readonly missing: Missing | undefined; readonly replaced: readonly Replaced[] },
): CorrectionRecord {
  // Omitted rather than `undefined`, because the journal holds plain JSON.
  return {
    kind: 'correction',
    client_order_id: fill.client_order_id,
    order_id: total.orderId,
    quantity: text(total.quantity),
    price: total.quantity.eq(fill.quantity) && total.amount.eq(fill.amount) ? fill.price : text(total.price),
    amount: text(total.amount),
    fees: text(total.fees),
    was_quantity: fill.quantity,
    was_amount: fill.amount,
    was_fees: fill.fees,
    rows: total.rows,
    ...otherFeesIn(total),
    ...(replaced.length === 0 ? {} : { changes: replaced.map(changeText) }),
    ...(missing === undefined ? {} : { missing }),
  };
}
