import type { Estimate } from '../kernel.ts';

/**
 * The schedule of Almgren and Chriss ("Optimal execution of portfolio transactions", 2000) for a linear temporary
 * impact and no permanent impact. The parent's size is 1. The figures are only for planning and never become money, so
 * they are plain numbers.
 */
export interface ImpactModel {
  /** Basis points of cost accepted to remove a variance of 1 %². */
  readonly riskAversion: number;
  /** Standard deviation of the price over an hour, as a fraction of the price. */
  readonly hourlyVolatility: number;
  /** Cost of trading the whole parent at a steady pace within one hour, in basis points. */
  readonly impactBps: number;
  /** Fixed cost of every trade, independent of its size, basis points. */
  readonly halfSpreadBps: number;
}

/** `slices` trades, the first immediately, `stepHours` apart. */
export interface Steps {
  readonly slices: number;
  readonly stepHours: number;
}

const BPS = 10_000;

/** Returns the urgency per step: κτ, where cosh κτ = 1 + λσ²τ²/2η. Zero, which means equal slices, if risk costs nothing. */
export function urgency(
  { riskAversion, hourlyVolatility, impactBps }: ImpactModel,
  { stepHours }: Steps,
): number {
  const half = (riskAversion * (hourlyVolatility * stepHours) ** 2 * BPS) / (2 * impactBps);
  // The inverse of cosh, accurate for small urgencies.
  return Math.log1p(half + Math.sqrt(half * (half + 2)));
}

/**
 * Returns the part of the parent that is left after `k` of `slices` trades: sinh((n − k)κτ) / sinh(nκτ), computed
 * without overflow.
 */
export function leftAfter(k: number, slices: number, urgencyPerStep: number): number {
  if (k <= 0) return 1;
  if (k >= slices) return 0;
  if (urgencyPerStep === 0) return 1 - k / slices;
  const shrunk = Math.expm1(-2 * (slices - k) * urgencyPerStep) / Math.expm1(-2 * slices * urgencyPerStep);
  return Math.exp(-k * urgencyPerStep) * shrunk;
}

/** Estimates the cost of any schedule under the model: `parts` of the parent, one per step, that sum to 1. */
export function estimate(model: ImpactModel, { stepHours }: Steps, parts: readonly number[]): Estimate {
  let left = 1;
  let squares = 0;
  let held = 0;
  for (const part of parts) {
    left -= part;
    squares += part ** 2;
    // The remainder is exposed to the market until the next slot.
    held += left ** 2;
  }
  return {
    costBps: model.halfSpreadBps + (model.impactBps * squares) / stepHours,
    riskBps: BPS * model.hourlyVolatility * Math.sqrt(stepHours * held),
  };
}
