import {
  add,
  cost,
  counted,
  fraction,
  holding,
  money,
  negate,
  NO_MONEY,
  NO_QUANTITY,
  price,
  quantity,
  quantityUp,
  roundUp,
  scale,
  subtract,
} from '../money.ts';
import type { Money, Quantity } from '../money.ts';
import type { FillRecord, IntentRecord, OtherFees } from '../record.ts';

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

/** How a fill changes the balances, once per currency. Each fee is taken in its own currency. */
export const changesOf = (fill: FillRecord): BalanceChanges => changesBy(fill, amountsOf(fill));

export const amountsOf = (fill: FillRecord): FillAmounts => ({
  quantity: quantity(fill.quantity),
  amount: money(fill.amount),
  fees: money(fill.fees),
  otherFees:
    fill.other_fees === undefined
      ? undefined
      : new Map(Object.entries(fill.other_fees).map(([currency, fee]) => [currency, quantity(fee)])),
});

/** Like `changesOf`, for amounts that are already parsed. */
export function changesBy(
  { side, base, quote }: Pick<FillRecord, 'side' | 'base' | 'quote'>,
  { quantity: traded, amount, fees, otherFees }: FillAmounts,
): BalanceChanges {
  const legs: BalanceChanges =
    side === 'buy'
      ? [
          [base, traded],
          [quote, negate(holding(add(amount, fees)))],
        ]
      : [
          [base, negate(traded)],
          [quote, holding(subtract(amount, fees))],
        ];
  if (otherFees === undefined || otherFees.size === 0) return legs;
  const changes = new Map(legs);
  for (const [currency, fee] of otherFees)
    changes.set(currency, subtract(changes.get(currency) ?? NO_QUANTITY, fee));
  return [...changes];
}

export type BalanceChanges = readonly (readonly [currency: string, change: Quantity])[];

export interface FillAmounts {
  readonly quantity: Quantity;
  readonly amount: Money;
  /** In quote currency. */
  readonly fees: Money;
  /** In other currencies. Omitted: none. */
  readonly otherFees?: ReadonlyMap<string, Quantity> | undefined;
}

type Priced = Pick<FillRecord, 'base' | 'quantity' | 'amount' | 'fees' | 'other_fees'>;

/**
 * The fees of a fill as a cost in quote currency, those in base currency at the price of the fill, rounded up to 18
 * decimals. Excludes fees in third currencies, for which the fill has no price: see `unpricedFees`.
 */
export function feesInQuote({ base, quantity: traded, amount, fees, other_fees: others }: Priced): Money {
  const own = fees === '0' ? NO_MONEY : money(fees);
  const [fee, size] = [others?.[base], quantity(traded)];
  if (fee === undefined || size.isZero()) return own;
  return add(own, roundUp(scale(money(amount), fraction(quantity(fee), size)), 18));
}

/** Fees in currencies that the fill does not trade, each in its own. */
export const unpricedFees = ({
  base,
  other_fees: others = {},
}: Pick<Priced, 'base' | 'other_fees'>): OtherFees =>
  Object.fromEntries(Object.entries(others).filter(([currency]) => currency !== base));
