import { unitOf } from '../instrument.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  add,
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
import type { FillRecord, IntentRecord, Missing, QuoteRecord } from '../record.ts';

/** The size of an order, and how much of it a trade covers. */

/** An order that may have been sent. */
export interface Asked {
  readonly intent: Pick<IntentRecord, 'by' | 'side' | 'size' | 'worst_price' | 'notional_usd'>;
  /** The order's quote. Omitted: no record contains it. */
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
 * `whole`: exactly the order, so that nothing is missing. `more`: more than any of our orders requested. `other`: less
 * than the order or at another price; the rest may still be booked.
 */
export type Extent = 'whole' | 'more' | 'other';

/**
 * Compares the traded size with the order. The requested side must match exactly; the other side must match the
 * quote, except for the rounding of each trade of the order.
 */
export function extentOf(
  { intent, quoted, precisions }: Asked,
  traded: Figures & { readonly parts?: number | undefined },
): Extent {
  const isQuantity = intent.by === 'quantity';
  const [asked, other] = isQuantity
    ? [traded.quantity, holding(traded.amount)]
    : [holding(traded.amount), traded.quantity];
  const wanted = quantity(intent.size);
  if (asked.lt(wanted)) return 'other';
  const times = Math.max(1, traded.parts ?? 1);
  const { basePrecision = 18, quotePrecision = 18 } = precisions ?? {};
  const [unit, otherUnit] = isQuantity ? [basePrecision, quotePrecision] : [quotePrecision, basePrecision];
  const expected = quoted && (isQuantity ? holding(quoted.amount) : quoted.quantity);
  const away = expected && subtract(other, expected);
  const isOff = away !== undefined && size(away).gt(unitOf(otherUnit).times(times));
  if (asked.gt(wanted)) {
    // One unit more may be rounding, unless the trade is twice the order, or the other side is also larger. That may be
    // an order of one unit that was executed twice.
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

/**
 * The largest figure that a row of the order can show in one of its currencies; `undefined` if nothing bounds it. One
 * unit more may be rounding.
 */
export function largestOf(
  { intent, quoted, precisions }: Asked,
  of: 'quantity' | 'amount',
): Quantity | undefined {
  const most = boundOf(intent, quoted, of);
  const { basePrecision = 18, quotePrecision = 18 } = precisions ?? {};
  return most && add(most, quantity(text(unitOf(of === 'quantity' ? basePrecision : quotePrecision))));
}

function boundOf(
  intent: Asked['intent'],
  quoted: Figures | undefined,
  of: 'quantity' | 'amount',
): Quantity | undefined {
  if (quoted !== undefined) return of === 'quantity' ? quoted.quantity : holding(quoted.amount);
  const wanted = quantity(intent.size);
  if (intent.by === of) return wanted;
  const worst = price(intent.worst_price);
  // A better price gives a seller more and a buyer's amount buys more, without bound.
  if (of === 'amount') return intent.side === 'buy' ? holding(cost(worst, wanted)) : undefined;
  return intent.side === 'sell' ? quantityUp(counted(wanted), worst, 18) : undefined;
}

/** The order of a fill: what is booked, and what is missing. */
export function orderOf(
  { quantity: done, amount: paid, notional_usd, missing, price: worst, side, by }: FillRecord,
  precisions: Precisions,
): Asked {
  const whole = add(quantity(done), quantity(missing?.quantity ?? '0'));
  const amount = add(money(paid), money(missing?.amount ?? '0'));
  return {
    intent: {
      by: by ?? 'quantity',
      side,
      size: text(by === 'amount' ? amount : whole),
      worst_price: worst,
      notional_usd: text(add(money(notional_usd), money(missing?.notional_usd ?? '0'))),
    },
    quoted: { quantity: whole, amount },
    precisions,
  };
}
