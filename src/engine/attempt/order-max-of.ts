import { cost, holding, quantity } from '../../core/money.ts';
import type { Price, Quantity } from '../../core/money.ts';
import type { Instrument } from '../../core/instrument.ts';
import { orderMax } from '../../core/risk/order-max.ts';
import type { Desk } from '../desk.ts';

/** The largest order, in base currency, that the per-order limits allow at the price `dearest`. */
export function orderMaxOf(
  { policy: { limits }, rates }: Desk,
  instrument: Instrument,
  dearest: Price,
): Quantity | undefined {
  const each =
    limits.orderNotionalMax &&
    rates.convert(instrument.quote, holding(cost(dearest, quantity('1'))), limits.currency);
  return orderMax(limits, instrument, each);
}
