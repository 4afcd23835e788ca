import type { Price } from './money.ts';
import { DAY_MS, MINUTE_MS, instant, parseDuration } from './time.ts';
import type { Instant } from './time.ts';

/** Prices of one finished interval, quote per base. */
export interface Bar {
  /** Start of the interval: a multiple of its length since 1970-01-01T00:00Z. */
  readonly from: Instant;
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  readonly close: Price;
}

/** Bars that a strategy requests. */
export interface BarWish {
  readonly pair: string;
  /** ISO 8601, such as `PT1H`: at least a minute, and must divide a day. */
  readonly interval: string;
  /** Number of newest bars. */
  readonly count: number;
}

/** Maximum number of bars of one strategy, because they are passed to each step. */
export const BARS_MAX = 1_000;

/** Length of a bar interval, ms. @throws RangeError with a message for its author. */
export function barMs(interval: string): number {
  const ms = parseDuration(interval);
  if (ms >= MINUTE_MS && ms <= DAY_MS && DAY_MS % ms === 0) return ms;
  throw new RangeError(
    `bars of ${interval}: expected a duration of PT1M to P1D that divides a day, such as PT15M`,
  );
}

/** The end of the last interval that is over at `at`. */
export const lastEnd = (at: number, intervalMs: number): Instant =>
  instant(Math.floor(at / intervalMs) * intervalMs);
