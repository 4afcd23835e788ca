import {
  add,
  decimalsOf,
  fraction,
  isAboveZero,
  least,
  ratioOf,
  roundDown,
  roundEven,
  scale,
  share,
  subtract,
  text,
} from '../../core/money.ts';
import type { Money, Quantity, Ratio } from '../../core/money.ts';
import { uniform } from '../../core/uniform.ts';

type Sliceable = Quantity | Money;

export interface Jitter {
  /** Largest move of a slot into its own interval, percent of the interval. */
  readonly timePct: number;
  /** Largest change of a size, percent. */
  readonly sizePct: number;
  readonly seed: number;
}

/** Share of the total that is planned before slice `k`: 0 before the first, 1 after the last, and never falling. */
export type Curve = (k: number) => Ratio;

/** How a total is cut: `n` slices at `start + k·(duration/n)`. Everything follows from these numbers. */
export interface SlicePlan<A extends Sliceable> {
  readonly total: A;
  /** Number of slices. */
  readonly slices: number;
  /** Unix ms. */
  readonly startMs: number;
  readonly durationMs: number;
  /** Decimals of a slice. */
  readonly precision: number;
  /** How the total is spread over the slices; equally when left out. */
  readonly curve?: Curve | undefined;
  readonly jitter?: Jitter | undefined;
}

/** Planned instant of slice `k`, Unix ms. Jitter moves it later within its own interval, so order and window hold. */
export function slotMs(plan: SlicePlan<Sliceable>, k: number): number {
  const gap = plan.durationMs / plan.slices;
  const jitter =
    plan.jitter === undefined ? 0 : (plan.jitter.timePct / 100) * gap * uniform(plan.jitter.seed, 2 * k);
  return Math.floor(plan.startMs + k * gap + jitter);
}

/** Planned size of slice `k`. The last takes what rounding left; jitter moves size between neighbours, so Σ holds. */
export function plannedSize<A extends Sliceable>(plan: SlicePlan<A>, k: number): A {
  const base = steadySize(plan, k);
  const partner = k % 2 === 0 ? k + 1 : k - 1;
  if (plan.jitter === undefined || partner >= plan.slices) return base;
  const moved = movedSize(plan, Math.min(k, partner));
  return k % 2 === 0 ? add(base, moved) : subtract(base, moved);
}

/** The smallest size that any slice of the plan may have, for any jitter. */
export function smallestSize<A extends Sliceable>(plan: SlicePlan<A>): A {
  // Where all are equal the first is as small as any.
  const counted = plan.curve === undefined ? 1 : plan.slices;
  const each = Array.from({ length: counted }, (_, k) => steadySize(plan, k)).reduce((a, b) => least(a, b));
  if (plan.jitter === undefined) return each;
  return subtract(each, roundDown(scale(each, ratioOf(plan.jitter.sizePct / 100)), plan.precision));
}

/**
 * Why a plan cannot be traded with the decimals and the minimum of its currency, in words; `undefined` when it can. The desk
 * asks when a parent begins, and `validate` before. A plan of slices that round to nothing would leave its whole total to the last.
 */
export function unfitPlan(
  plan: SlicePlan<Sliceable>,
  { unit, minimum, what = 'the total' }: SizeRule,
): string | undefined {
  const { total, slices, precision } = plan;
  if (decimalsOf(total) > precision) return `${what} has more decimals than ${unit} has (${precision})`;
  const each = smallestSize(plan);
  if (each.gt(0) && (minimum === undefined || each.gte(minimum))) return undefined;
  const bound = minimum === undefined ? '' : `, the venue's minimum is ${text(minimum)}`;
  return `${slices} slices of ${text(total)} ${unit} are as small as ${text(each)} ${unit} each${bound}`;
}

export interface SizeRule {
  /** Currency of the sizes. */
  readonly unit: string;
  /** Smallest order of the venue in it. */
  readonly minimum?: Sliceable | undefined;
  /** What is cut into slices, for people. */
  readonly what?: string | undefined;
}

/** Σ of the planned sizes of the slices before `k`. */
export function plannedBefore<A extends Sliceable>(plan: SlicePlan<A>, k: number): A {
  const steady = steadyBefore(plan, k);
  if (k >= plan.slices || k % 2 === 0 || plan.jitter === undefined) return steady;
  return add(steady, movedSize(plan, k - 1));
}

/** Size of slice `k` without jitter. */
function steadySize<A extends Sliceable>(plan: SlicePlan<A>, k: number): A {
  if (k === 0 && plan.slices === 1) return plan.total;
  if (plan.curve === undefined && k < plan.slices - 1) return share(plan.total, plan.slices, plan.precision);
  return subtract(steadyBefore(plan, k + 1), steadyBefore(plan, k));
}

/**
 * Σ of the sizes before slice `k`, without jitter. Of a curve this sum is rounded and not the single slice, so that none is
 * further than one unit from its share and no remainder heaps up in the last.
 */
function steadyBefore<A extends Sliceable>(plan: SlicePlan<A>, k: number): A {
  const { total, slices, precision, curve } = plan;
  if (k >= slices) return total;
  if (curve === undefined) return scale(k === 0 ? total : share(total, slices, precision), ratioOf(k));
  return roundEven(scale(total, curve(k)), precision);
}

/** What the even slice `k` takes from the odd one after it. Cut towards zero, so that both stay inside the bound. */
function movedSize<A extends Sliceable>(plan: SlicePlan<A>, k: number): A {
  const { sizePct, seed } = plan.jitter ?? { sizePct: 0, seed: 0 };
  const smaller = least(steadySize(plan, k), steadySize(plan, k + 1));
  return roundDown(
    scale(smaller, ratioOf((sizePct / 100) * (2 * uniform(seed, 2 * k + 1) - 1))),
    plan.precision,
  );
}

/**
 * What slice `k` should take when `left` is still to do: its plan, and its part of what earlier slices missed when
 * `spread` is on, at most half again as much as planned.
 */
export function dueSize<A extends Sliceable>(plan: SlicePlan<A>, k: number, left: A, spread: boolean): A {
  const planned = plannedSize(plan, k);
  if (!spread) return least(planned, left);
  const missed = subtract(left, k === 0 ? plan.total : subtract(plan.total, plannedBefore(plan, k)));
  // Ahead of the plan, because the venue filled more than was asked for: the parent just ends the sooner.
  if (!isAboveZero(missed)) return least(planned, left);
  const isLast = k === plan.slices - 1;
  const wanted = isLast ? left : add(planned, partOfMissed(plan, k, missed));
  return least(wanted, roundDown(scale(planned, ratioOf(1.5)), plan.precision), left);
}

/** What slice `k` takes of what was missed: as much as any later one, or along a curve in proportion to its size. */
function partOfMissed<A extends Sliceable>(plan: SlicePlan<A>, k: number, missed: A): A {
  if (plan.curve === undefined) return share(missed, plan.slices - k, plan.precision);
  const ahead = subtract(plan.total, steadyBefore(plan, k));
  if (!ahead.gt(0)) return missed;
  return roundDown(scale(missed, fraction(steadySize(plan, k), ahead)), plan.precision);
}

/** What a gap cost, in words. */
export const slotsPassed = (count: number): string => `${count} ${count === 1 ? 'slot' : 'slots'} passed`;
