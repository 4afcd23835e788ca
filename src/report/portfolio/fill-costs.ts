import { add, cost, counted, holding, NO_MONEY, subtract } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import { priceIn } from '../../core/risk/portfolio.ts';
import type { Basis } from '../../core/risk/portfolio.ts';
import type { Instant } from '../../core/time.ts';
import type { FillFacts } from '../figures/facts.ts';
import type { PriceBook } from '../figures/prices.ts';
import { fillRow } from '../figures/fill-figures.ts';
import { against, feesOf } from '../figures/shortfall.ts';

/** What a portfolio pays, as `report.json` describes it, in the order of a report. */
export const PAID_PARTS = ['spread', 'fees', 'interest'] as const;

/** The cost of a trade between two currencies of a portfolio, or a charge of interest. In cash; positive is bad. */
export interface Paid extends Readonly<Record<(typeof PAID_PARTS)[number], Money>> {
  /** When the holdings changed. */
  readonly at: Instant;
}

/** Converts money into cash at an instant. */
export interface Cash {
  readonly basis: Basis;
  readonly prices: PriceBook;
}

/** `amount` of a currency, in cash at the newest price at that time; `undefined` if there is no price. */
export function inCash(
  { basis, prices }: Cash,
  { currency, amount, at }: { readonly currency: string; readonly amount: Money; readonly at: Instant },
): Money | undefined {
  if (currency === basis.cash) return amount;
  const each = priceIn(currency, basis, (pair) => prices.midAt(pair, at)?.price);
  return each && cost(each, holding(amount));
}

/**
 * The cost of a fill booked at an instant. If the price before its quote is unknown, the fill is compared with the
 * newest price at that time; without any price, there is no cost.
 */
export function fillCost(fill: FillFacts, cash: Cash, booked: Instant): Paid {
  const { record, figures } = fill;
  const { pair, side, quote: currency, executed_at: at } = record;
  const known = cash.prices.midAt(pair, at)?.price;
  const over =
    fillRow(fill, undefined).spread ??
    (known && against(side, subtract(figures.amount, cost(known, figures.quantity))));
  return {
    at: booked,
    spread: (over && inCash(cash, { currency, amount: over, at })) ?? NO_MONEY,
    fees: inCash(cash, { currency, amount: feesOf(fill), at }) ?? NO_MONEY,
    interest: NO_MONEY,
  };
}

/**
 * Returns the value of a fill in cash: the base quantity if the base currency is cash, otherwise the quote amount with the
 * fees of a buy or without those of a sell, converted at the newest price at the time of execution.
 */
export function worthOf({ record, figures }: FillFacts, cash: Cash): Money | undefined {
  const { base, quote, side, executed_at: at } = record;
  if (base === cash.basis.cash) return counted(figures.quantity);
  const paid = side === 'buy' ? add(figures.amount, figures.fees) : subtract(figures.amount, figures.fees);
  return inCash(cash, { currency: quote, amount: paid, at });
}
