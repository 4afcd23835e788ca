import { approximate, price } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { hash32, normalAt } from './random.ts';

/** Mid prices of one pair over market time. */
export interface PriceSource {
  /** Quote per base, as known at `market`. Never uses later prices. */
  midAt(market: Instant): Price;
}

export interface WalkOptions {
  /** Two walks with the same seed are the same. */
  readonly seed: string;
  /** Market time of the start price. */
  readonly startsAt: Instant;
  /** Quote per base. */
  readonly startPrice: Price;
  /** Standard deviation of the logarithm over one day: 0.03 is 3 % per square root of a day. */
  readonly volatilityPerRootDay: number;
}

/** Length of the whole walk: 2^41 ms are almost 70 years. */
const SPAN_LEVELS = 41;
/** Within intervals shorter than 16 ms the walk is linear. */
const FINEST_MS = 16;
/** Digits of a synthetic price: more than any venue quotes, few enough to be the same on every machine. */
const DIGITS = 12;

/**
 * A geometric random walk without drift and with random access: the interval is halved repeatedly (Lévy's construction),
 * and each midpoint has its own random number. Reading a price takes about 40 small steps at any time, and the order of
 * reads does not matter.
 */
export function randomWalk({ seed, startsAt, startPrice, volatilityPerRootDay }: WalkOptions): PriceSource {
  const path = brownian(hash32(`walk\n${seed}`));
  const start = approximate(startPrice);
  const variancePerMs = volatilityPerRootDay ** 2 / DAY_MS;
  // One request reads the price of the same time repeatedly.
  let last: { readonly elapsedMs: number; readonly mid: Price } | undefined;
  return {
    midAt(market) {
      const elapsedMs = Math.min(Math.max(0, market - startsAt), 2 ** SPAN_LEVELS);
      if (elapsedMs === 0 || variancePerMs === 0) return startPrice;
      if (last?.elapsedMs === elapsedMs) return last.mid;
      const logarithm = Math.sqrt(variancePerMs) * path(elapsedMs) - (variancePerMs * elapsedMs) / 2;
      // The one place where a float becomes a price. The price is generated here, so no digits can be lost.
      last = { elapsedMs, mid: price((start * Math.exp(logarithm)).toPrecision(DIGITS)) };
      return last.mid;
    },
  };
}

/**
 * Standard Brownian motion after a number of ms (variance 1 per ms): the interval is halved until it encloses the point.
 * Consecutive reads mostly fall into the same final interval, which is cached.
 */
function brownian(key: number): (elapsedMs: number) => number {
  let piece = { from: 0, spanMs: 0, left: 0, right: 0 };
  return (elapsedMs) => {
    if (!(elapsedMs >= piece.from && elapsedMs < piece.from + piece.spanMs)) piece = pieceAt(key, elapsedMs);
    const { from, spanMs, left, right } = piece;
    return left + ((right - left) * (elapsedMs - from)) / spanMs;
  };
}

/** The linear interval that encloses `elapsedMs`, with the values at its ends. */
function pieceAt(
  key: number,
  elapsedMs: number,
): { from: number; spanMs: number; left: number; right: number } {
  let spanMs = 2 ** SPAN_LEVELS;
  let from = 0;
  let left = 0;
  let right = Math.sqrt(spanMs) * normalAt(key, 0, 0);
  let index = 0;
  for (let level = 1; spanMs > FINEST_MS; level++) {
    const middle = (left + right) / 2 + (Math.sqrt(spanMs) / 2) * normalAt(key, level, index);
    spanMs /= 2;
    index *= 2;
    if (elapsedMs < from + spanMs) right = middle;
    else {
      left = middle;
      from += spanMs;
      index += 1;
    }
  }
  return { from, spanMs, left, right };
}
