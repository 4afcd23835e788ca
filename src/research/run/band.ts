import { add, approximate, ONE, ratio, scale, size, subtract } from '../../core/money.ts';
import type { Ratio } from '../../core/money.ts';
import type { DriftType } from '../../core/wake.ts';

/**
 * A drift band in doubles: the weight of each asset, and of cash, between two bounds. It judges prices and ranges of
 * prices, and is never wrong, because where rounding could matter it leaves the decision to decimals.
 *
 * Proof. A weight leaves its band upwards when `w = v / S > u`, where `v` is the value of the asset, `S` that of the
 * portfolio and `u = target + width`. With `S > 0` that is `v − u·S > 0`: linear in every value, so over a box of
 * prices its extremes are at corners, for any signs of holdings. The same holds downwards with `l = target − width`. A
 * portfolio without value has no weights and never drifts, so a box without such an excess contains no drift, whatever
 * `S` is.
 *
 * Rounding. Let `ε = 2⁻⁵³`, `n` the number of assets and `G` the sum of the absolute values. The double of a price is
 * within `ε` of its decimal, and so is that of an amount; a product adds one `ε`, with a second price three in all:
 * each value is within `6ε` of the exact one. The sum of `n + 1` values errs by at most `(n + 7)·ε·G`, and subtracting
 * one again by `2ε·G`. The bound is rounded once, `1 − u` again, and there are two products and a difference: in total
 * at most `(n + 20)·ε·G·(1 + |u|)`, which is below `2⁻⁴⁴·G·(1 + |u|)` for 256 assets. `SLACK` is sixteen times that.
 * The rounding of the decimals at 80 digits is negligible.
 */
export interface Band {
  /** Upper and lower bound of each weight: assets in order, then cash. */
  readonly upper: Float64Array;
  readonly lower: Float64Array;
  /** Bound of the rounding error, as a fraction of `G`. */
  readonly slack: number;
}

const SLACK = 2 ** -40;
export const ASSETS_MAX = 256;

/** Returns the bounds of the weights with these targets; a relative threshold does not apply to a target of 0. */
export function bandOf(
  targets: readonly Ratio[],
  { driftType, threshold }: { readonly driftType: DriftType; readonly threshold: string },
): Band {
  const limit = ratio(threshold);
  const widths = targets.map((target) =>
    driftType === 'absolute' || target.isZero() ? limit : scale(limit, size(target)),
  );
  const bounds = (each: (target: Ratio, width: Ratio) => Ratio): Float64Array =>
    Float64Array.from(targets, (target, i) => approximate(each(target, widths[i] ?? ONE)));
  const upper = bounds(add);
  const lower = bounds(subtract);
  const largest = Math.max(...upper, ...lower.map(Math.abs));
  // The choice of corners assumes weights from 0 to 1. For others, the decimals decide every case.
  const isUsual = targets.every((target) => target.gte(0) && target.lte(1)) && limit.gte(0);
  return { upper, lower, slack: isUsual ? SLACK * (1 + largest) : Infinity };
}

/** Values of a portfolio's assets, each between two bounds, in the currency of its cash. The caller writes them. */
export interface Values {
  readonly low: Float64Array;
  readonly high: Float64Array;
  cash: number;
}

/** Whether a weight may leave its band somewhere between the bounds. `false` is certain. NaN gives `true`. */
export function mayLeave({ upper, lower, slack }: Band, { low, high, cash }: Values): boolean {
  const assets = low.length;
  let least = cash;
  let most = cash;
  let gross = Math.abs(cash);
  for (let i = 0; i < assets; i++) {
    const a = low[i] ?? 0;
    const z = high[i] ?? 0;
    least += a;
    most += z;
    gross += Math.max(Math.abs(a), Math.abs(z));
  }
  const error = gross * slack;
  for (let i = 0; i < assets; i++) {
    const a = low[i] ?? 0;
    const z = high[i] ?? 0;
    const u = upper[i] ?? 0;
    const l = lower[i] ?? 0;
    if (!((1 - u) * (u <= 1 ? z : a) - u * (least - a) < -error)) return true;
    if (!((1 - l) * a - l * (l >= 0 ? most - z : least - a) > error)) return true;
  }
  const u = upper[assets] ?? 0;
  const l = lower[assets] ?? 0;
  return !(cash - u * least < -error && cash - l * (l >= 0 ? most : least) > error);
}

/** Whether a weight may have left its band at known values. `false` is certain. */
export function mayLeaveAt({ upper, lower, slack }: Band, values: Float64Array, cash: number): boolean {
  const assets = values.length;
  let total = cash;
  let gross = Math.abs(cash);
  for (let i = 0; i < assets; i++) {
    const value = values[i] ?? 0;
    total += value;
    gross += Math.abs(value);
  }
  const error = gross * slack;
  for (let i = 0; i < assets; i++) {
    const value = values[i] ?? 0;
    if (!(value - (upper[i] ?? 0) * total < -error && value - (lower[i] ?? 0) * total > error)) return true;
  }
  return !(cash - (upper[assets] ?? 0) * total < -error && cash - (lower[assets] ?? 0) * total > error);
}

/** Whether a weight has left its band at known values by more than the rounding error. `true` is certain. */
export function hasLeft({ upper, lower, slack }: Band, values: Float64Array, cash: number): boolean {
  const assets = values.length;
  let total = cash;
  let gross = Math.abs(cash);
  for (let i = 0; i < assets; i++) {
    total += values[i] ?? 0;
    gross += Math.abs(values[i] ?? 0);
  }
  const error = gross * slack;
  if (!(total > error)) return false;
  for (let i = 0; i <= assets; i++) {
    const value = i === assets ? cash : (values[i] ?? 0);
    if (value - (upper[i] ?? 0) * total > error || value - (lower[i] ?? 0) * total < -error) return true;
  }
  return false;
}
