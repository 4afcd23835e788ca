import { changesBy } from '../../core/cycle/balance-changes.ts';
import { add, counted, negate, NO_MONEY, subtract } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import { inCash, worthOf } from './fill-costs.ts';
import type { Cash } from './fill-costs.ts';
import type { Held } from './holdings.ts';

/** The gain of one currency. In cash, exact: start + traded + flows + gain = end. */
export interface AssetGain {
  readonly currency: string;
  readonly start: Money;
  /** Amount paid for buys minus amount received for sells, including fees. The sum over all currencies is zero. */
  readonly traded: Money;
  /** Changes that no trade within the portfolio explains, valued at the price at that time. */
  readonly flows: Money;
  readonly end: Money;
  readonly gain: Money;
}

interface Asked extends Cash {
  readonly story: readonly Held[];
  readonly from: Instant;
  readonly until: Instant;
  /** Value of each currency of the portfolio, in cash. */
  readonly start: ReadonlyMap<string, Money>;
  readonly end: ReadonlyMap<string, Money>;
}

/**
 * The gain of each currency; `undefined` if a price is missing. The gains sum to end − start − flows of the portfolio.
 */
export function assetGainsOf(asked: Asked): readonly AssetGain[] | undefined {
  const { story, from, until, start, end } = asked;
  const traded = new Map<string, Money>();
  const flows = new Map<string, Money>();
  const put = (of: Map<string, Money>, currency: string, amount: Money): void => {
    of.set(currency, add(of.get(currency) ?? NO_MONEY, amount));
  };
  for (const held of story) {
    const { at, fill } = held;
    if (at <= from || at > until) continue;
    const { base, quote, side } = fill?.record ?? {};
    if (fill !== undefined && base !== undefined && quote !== undefined && end.has(base) && end.has(quote)) {
      const worth = worthOf(fill, asked);
      if (worth === undefined) return undefined;
      const got = side === 'buy' ? worth : negate(worth);
      put(traded, base, got);
      put(traded, quote, negate(got));
      continue;
    }
    for (const [currency, change] of fill === undefined ? held.flows : changesBy(fill.record, fill.figures)) {
      if (!end.has(currency)) continue;
      const worth = flowOf(asked, currency, { change, at });
      if (worth === undefined) return undefined;
      put(flows, currency, worth);
    }
  }
  return [...end].map(([currency, worth]) => {
    const before = start.get(currency) ?? NO_MONEY;
    const bought = traded.get(currency) ?? NO_MONEY;
    const came = flows.get(currency) ?? NO_MONEY;
    return {
      currency,
      start: before,
      traded: bought,
      flows: came,
      end: worth,
      gain: subtract(subtract(subtract(worth, before), bought), came),
    };
  });
}

const flowOf = (
  cash: Cash,
  currency: string,
  { change, at }: { readonly change: Quantity; readonly at: Instant },
): Money | undefined => inCash(cash, { currency, amount: counted(change), at });
