import { changesBy } from '../../core/cycle/balance-changes.ts';
import { add, counted, fixedEven, fraction, negate, NO_MONEY, subtract, text } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { Report } from '../json/schema.ts';
import { inCash, worthOf } from './fill-costs.ts';
import type { Cash } from './fill-costs.ts';
import type { Held } from './holdings.ts';

/** The gain of one currency, as `report.json` has it. In cash, exact: start + traded + flows + gain = end. */
export type AssetGain = NonNullable<Report['portfolios'][number]['gains']>[number];

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
  const gains = [...end].map(([currency, worth]) => {
    const parts = [start, traded, flows].map((of) => of.get(currency) ?? NO_MONEY);
    return { currency, parts, worth, gain: parts.reduce((left, part) => subtract(left, part), worth) };
  });
  const whole = gains.reduce((sum, { gain }) => add(sum, gain), NO_MONEY);
  return gains.map(({ currency, parts, worth, gain }) => {
    const [before = '', bought = '', came = ''] = parts.map(text);
    return {
      currency,
      start: before,
      traded: bought,
      flows: came,
      end: text(worth),
      gain: text(gain),
      share: whole.isZero() ? undefined : Number(fixedEven(fraction(gain, whole), 6)),
    };
  });
}

const flowOf = (
  cash: Cash,
  currency: string,
  { change, at }: { readonly change: Quantity; readonly at: Instant },
): Money | undefined => inCash(cash, { currency, amount: counted(change), at });
