import { add, cost, fraction, isAboveZero, NO_MONEY, ONE, priceOf, scale, significant, size, subtract, text } from '../money.ts'; // prettier-ignore
import type { Money, Price, Quantity, Ratio } from '../money.ts';

/** The level in the venue's documentation: the route of the metrics states none, only their feed does. */
export const DOCUMENTED_LEVEL = '0.1';

/** One balance of the account and the value of one unit, USD. A balance below zero is a debt. */
export interface Holding {
  readonly currency: string;
  readonly amount: Quantity;
  readonly price: Price;
}

/** Values balances; `undefined` if one has no price. */
export function holdingsOf(
  balances: Iterable<readonly [currency: string, amount: Quantity]>,
  usdOf: (currency: string) => Price | undefined,
): readonly Holding[] | undefined {
  const holdings: Holding[] = [];
  for (const [currency, amount] of balances) {
    if (amount.isZero()) continue;
    const price = usdOf(currency);
    if (price === undefined) return undefined;
    holdings.push({ currency, amount, price });
  }
  return holdings;
}

/** What the account is worth and what it owes, USD. */
export interface Leverage {
  /** Holdings minus debts. */
  readonly equity: Money;
  readonly exposure: Money;
}

export function leverageOf(holdings: readonly Holding[]): Leverage {
  const worths = holdings.map(({ price, amount }) => cost(price, amount));
  const owed = worths.filter((worth) => worth.lt(0));
  return { equity: worths.reduce(add, NO_MONEY), exposure: size(owed.reduce(add, NO_MONEY)) };
}

/**
 * What the account may still borrow until its equity is `level` times its exposure, USD; below zero, what it must repay until its
 * equity is that again.
 */
export const headroomAt = ({ equity, exposure }: Leverage, level: Ratio): Money =>
  subtract(isAboveZero(equity) ? scale(equity, fraction(ONE, level)) : NO_MONEY, exposure);

/** The price of a currency, USD, below or above which the venue settles positions. */
export interface SettlementPrice {
  readonly currency: string;
  readonly is: 'below' | 'above';
  readonly price: Price;
}

/**
 * At which price of each currency equity falls to `level` times the exposure, with all other prices unchanged. Omits usd, and
 * holdings that may lose all of their value before.
 */
export function settlementPrices(holdings: readonly Holding[], level: Ratio): readonly SettlementPrice[] {
  const { equity, exposure } = leverageOf(holdings);
  const spare = subtract(equity, scale(exposure, level));
  return holdings.flatMap(({ currency, amount, price }): readonly SettlementPrice[] => {
    if (currency === 'usd' || amount.isZero() || exposure.isZero()) return [];
    // A dearer debt takes from the equity and adds to the exposure.
    const isDebt = amount.lt(0);
    const at = isDebt
      ? add(price, priceOf(spare, scale(size(amount), add(ONE, level))))
      : subtract(price, priceOf(spare, amount));
    return at.gt(0) ? [{ currency, is: isDebt ? 'above' : 'below', price: at }] : [];
  });
}

/** Settlement prices in words, such as `btc below 41000 usd`. */
export const settlementWords = (holdings: readonly Holding[], level: Ratio): readonly string[] =>
  settlementPrices(holdings, level).map(
    ({ currency, is, price }) => `${currency} ${is} ${text(significant(price, 6))} usd`,
  );
