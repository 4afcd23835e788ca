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
import type { Quantity, Ratio } from '../../core/money.ts';
import type { MissedSlice } from '../../core/record.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { uniform } from '../../core/uniform.ts';
import type { Slot } from '../kernel.ts';

export interface Jitter {
  /** Largest shift of a slot within its own interval, percent of the interval. */
  readonly timePct: number;
  /** Largest change of a size, percent. */
  readonly sizePct: number;
  readonly seed: number;
}

/** Share of the total that is planned before slice `k`: 0 before the first, 1 after the last, never decreasing. */
export type Curve = (k: number) => Ratio;

/** How a total is split into `n` slices at `start + k·(duration/n)`. These numbers determine every slice. */
export interface SlicePlan {
  readonly total: Quantity;
  /** Number of slices. */
  readonly slices: number;
  /** Unix ms. */
  readonly startMs: number;
  readonly durationMs: number;
  /** Decimals of a slice. */
  readonly precision: number;
  /** How the total is spread over the slices; equally if omitted. */
  readonly curve?: Curve | undefined;
  readonly jitter?: Jitter | undefined;
}

/**
 * Returns the planned instant of slice `k`, Unix ms. Jitter moves the slot later within its own interval, so the order
 * and the window are kept.
 */
export function slotMs(plan: SlicePlan, k: number): number {
  const gap = plan.durationMs / plan.slices;
  const jitter =
    plan.jitter === undefined ? 0 : (plan.jitter.timePct / 100) * gap * uniform(plan.jitter.seed, 2 * k);
  return Math.floor(plan.startMs + k * gap + jitter);
}

/**
 * Returns the planned size of slice `k`. The last slice takes the rounding remainder. Jitter moves size between
 * neighbours, so the sum is unchanged.
 */
export function plannedSize(plan: SlicePlan, k: number): Quantity {
  const base = steadySize(plan, k);
  const partner = k % 2 === 0 ? k + 1 : k - 1;
  if (plan.jitter === undefined || partner >= plan.slices) return base;
  const moved = movedSize(plan, Math.min(k, partner));
  return k % 2 === 0 ? add(base, moved) : subtract(base, moved);
}

/** Returns the smallest size that any slice of the plan may have, for any jitter. */
export function smallestSize(plan: SlicePlan): Quantity {
  // Without a curve, no slice is smaller than the first.
  const counted = plan.curve === undefined ? 1 : plan.slices;
  const each = Array.from({ length: counted }, (_, k) => steadySize(plan, k)).reduce((a, b) => least(a, b));
  if (plan.jitter === undefined) return each;
  return subtract(each, roundDown(scale(each, ratioOf(plan.jitter.sizePct / 100)), plan.precision));
}

/** The unit of a plan, and the venue's minimum in it. */
export interface SizeRule {
  /** Currency of the sizes. */
  readonly currency: string;
  readonly minimum?: Quantity | undefined;
  /** Name of the total, for people. */
  readonly what?: string | undefined;
}

/**
 * Returns why a plan cannot be traded with the decimals and the minimum of its currency; `undefined` if it can. The
 * desk checks this when a parent begins; `validate` checks it before that. If slices rounded to zero, the last slice
 * would take the whole total.
 */
export function unfitPlan(
  plan: SlicePlan,
  { currency, minimum, what = 'the total' }: SizeRule,
): string | undefined {
  const { total, slices, precision } = plan;
  if (decimalsOf(total) > precision) return `${what} has more decimals than ${currency} has (${precision})`;
  const each = smallestSize(plan);
  if (each.gt(0) && (minimum === undefined || each.gte(minimum))) return undefined;
  const bound = minimum === undefined ? '' : `, below the venue's minimum of ${text(minimum)} ${currency}`;
  const whole = `${text(total)} ${currency}`;
  return slices === 1
    ? `${whole}${bound}`
    : `${whole} in ${slices} slices: the smallest is ${text(each)} ${currency}${bound}`;
}

/** Returns the planned instant of slice `k`; for the slice after the last, the end of the window. */
export const slotOf = (plan: SlicePlan, k: number): Instant =>
  instant(k >= plan.slices ? plan.startMs + plan.durationMs : slotMs(plan, k));

/** Returns the planned slots, for people and for the controls. */
export const slotsOf = (plan: SlicePlan, currency: string): readonly Slot[] =>
  Array.from({ length: plan.slices }, (_, slice) => ({
    slice,
    at: slotOf(plan, slice),
    size: text(plannedSize(plan, slice)),
    currency,
  }));

/** Returns the slice from `next` on whose slot is the newest that has come; the number of slices if the window is over. */
export function dueSlice(plan: SlicePlan, next: number, at: Instant): number {
  let turn = next;
  while (turn < plan.slices && slotOf(plan, turn + 1) <= at) turn++;
  return turn;
}

/** Returns the slots from `first` up to `end` as missed. */
export const missedSlots = (
  plan: SlicePlan,
  leg: string,
  { first, end }: { readonly first: number; readonly end: number },
): readonly MissedSlice[] =>
  Array.from({ length: end - first }, (_, i) => {
    const slice = first + i;
    return { leg, slice, due: slotOf(plan, slice), size: text(plannedSize(plan, slice)) };
  });

/** Returns Σ of the planned sizes of the slices before `k`. */
export function plannedBefore(plan: SlicePlan, k: number): Quantity {
  const steady = steadyBefore(plan, k);
  if (k >= plan.slices || k % 2 === 0 || plan.jitter === undefined) return steady;
  return add(steady, movedSize(plan, k - 1));
}

/** Returns the size of slice `k` without jitter. */
function steadySize(plan: SlicePlan, k: number): Quantity {
  if (k === 0 && plan.slices === 1) return plan.total;
  if (plan.curve === undefined && k < plan.slices - 1) return share(plan.total, plan.slices, plan.precision);
  return subtract(steadyBefore(plan, k + 1), steadyBefore(plan, k));
}

/**
 * Returns Σ of the sizes before slice `k`, without jitter. Along a curve, this sum is rounded instead of the individual
 * slices, so that no slice is further than one unit from its share and no remainder accumulates in the last slice.
 */
function steadyBefore(plan: SlicePlan, k: number): Quantity {
  const { total, slices, precision, curve } = plan;
  if (k >= slices) return total;
  if (curve === undefined) return scale(k === 0 ? total : share(total, slices, precision), ratioOf(k));
  return roundEven(scale(total, curve(k)), precision);
}

/** Returns what the even slice `k` takes from the odd slice after it, rounded towards zero, so that both stay within the jitter. */
function movedSize(plan: SlicePlan, k: number): Quantity {
  const { sizePct, seed } = plan.jitter ?? { sizePct: 0, seed: 0 };
  const smaller = least(steadySize(plan, k), steadySize(plan, k + 1));
  return roundDown(
    scale(smaller, ratioOf((sizePct / 100) * (2 * uniform(seed, 2 * k + 1) - 1))),
    plan.precision,
  );
}

/**
 * Returns the size of slice `k` when `left` is not yet traded: its plan, plus its part of the missed size if `spread` is set, at
 * most 1.5 times its plan.
 */
export function dueSize(plan: SlicePlan, k: number, left: Quantity, spread: boolean): Quantity {
  const planned = plannedSize(plan, k);
  if (!spread) return least(planned, left);
  const missed = subtract(left, k === 0 ? plan.total : subtract(plan.total, plannedBefore(plan, k)));
  // The parent is ahead of its plan, because the venue filled more than was requested, so it ends earlier.
  if (!isAboveZero(missed)) return least(planned, left);
  const isLast = k === plan.slices - 1;
  const wanted = isLast ? left : add(planned, partOfMissed(plan, k, missed));
  return least(wanted, roundDown(scale(planned, ratioOf(1.5)), plan.precision), left);
}

/** Returns the part of the missed size that slice `k` takes: an equal part, or along a curve a part in proportion to its size. */
function partOfMissed(plan: SlicePlan, k: number, missed: Quantity): Quantity {
  if (plan.curve === undefined) return share(missed, plan.slices - k, plan.precision);
  const ahead = subtract(plan.total, steadyBefore(plan, k));
  if (!ahead.gt(0)) return missed;
  return roundDown(scale(missed, fraction(steadySize(plan, k), ahead)), plan.precision);
}

export const slotsPassed = (count: number): string => `${count} ${count === 1 ? 'slot' : 'slots'} passed`;
