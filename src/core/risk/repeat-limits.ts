import type { Limits, Proposal, RiskContext } from './limits.ts';
import { add, ratio, scale } from '../money.ts';
import { stop } from './refusal.ts';
import type { Refusal } from './refusal.ts';
import { isoOf } from '../time.ts';
/** Largest number of executions of a parent without a plan. */
const UNPLANNED_MAX = 50;
/** Largest size of a slice, as a multiple of its plan. */
const SLICE_SHARE = ratio('1.5');

export function duplicateRefusal({ repeats }: RiskContext): Refusal | undefined {
  if (repeats.isReused)
    return { ...stop('duplicate_order', 'one order a client id', 'used before'), isFinal: true };
  return repeats.duplicate === undefined
    ? undefined
    : stop('duplicate_order', 'none alike', repeats.duplicate);
}

export function repeatRefusal(
  { pair }: Proposal,
  { repeats, at }: RiskContext,
  limits: Limits,
): Refusal | undefined {
  const { gapUntil, inMinute, ofParent, planned } = repeats;
  if (gapUntil !== undefined && at < gapUntil)
    return stop('slice_gap', `one order until ${isoOf(gapUntil)}`, isoOf(at));
  const { minuteExecutionsMax } = limits;
  if (minuteExecutionsMax !== undefined && inMinute + 1 > minuteExecutionsMax)
    return stop('repeated_execution', `${minuteExecutionsMax} a minute of ${pair}`, String(inMinute + 1));
  const parentMax = limits.parentExecutionsMax ?? planned ?? UNPLANNED_MAX;
  return ofParent + 1 > parentMax
    ? stop('repeated_execution', `${parentMax} of the parent`, String(ofParent + 1))
    : undefined;
}

export function capRefusal({ caps }: RiskContext): Refusal | undefined {
  const { asked, parentDone, parentMax, slice, slicePlanned } = caps;
  const whole = add(parentDone, asked);
  if (parentMax !== undefined && !whole.lte(parentMax))
    return stop('parent_cap', `${parentMax.toFixed()} of the parent`, whole.toFixed());
  const sliceMax = slicePlanned && scale(slicePlanned, SLICE_SHARE);
  if (sliceMax !== undefined && !slice.lte(sliceMax))
    return stop('parent_cap', `${sliceMax.toFixed()} of the slice`, slice.toFixed());
  return asked.lte(slice)
    ? undefined
    : stop('parent_cap', `${slice.toFixed()} left of the slice`, asked.toFixed());
}
