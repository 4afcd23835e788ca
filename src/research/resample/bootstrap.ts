import { OperatorError } from '../../core/errors.ts';

/** Distribution of a figure over resamples. Only for people; never used as money. */
export interface Summary {
  /** Number of resamples that have the figure. */
  readonly count: number;
  readonly mean: number;
  readonly median: number;
  /** Standard deviation over the resamples (n − 1): the bootstrap's estimate of the standard error. */
  readonly standardError: number;
  readonly p5: number;
  readonly p25: number;
  readonly p75: number;
  readonly p95: number;
  /** Percentile interval of the requested level. */
  readonly low: number;
  readonly high: number;
}

/**
 * Summarises a figure; `undefined` for fewer than two values.
 *
 * @param values one per resample that has the figure. @param level share of values within the interval.
 */
export function summaryOf(values: readonly number[], level: number): Summary | undefined {
  const count = values.length;
  if (count < 2) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const mean = sorted.reduce((sum, value) => sum + value / count, 0);
  const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const [p5, p95] = bounds(sorted, 0.05);
  const [p25, p75] = bounds(sorted, 0.25);
  const [low, high] = bounds(sorted, (1 - level) / 2);
  const [below, above] = bounds(sorted, 0.5);
  const median = (below + above) / 2;
  return { count, mean, median, standardError: Math.sqrt(squares / (count - 1)), p5, p25, p75, p95, low, high };
} // prettier-ignore

/** Returns the `⌈p·n⌉`-th smallest and largest value, so that equal numbers of resamples are outside on each side. */
function bounds(sorted: readonly number[], p: number): readonly [low: number, high: number] {
  // A product such as 0.05 · 200 may be slightly above its exact whole number.
  const rank = Math.min(Math.ceil(sorted.length / 2), Math.max(1, Math.ceil(p * sorted.length - 1e-9)));
  return [sorted[rank - 1] ?? Number.NaN, sorted[sorted.length - rank] ?? Number.NaN];
}

/** Returns the share of values below `value`; an equal value counts half. */
export const rankOf = (values: readonly number[], value: number): number =>
  values.reduce((sum, one) => sum + (one < value ? 1 : one === value ? 0.5 : 0), 0) / values.length;

export const RESAMPLES = { least: 20, usual: 200, most: 10_000 } as const;

/** Returns the minimum number of resamples for an interval of this level, and for the interval of 5 % to 95 %. */
export const leastFor = (level: number): number =>
  Math.max(RESAMPLES.least, Math.ceil(2 / (1 - level) - 1e-9));

/** Checks that there are enough resamples for an interval. @throws OperatorError `usage`. */
export function checkLevel(level: number, resamples: number): void {
  const needed = leastFor(level);
  if (resamples < needed)
    throw new OperatorError(
      'usage',
      `--level: an interval of ${Number((level * 100).toFixed(3))} % needs at least ${needed} resamples, not ${resamples}`,
    );
}
