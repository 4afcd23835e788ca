import { z } from 'zod';
import { add, quantity, roundDown, subtract, text } from '../../../core/money.ts';
import type { MissedSlice } from '../../../core/record.ts';
import { parseDuration } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import type { SliceOutcome, Wait } from '../../../core/wake.ts';
import { durationText, whole } from '../../fields.ts';
import type { View } from '../../kernel.ts';
import { dueSize, dueSlice, missedSlots, slotOf, unfitPlan } from '../../worker/slicing.ts';
import type { SlicePlan } from '../../worker/slicing.ts';
import { minimumIn } from '../../worker/total.ts';
import { ended, turnUnderWay } from './rebalance-legs.ts';
import type { Due, Leg, Spread, TurnSizing } from './rebalance-legs.ts';

/** Largest number of orders that the controls allow for a parent without a plan of its own. */
const SLICES_MAX = 50;

/** How the trades of a rebalancing are spread over time. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const legsField = () =>
  z
    .strictObject({
      slices: whole
        .min(2)
        .max(SLICES_MAX)
        .describe('Slices of each trade; fewer if a slice would be below the minimum'),
      duration: durationText.describe('Time over which each trade is spread, ISO 8601'),
    })
    .optional()
    .describe(
      'Spreads each trade over time in slices, as twap does; before each slice, the trade is cut again to the remaining drift. Default: each trade is one slice',
    );
export type Legs = NonNullable<z.output<ReturnType<typeof legsField>>>;

/** How the slices of a trade are planned. */
interface Rule {
  readonly legs: Legs;
  /** Decimals of a slice. */
  readonly precision: number;
}

const planOf = (
  { due, from, slices }: Pick<Spread, 'due' | 'from' | 'slices'>,
  { legs, precision }: Rule,
): SlicePlan => ({
  total: quantity(due),
  slices,
  startMs: from,
  durationMs: parseDuration(legs.duration),
  precision,
});

/**
 * Returns the trade, split into slices from `from` on: as many as the document states, or fewer if a slice would be
 * below the minimum.
 */
export function spreadLeg(
  { due, ...leg }: Due,
  from: Instant,
  { legs, view }: { readonly legs: Legs; readonly view: View },
): Leg {
  const { minimum, basePrecision: precision, base: currency } = view.instrument(leg.pair);
  const mid = view.reference(leg.pair)?.mid;
  const rule = { currency, minimum: minimumIn({ by: 'quantity' }, minimum, mid && text(mid)) };
  const all = { due: text(due), from };
  let { slices } = legs;
  while (slices > 1 && unfitPlan(planOf({ ...all, slices }, { legs, precision }), rule) !== undefined)
    slices--;
  return { ...leg, spread: { ...all, slices, next: 0, isOpen: false, filled: '0' } };
}

/** A slice of a trade that is due now. */
export type SliceDue = Due & { readonly slice: number; readonly deadline: Instant };

export const isSpreading = (leg: Leg): leg is Leg & { spread: Spread } =>
  leg.spread !== undefined && !leg.ended;

/** The actions of the spread trades of a turn at one instant. */
interface Work {
  readonly legs: readonly Leg[];
  readonly starting: readonly SliceDue[];
  /** For each trade, the end of its current slice, otherwise its next slot. Empty once all trades have ended. */
  readonly waits: readonly Wait[];
  readonly missed: readonly MissedSlice[];
}

/** Starts the slices of the current turn whose slots have come; a trade that `restrict` cuts to nothing ends. */
export function workLegs(
  all: readonly Leg[],
  at: Instant,
  { legs, precisionOf, restrict }: TurnSizing & { readonly legs: Legs },
): Work {
  const underWay = turnUnderWay(all);
  const missed: MissedSlice[] = [];
  const wanted: SliceDue[] = [];
  const advanced = all.map((leg) => {
    if (!isSpreading(leg) || leg.turn !== underWay) return leg;
    const found = advance(leg, leg.spread, { at, rule: { legs, precision: precisionOf(leg.pair) } });
    missed.push(...(found.missed ?? []));
    if (found.starts !== undefined) wanted.push({ ...found.leg, ...found.starts });
    return found.leg;
  });
  const dues = new Map(restrict(wanted).map((one) => [one.leg, roundDown(one.due, precisionOf(one.pair))]));
  const starting = wanted.flatMap((one): readonly SliceDue[] => {
    const due = dues.get(one.leg);
    return due?.gt(0) === true ? [{ ...one, due }] : [];
  });
  // The currency has reached its target, so nothing is left to trade.
  const none = new Set(wanted.map((one) => one.leg)).difference(new Set(starting.map((one) => one.leg)));
  const now = advanced.map((leg) =>
    none.has(leg.leg) ? ended(leg, quantity(leg.spread?.filled ?? '0')) : leg,
  );
  const waits = now.flatMap((leg): readonly Wait[] => {
    if (!isSpreading(leg) || leg.turn !== underWay) return [];
    const { spread } = leg;
    return spread.isOpen
      ? [{ on: 'outcome', leg: leg.leg, slice: spread.next - 1 }]
      : [{ on: 'at', at: slotOf(planOf(spread, { legs, precision: precisionOf(leg.pair) }), spread.next) }];
  });
  return { legs: now, starting, waits, missed };
}

interface Advance {
  readonly leg: Leg;
  readonly starts?: Pick<SliceDue, 'slice' | 'due' | 'deadline'>;
  readonly missed?: readonly MissedSlice[];
}

function advance(
  leg: Leg,
  spread: Spread,
  { at, rule }: { readonly at: Instant; readonly rule: Rule },
): Advance {
  const plan = planOf(spread, rule);
  if (spread.isOpen || (spread.next < plan.slices && slotOf(plan, spread.next) > at)) return { leg };
  const turn = dueSlice(plan, spread.next, at);
  const missed = missedSlots(plan, leg.leg, { first: spread.next, end: turn });
  const filled = quantity(spread.filled);
  if (turn >= plan.slices) return { leg: ended(leg, filled), missed };
  const due = dueSize(plan, turn, subtract(plan.total, filled), true);
  return {
    leg: { ...leg, spread: { ...spread, next: turn + 1, isOpen: true } },
    starts: { slice: turn, due, deadline: slotOf(plan, turn + 1) },
    missed,
  };
}

/** Books the outcome of a slice, which may be a late trade of an earlier one. */
export function settleSlice(leg: Leg, spread: Spread, { slice, filled, reason }: SliceOutcome): Leg {
  const isOpen = spread.isOpen && slice !== spread.next - 1;
  const all = add(quantity(spread.filled), filled);
  const now: Leg = { ...leg, spread: { ...spread, isOpen, filled: text(all) } };
  const isOver = !isOpen && (spread.next >= spread.slices || all.gte(quantity(spread.due)));
  return isOver ? ended(now, all, reason) : now;
}
