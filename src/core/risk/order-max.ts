import { fraction, quantity, ratio, roundDown, scale } from '../money.ts';
import type { Money, Quantity } from '../money.ts';
import type { Instrument } from '../instrument.ts';
import type { Limits } from './limits.ts';

/** The largest order in base currency, and the limit that says so. */
export interface OrderMax {
  readonly most: Quantity;
  readonly reason: 'order_notional' | 'order_quantity';
}

/** How much of the notional limit a piece uses: its quote may be better for a sell than the price it is sized with. */
const SHARE = ratio('0.98');

/** The largest order that the limits of one order allow. `each`: one of the base currency in that of the limits, at its dearest. */
export function orderMax(
  { orderNotionalMax, orderQuantityMax }: Pick<Limits, 'orderNotionalMax' | 'orderQuantityMax'>,
  { pair, basePrecision }: Pick<Instrument, 'pair' | 'basePrecision'>,
  each: Money | undefined,
): OrderMax | undefined {
  const byNotional =
    each === undefined || orderNotionalMax === undefined || each.isZero()
      ? undefined
      : roundDown(scale(scale(quantity('1'), fraction(orderNotionalMax, each)), SHARE), basePrecision);
  const byQuantity = orderQuantityMax.get(pair);
  if (byQuantity !== undefined && byNotional?.lt(byQuantity) !== true)
    return { most: byQuantity, reason: 'order_quantity' };
  return byNotional && { most: byNotional, reason: 'order_notional' };
}
