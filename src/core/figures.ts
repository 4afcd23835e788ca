import { tradePrice } from './evidence.ts';
import type { TradeEvidence } from './evidence.ts';
import { fraction, money, quantity, roundUp, scale, size, subtract, text } from './money.ts';
import type { AnyAmount } from './money.ts';
import type { CorrectionRecord, FillRecord } from './record.ts';
import { MINUTE_MS, after } from './time.ts';
import type { Instant } from './time.ts';

/** What a read of the account says of a fill that was booked on the word of something else. */
export type Comparison =
  /** The account shows the same, or does not have to show it yet. */
  | { readonly is: 'agreed' | 'early' }
  /** It should have shown the fill by now. */
  | { readonly is: 'unbooked' }
  /** It shows other figures: they are the ones that count. */
  | {
      readonly is: 'differs';
      readonly correction: CorrectionRecord;
      /** `rounding`: by no more than a unit; `grave`: by more than a desk can overlook. */
      readonly by: 'rounding' | 'units' | 'grave';
      readonly why: string;
    };

/** The account must show a fill this long after it was booked here, milliseconds. */
const SHOWN_AFTER_MS = MINUTE_MS;
/** A difference beyond this share of a figure is no rounding of anybody. */
const TOLERANCE = '0.001';

export interface FillCheck {
  readonly fill: FillRecord;
  /** Its trade in the read, if the read shows one. */
  readonly trade: TradeEvidence | undefined;
  /** When the read began. */
  readonly readAt: Instant;
  readonly basePrecision: number;
  readonly quotePrecision: number;
}

/** Compares a fill with what the account shows of it. The account has the last word: it is what the venue settles by. */
export function compareFill({ fill, trade, readAt, basePrecision, quotePrecision }: FillCheck): Comparison {
  if (trade === undefined || !trade.isWhole)
    return { is: readAt >= after(fill.executed_at, SHOWN_AFTER_MS) ? 'unbooked' : 'early' };
  const figures = [
    { name: 'quantity', was: quantity(fill.quantity), is: trade.quantity, unit: `1e-${basePrecision}` },
    { name: 'amount', was: money(fill.amount), is: trade.amount, unit: `1e-${quotePrecision}` },
    { name: 'fees', was: money(fill.fees), is: trade.fees, unit: `1e-${quotePrecision}` },
  ] as const;
  const others = figures.filter(({ was, is }) => !was.eq(is));
  if (others.length === 0) return { is: 'agreed' };
  const away = (one: (typeof figures)[number]): AnyAmount => size(subtract<AnyAmount>(one.is, one.was));
  const beyond = others.filter((one) => away(one).gt(one.unit));
  const grave = beyond.some((one) => one.name !== 'fees' && away(one).gt(one.is.times(TOLERANCE)));
  return {
    is: 'differs',
    by: grave ? 'grave' : beyond.length > 0 ? 'units' : 'rounding',
    why: others.map(({ name, was, is }) => `${name} ${text(is)} instead of ${text(was)}`).join(', '),
    correction: {
      kind: 'correction',
      client_order_id: fill.client_order_id,
      order_id: trade.orderId,
      quantity: text(trade.quantity),
      price: text(tradePrice(trade)),
      amount: text(trade.amount),
      fees: text(trade.fees),
      was_quantity: fill.quantity,
      was_amount: fill.amount,
      was_fees: fill.fees,
    },
  };
}

/** A fill with the figures of a correction. What it is worth in the currency of the limits follows its amount. */
export function corrected(fill: FillRecord, by: CorrectionRecord): FillRecord {
  return {
    ...fill,
    quantity: by.quantity,
    price: by.price,
    amount: by.amount,
    fees: by.fees,
    notional_usd: notionalOf(fill, by.amount),
  };
}

function notionalOf(fill: FillRecord, amount: string): string {
  const before = money(fill.amount);
  if (fill.notional_usd === fill.amount || before.isZero()) return amount;
  // Cut like every other notional: a quotient that never ends is no amount, and no journal with one could be read again.
  return text(roundUp(scale(money(fill.notional_usd), fraction(money(amount), before)), 8));
}
