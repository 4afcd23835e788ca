import type { Price } from './money.ts';
import { DAY_MS, MINUTE_MS, instant, parseDuration } from './time.ts';
import type { Instant } from './time.ts';

/** What prices did in one interval that has ended. Prices are quote per base. */
export interface Bar {
  /** Begin of the interval: a multiple of its length since 1970-01-01T00:00Z. */
  readonly from: Instant;
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  readonly close: Price;
}

/** Bars that a strategy looks at. */
export interface BarWish {
  readonly pair: string;
  /** ISO 8601, such as `PT1H`: it divides a day, and is at least a minute. */
  readonly interval: string;
  /** How many of the newest. */
  readonly count: number;
}

/** Bars of one strategy in all: they are handed over at each step. */
export const BARS_MAX = 1_000;

/** Length of an interval of bars, ms. @throws RangeError in words for whoever wrote it. */
export function barMs(interval: string): number {
  const ms = parseDuration(interval);
  if (ms >= MINUTE_MS && ms <= DAY_MS && DAY_MS % ms === 0) return ms;
  throw new RangeError(
    `bars of ${interval}: expected a duration of PT1M to P1D that divides a day, such as PT15M`,
  );
}

/** The end of the last interval that has ended by `at`. */
export const lastEnd = (at: number, intervalMs: number): Instant =>
  instant(Math.floor(at / intervalMs) * intervalMs);
