import { cost, money, price, priceOf, quantity, significant, slippageBps, size, through } from './money.ts';
import type { Money, Price, Quantity, Ratio } from './money.ts';

/** Rate of a currency from the config. */
export interface StatedRate {
  readonly usd: Price;
  /** Maximum distance of the market price from the stated rate, basis points; `undefined`: no limit. */
  readonly gapBpsMax: Ratio | undefined;
}

/** Currencies with a stated rate. */
export type StatedRates = ReadonlyMap<string, StatedRate>;

/** Known rates: existing pairs, their prices, and stated rates. */
export interface RateSource {
  /** Price of a pair; `undefined` while it is unknown or stale. */
  readonly midOf: (pair: string) => Price | undefined;
  readonly stated: StatedRates;
  /** Currencies through which a conversion may go. */
  readonly between: readonly string[];
}

export interface Rate {
  /** Units of the other currency for one unit. */
  readonly each: Price;
  /** The pairs that the rate comes from; `stated` for a stated rate. */
  readonly by: string;
}

/** A stated rate and a market price that contradict each other. */
export interface Contradiction {
  readonly currency: string;
  readonly stated: string;
  readonly market: string;
  readonly by: string;
  readonly limitBps: string;
}

const UNIT = price('1');
const RATE_DIGITS = 18;
const USD = 'usd';

/**
 * The value of one `from` in `into`: the price of their pair in either direction; otherwise a stated rate; otherwise a
 * rate through one other currency.
 */
export function rateOf(from: string, into: string, source: RateSource): Rate | undefined {
  if (from === into) return { each: UNIT, by: 'the same currency' };
  return pairRate(from, into, source) ?? statedRate(from, into, source) ?? pathRate(from, into, source);
}

/** Converts `amount` at a rate. The result is exact if the pair itself is traded. */
export const converted = ({ each }: Rate, amount: Quantity): Money => cost(each, amount);

/** The price of the pair of two currencies, in either direction. */
function pairRate(from: string, into: string, { midOf }: RateSource): Rate | undefined {
  const direct = midOf(from + into);
  if (direct !== undefined) return { each: direct, by: from + into };
  const other = midOf(into + from);
  return other?.gt(0) === true ? { each: inverse(other), by: into + from } : undefined;
}

/** Converts through stated rates: of both currencies, or of one if a pair leads to usd. */
function statedRate(from: string, into: string, source: RateSource): Rate | undefined {
  const first = inUsd(from, source);
  const second = inUsd(into, source);
  if (first === undefined || second === undefined) return undefined;
  const each = second.each.eq(UNIT)
    ? first.each
    : significant(through(first.each, inverse(second.each)), RATE_DIGITS);
  return { each, by: [...new Set([first.by, second.by])].join(', ') };
}

function inUsd(currency: string, source: RateSource): Rate | undefined {
  if (currency === USD) return { each: UNIT, by: 'stated' };
  const stated = source.stated.get(currency);
  return pairRate(currency, USD, source) ?? (stated && { each: stated.usd, by: 'stated' });
}

/** Through one currency that trades against both. */
function pathRate(from: string, into: string, source: RateSource): Rate | undefined {
  for (const between of source.between) {
    if (between === from || between === into) continue;
    const first = pairRate(from, between, source);
    const second = first && pairRate(between, into, source);
    if (first !== undefined && second !== undefined)
      return {
        each: significant(through(first.each, second.each), RATE_DIGITS),
        by: `${first.by}, ${second.by}`,
      };
  }
  return undefined;
}

/** Whether the market contradicts a stated rate; `undefined` without a market price. */
export function contradictionOf(currency: string, source: RateSource): Contradiction | 'none' | undefined {
  const stated = source.stated.get(currency);
  if (stated?.gapBpsMax === undefined) return 'none';
  const market = pairRate(currency, USD, source) ?? pathRate(currency, USD, source);
  if (market === undefined) return undefined;
  if (size(slippageBps('buy', market.each, stated.usd)).lte(stated.gapBpsMax)) return 'none';
  return {
    currency,
    stated: stated.usd.toFixed(),
    market: significant(market.each, 8).toFixed(),
    by: market.by,
    limitBps: stated.gapBpsMax.toFixed(),
  };
}

const inverse = (each: Price): Price =>
  significant(priceOf(money('1'), quantity(each.toFixed())), RATE_DIGITS);

/** The pairs, if they can be listed. */
export interface Listing {
  /** Whether this pair exists. */
  readonly has: (pair: string) => boolean;
  /** Whether all pairs are known; otherwise any two currencies may form a pair. */
  readonly isComplete: boolean;
}

/**
 * The pairs whose prices give a rate, so that the caller can watch them; none if a stated rate is enough. `undefined`
 * if no rate is possible.
 */
export function pairsOfRate(
  from: string,
  into: string,
  { has, isComplete }: Listing,
  { stated, between }: Pick<RateSource, 'stated' | 'between'>,
): readonly string[] | undefined {
  if (from === into) return [];
  const pairOf = (one: string, other: string): string | undefined => {
    // If no list of pairs exists, the usual order is assumed, in which usd is the quote currency.
    const names = isComplete || one !== USD ? [one + other, other + one] : [other + one];
    return names.find(has);
  };
  const isStated = (currency: string): boolean => currency === USD || stated.has(currency);
  if (!isComplete && isStated(from) && isStated(into)) return [];
  const direct = pairOf(from, into);
  if (direct !== undefined) return [direct];
  if (isStated(from) && isStated(into)) return [];
  const onward = isStated(from) ? pairOf(into, USD) : isStated(into) ? pairOf(from, USD) : undefined;
  if (onward !== undefined) return [onward];
  for (const each of isComplete ? between : []) {
    const first = each === from || each === into ? undefined : pairOf(from, each);
    const second = first === undefined ? undefined : pairOf(each, into);
    if (first !== undefined && second !== undefined) return [first, second];
  }
  return undefined;
}
