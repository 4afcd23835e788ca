import { fraction, quantity, ratio, roundDown, scale } from '../money.ts';
import type { Money, Quantity } from '../money.ts';
import type { Instrument } from '../instrument.ts';
import type { Limits } from './limits.ts';

/** The largest order in base currency, and the limit that determines it. */
export interface OrderMax {
  readonly most: Quantity;
  readonly reason: 'order_notional' | 'order_quantity';
}

/**
 * Share of the notional limit that a piece uses. The quote of a sell may be better than the price used for sizing.
 */
const SHARE = ratio('0.98');

/**
 * The largest order that the per-order limits allow. `each`: value of one unit of base currency in the currency of the
 * limits, at worst.
 */
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
