/**
 * Robust, distribution-free estimators, each with a confidence interval. The numbers are rates and times, never money. Sources and
 * formulas: docs/calibrate.md.
 */

/** A value with its 95 % confidence interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Quantile of the normal distribution for two-sided intervals of 95 %. */
const Z = 1.959_963_984_540_054;

const ascending = (values: Iterable<number>): Float64Array => Float64Array.from(values).toSorted();

/** Returns the `p`-quantile, with linear interpolation (Hyndman and Fan's type 7). @param sorted not empty. */
export function quantileOf(sorted: ArrayLike<number>, p: number): number {
  const place = p * (sorted.length - 1);
  const below = Math.floor(place);
  const [a, b] = [sorted[below] ?? Number.NaN, sorted[Math.min(below + 1, sorted.length - 1)] ?? Number.NaN];
  return a + (b - a) * (place - below);
}

export const quantile = (values: Iterable<number>, p: number): number => quantileOf(ascending(values), p);

/**
 * Returns the median, with the order statistics of the sign test as interval: those at `1/2 ∓ z/(2·√n)` of the values.
 * `n` may be smaller than the count if values depend on one another. @param values not empty.
 */
export function median(values: Iterable<number>, independent?: number): Estimate {
  const sorted = ascending(values);
  const count = sorted.length;
  const n = independent ?? count;
  const rank = Math.max(0, Math.floor(count * (0.5 - Z / (2 * Math.sqrt(n)))));
  return {
    value: quantileOf(sorted, 0.5),
    low: sorted[rank] ?? Number.NaN,
    high: sorted[count - 1 - rank] ?? Number.NaN,
  };
}

/** Returns the weighted median. @param rows not empty, weights above zero. */
export function weightedMedian(rows: readonly { readonly value: number; readonly weight: number }[]): number {
  const sorted = rows.toSorted((a, b) => a.value - b.value);
  const half = sorted.reduce((sum, { weight }) => sum + weight, 0) / 2;
  let sum = 0;
  for (const { value, weight } of sorted) {
    sum += weight;
    if (sum >= half) return value;
  }
  return sorted.at(-1)?.value ?? Number.NaN;
}

/** Returns a proportion with Wilson's score interval. `n` may be smaller than the count `of` if observations are dependent. */
export function shareOf(yes: number, of: number, n = of): Estimate {
  const p = yes / of;
  const middle = (p + (Z * Z) / (2 * n)) / (1 + (Z * Z) / n);
  const half = (Z / (1 + (Z * Z) / n)) * Math.sqrt((p * (1 - p)) / n + (Z * Z) / (4 * n * n));
  return { value: p, low: yes === 0 ? 0 : Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

export interface Line {
  readonly slope: Estimate;
  readonly level: Estimate;
}

/** Maximum number of points for slopes, because the number of pairs grows with its square. */
const POINTS_MAX = 1_500;

/**
 * Fits a line by Theil and Sen: the median of the slopes of all pairs of points, and the median of the residuals. The
 * interval of the slope is Sen's, from the variance of Kendall's S with ties. The interval of the level uses the worse
 * of both ends of the slope. `undefined` when all points have the same x.
 */
export function lineThrough(points: readonly (readonly [x: number, y: number])[]): Line | undefined {
  const used = points.length <= POINTS_MAX ? points : every(points, points.length / POINTS_MAX);
  const slopes = slopesOf(used);
  if (slopes.length === 0) return undefined;
  const counts = new Map<number, number>();
  for (const [x] of used) counts.set(x, (counts.get(x) ?? 0) + 1);
  const ties = (t: number): number => t * (t - 1) * (2 * t + 5);
  const tied = [...counts.values()].reduce((sum, t) => sum + ties(t), 0);
  const reach = Z * Math.sqrt(Math.max(0, ties(used.length) - tied) / 18);
  const rank = Math.max(0, Math.floor((slopes.length - reach) / 2));
  const slope = {
    value: quantileOf(slopes, 0.5),
    low: slopes[rank] ?? Number.NaN,
    high: slopes[slopes.length - 1 - rank] ?? Number.NaN,
  };
  const left = (by: number): Estimate => median(points.map(([x, y]) => y - by * x));
  return {
    slope,
    level: { value: left(slope.value).value, low: left(slope.high).low, high: left(slope.low).high },
  };
}

function slopesOf(points: readonly (readonly [x: number, y: number])[]): Float64Array {
  const all = new Float64Array((points.length * (points.length - 1)) / 2);
  let count = 0;
  for (const [i, [x, y]] of points.entries())
    for (let j = 0; j < i; j++) {
      const [u, v] = points[j] ?? [x, y];
      if (u !== x) all[count++] = (y - v) / (x - u);
    }
  return all.subarray(0, count).toSorted();
}

const every = <Item>(items: readonly Item[], step: number): readonly Item[] =>
  Array.from({ length: Math.floor(items.length / step) }, (_, i) => items[Math.floor(i * step)]).flatMap((item) => item === undefined ? [] : [item]); // prettier-ignore
