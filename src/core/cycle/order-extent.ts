import { unitOf } from '../instrument.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  cost,
  counted,
  fraction,
  greatest,
  holding,
  money,
  price,
  quantity,
  quantityUp,
  roundUp,
  scale,
  size,
  subtract,
  text,
} from '../money.ts';
import type { AnyAmount, Money, Quantity } from '../money.ts';
import type { IntentRecord, Missing, QuoteRecord } from '../record.ts';

/** The size of an order, and how much of it a trade covers. */

/** An order that may have been sent. */
export interface Asked {
  readonly intent: IntentRecord;
  /** The quote of the order. Omitted: no record contains it. */
  readonly quoted?: Figures | undefined;
  /** Decimals in which the venue books the two currencies. Omitted: no difference counts as rounding. */
  readonly precisions?: Precisions | undefined;
}

export interface Precisions {
  readonly basePrecision: number;
  readonly quotePrecision: number;
}

export interface Figures {
  readonly quantity: Quantity;
  readonly amount: Money;
}

/** The figures of a quote in a record. */
export const quotedIn = (quote: QuoteRecord | undefined): Figures | undefined =>
  quote === undefined ? undefined : { quantity: quantity(quote.quantity), amount: money(quote.amount) };

/**
 * `whole`: exactly the order, so nothing is missing. `more`: more than any of our orders requested. `other`: less, or
 * at another price; the rest may still be booked.
 */
export type Extent = 'whole' | 'more' | 'other';

/**
 * Compares the traded size with the order. The requested side must match exactly; the other side must match the
 * quote, except for the rounding of each trade of the order.
 */
export function extentOf(
  { intent, quoted, precisions }: Asked,
  traded: Figures & { readonly trades?: number | undefined },
): Extent {
  const isQuantity = intent.by === 'quantity';
  const [asked, other] = isQuantity
    ? [traded.quantity, holding(traded.amount)]
    : [holding(traded.amount), traded.quantity];
  const wanted = quantity(intent.size);
  if (asked.lt(wanted)) return 'other';
  const times = Math.max(1, traded.trades ?? 1);
  const { basePrecision = 18, quotePrecision = 18 } = precisions ?? {};
  const [unit, otherUnit] = isQuantity ? [basePrecision, quotePrecision] : [quotePrecision, basePrecision];
  const expected = quoted && (isQuantity ? holding(quoted.amount) : quoted.quantity);
  const away = expected && subtract(other, expected);
  const isOff = away !== undefined && size(away).gt(unitOf(otherUnit).times(times));
  if (asked.gt(wanted)) {
    // One unit more may be rounding. It is not if the trade is twice the order, or if the other side is larger as well,
    // as when an order of one unit was executed twice.
    const isTwice = asked.gte(wanted.times(2)) || (isOff && away.gt(0));
    return isTwice || isBeyond(asked, wanted, unit) ? 'more' : 'other';
  }
  return isOff ? 'other' : 'whole';
}

const isBeyond = (a: AnyAmount, b: AnyAmount, decimals: number): boolean =>
  size(subtract(a, b)).gt(unitOf(decimals));

/** The missing part of an order, as quoted, or at its worst price if no record has the quote. `undefined`: nothing. */
export function missingOf({ intent, quoted }: Asked, traded: Figures): Missing | undefined {
  const wanted = quantity(intent.size);
  const done = intent.by === 'quantity' ? traded.quantity : holding(traded.amount);
  if (done.gte(wanted)) return undefined;
  const left = subtract(wanted, done);
  const worst = price(intent.worst_price);
  const share = fraction(left, wanted);
  const notional = text(roundUp(scale(money(intent.notional_usd), share), 8));
  if (intent.by === 'quantity') {
    const amount =
      quoted === undefined
        ? roundUp(cost(worst, left), 18)
        : greatest(subtract(quoted.amount, traded.amount), NO_MONEY);
    return { quantity: text(left), amount: text(amount), notional_usd: notional };
  }
  const base =
    quoted === undefined
      ? quantityUp(counted(left), worst, 18)
      : greatest(subtract(quoted.quantity, traded.quantity), NO_QUANTITY);
  return { quantity: text(base), amount: text(left), notional_usd: notional };
}
