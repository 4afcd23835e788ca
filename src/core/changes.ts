import { add, cost, holding, negate, NO_QUANTITY, price, quantity, subtract } from './money.ts';
import type { Quantity } from './money.ts';
import type { FillRecord, IntentRecord } from './record.ts';

/** What the order of an intent takes from `currency` at worst. */
export function outgoing(intent: IntentRecord, currency: string): Quantity {
  const sized = quantity(intent.size);
  if (intent.side === 'sell') {
    if (currency !== intent.base) return NO_QUANTITY;
    return intent.by === 'quantity'
      ? sized
      : quantity(sized.div(price(intent.worst_price)).toFixed(18, 'up'));
  }
  if (currency !== intent.quote) return NO_QUANTITY;
  return intent.by === 'amount' ? sized : holding(cost(price(intent.worst_price), sized));
}

/** How a fill changes the balances. Fees are taken in quote currency. */
export function changesOf(fill: FillRecord): readonly (readonly [string, Quantity])[] {
  const base = quantity(fill.quantity);
  const [amount, fees] = [quantity(fill.amount), quantity(fill.fees)];
  return fill.side === 'buy'
    ? [
        [fill.base, base],
        [fill.quote, negate(add(amount, fees))],
      ]
    : [
        [fill.base, negate(base)],
        [fill.quote, subtract(amount, fees)],
      ];
}
