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

/** Mean of the first positive value of a random walk with standard normal steps, and how far it passes a distant level on average. */
const [FIRST_HEIGHT, OVERSHOOT] = [Math.SQRT1_2, 0.582_6];

/**
 * Returns the expected number of orders a year of a portfolio whose price has no trend in its logarithm, without costs. Infinite for a
 * `band_edge` that is always checked and has no minimum.
 *
 * The logarithm of the odds of the weight, ln(w/(1 − w)), is then a Brownian motion. A trade puts it at `U0` above the target or `L0`
 * below it (0 for `target`, the edges for `band_edge`), and the next one follows at a distance of `U` or `L`. The expected time between
 * two exits of an interval, A·B/σ² (Karatzas and Shreve, "Brownian Motion and Stochastic Calculus", 1991, 5.5), over the two places
 * where it can start, gives `σ²·(1/(U − U0) + 1/(L − L0))/(U + U0 + L + L0)` orders a year. Checks at intervals find the weight past the
 * level, by 0.5826 standard deviations of an interval (Siegmund 1979, "Corrected diffusion approximations").
 */
export function ordersAYear({ weight, halfWidth, volatility, rebalanceTo, minimum = 0, checkedEvery = 0 }: Band): number {
  const isEdge = rebalanceTo === 'band_edge';
  const reach = isEdge ? halfWidth + minimum : Math.max(halfWidth, minimum);
  const step = volatility * Math.sqrt(checkedEvery);
  const side = (sign: 1 | -1) => {
    const start = isEdge ? distance(weight, sign * halfWidth) : 0;
    const further = distance(weight, sign * reach) - start;
    return { start, further: Math.max(further + OVERSHOOT * step, FIRST_HEIGHT * step) };
  };
  const [upper, lower] = [side(1), side(-1)];
  const sum = upper.further + lower.further + 2 * (upper.start + lower.start);
  return (volatility ** 2 * (1 / upper.further + 1 / lower.further)) / sum;
} // prettier-ignore

/** Distance of the log-odds of two weights; infinite if the second is no weight, because prices never take the portfolio there. */
function distance(weight: number, by: number): number {
  const moved = weight + by;
  return moved <= 0 || moved >= 1 ? Number.POSITIVE_INFINITY : Math.abs(logOdds(moved) - logOdds(weight));
}

const logOdds = (weight: number): number => Math.log(weight / (1 - weight));
