/** A band around the target weight of one asset; the rest of the portfolio counts as cash. Plain numbers, for planning only. */
export interface Band {
  /** Target weight, above 0 and below 1. */
  readonly weight: number;
  /** Half-width of the band, a difference of weights: 0.05 is 5 percentage points. */
  readonly halfWidth: number;
  /** Standard deviation of the logarithm of the price over a year of 365 days: 0.6 is 60 %. */
  readonly volatility: number;
  readonly rebalanceTo: 'target' | 'band_edge';
  /** Smallest trade, as a fraction of the portfolio's value. Default: 0. */
  readonly minimum?: number | undefined;
  /** Time between two checks in years of 365 days. Default: 0, which means always; `band_edge` then needs a minimum. */
  readonly checkedEvery?: number | undefined;
}

/**
 * Returns the expected orders a year, for prices whose logarithm has no trend. Infinite for a `band_edge` without pauses and minimum.
 *
 * The log-odds of the weight, ln(w/(1 − w)), are then a Brownian motion. A trade puts them `U0` above the target or `L0` below it (0, or
 * the edges), and the next one follows at `U` or `L`. The expected times between, A·B/σ² (Karatzas and Shreve 1991, 5.5), over both
 * starts, give `σ²·(1/(U − U0) + 1/(L − L0))/(U + U0 + L + L0)`. A check finds the weight past the level by 0.5826 standard deviations
 * of an interval, and by 0.7071 if the level is where it started (Siegmund 1979, "Corrected diffusion approximations").
 */
export function ordersAYear({ weight, halfWidth, volatility, rebalanceTo, minimum = 0, checkedEvery = 0 }: Band): number {
  const step = volatility * Math.sqrt(checkedEvery);
  const logOdds = (moved: number): number => (moved <= 0 || moved >= 1 ? Number.POSITIVE_INFINITY : Math.log(moved / (1 - moved)));
  const distance = (by: number): number => Math.abs(logOdds(weight + by) - logOdds(weight));
  const isEdge = rebalanceTo === 'band_edge';
  const reach = isEdge ? halfWidth + minimum : Math.max(halfWidth, minimum);
  const starts = [1, -1].map((sign) => (isEdge ? distance(sign * halfWidth) : 0));
  const ways = [1, -1].map((sign, i) => Math.max(distance(sign * reach) - (starts[i] ?? 0) + 0.5826 * step, Math.SQRT1_2 * step));
  const sum = [...starts, ...starts, ...ways].reduce((all, one) => all + one, 0);
  return (volatility ** 2 * ways.reduce((all, way) => all + 1 / way, 0)) / sum;
} // prettier-ignore
