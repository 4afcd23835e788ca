import { fraction, quantity, ratio, roundDown, scale } from '../money.ts';
import type { Money, Quantity } from '../money.ts';
import type { Instrument } from '../instrument.ts';
import type { Limits } from './limits.ts';

/** Share of the notional limit that a piece uses, because a sell's quote may be better than the price used for sizing. */
const SHARE = ratio('0.98');

/**
 * The largest order, in base currency, that the per-order limits allow. `each`: worst-case value of one unit of base
 * currency in the currency of the limits.
 */
export function orderMax(
  { orderNotionalMax, orderQuantityMax }: Pick<Limits, 'orderNotionalMax' | 'orderQuantityMax'>,
  { pair, basePrecision }: Pick<Instrument, 'pair' | 'basePrecision'>,
  each: Money | undefined,
): Quantity | undefined {
  const byNotional =
    each === undefined || orderNotionalMax === undefined || each.isZero()
      ? undefined
      : roundDown(scale(scale(quantity('1'), fraction(orderNotionalMax, each)), SHARE), basePrecision);
  const byQuantity = orderQuantityMax.get(pair);
  return byQuantity !== undefined && byNotional?.lt(byQuantity) !== true ? byQuantity : byNotional;
}
