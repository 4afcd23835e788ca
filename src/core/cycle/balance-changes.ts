import {
  add,
  cost,
  counted,
  holding,
  money,
  negate,
  NO_QUANTITY,
  price,
  quantity,
  quantityUp,
  subtract,
} from '../money.ts';
import type { Money, Quantity } from '../money.ts';
import type { FillRecord, IntentRecord } from '../record.ts';

/** The largest amount that an order of the intent can take from `currency`. */
export function outgoing(intent: IntentRecord, currency: string): Quantity {
  const sized = quantity(intent.size);
  if (intent.side === 'sell') {
    if (currency !== intent.base) return NO_QUANTITY;
    return intent.by === 'quantity' ? sized : quantityUp(counted(sized), price(intent.worst_price), 18);
  }
  if (currency !== intent.quote) return NO_QUANTITY;
  return intent.by === 'amount' ? sized : holding(cost(price(intent.worst_price), sized));
}

/** How a fill changes the balances. Fees are taken in quote currency. */
export const changesOf = (fill: FillRecord): BalanceChanges => changesBy(fill, amountsOf(fill));

export const amountsOf = (fill: FillRecord): FillAmounts => ({
  quantity: quantity(fill.quantity),
  amount: money(fill.amount),
  fees: money(fill.fees),
});

/** Like `balanceChanges`, for amounts that are already parsed. */
export function changesBy(
  { side, base, quote }: Pick<FillRecord, 'side' | 'base' | 'quote'>,
  { quantity: traded, amount, fees }: FillAmounts,
): BalanceChanges {
  return side === 'buy'
    ? [
        [base, traded],
        [quote, negate(holding(add(amount, fees)))],
      ]
    : [
        [base, negate(traded)],
        [quote, holding(subtract(amount, fees))],
      ];
}

export type BalanceChanges = readonly (readonly [currency: string, change: Quantity])[];

export interface FillAmounts {
  readonly quantity: Quantity;
  readonly amount: Money;
  readonly fees: Money;
}
