import { z } from 'zod';
import type { Precisions } from '../../core/instrument.ts';
import { quantity, share, subtract, text } from '../../core/money.ts';
import { instant, MINUTE_MS, parseDuration } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Wake } from '../../core/wake.ts';
import { checkSize, oneOf, TOTAL } from '../checks.ts';
import { amountOf, durationText, pairSymbol, sideField, timeText, whole } from '../fields.ts';
import { defineStrategy } from '../kernel.ts';
import type { AnyStrategy, CheckWorld, Forecast, LadderWish, Problem, Step } from '../kernel.ts';
import { checkSlices } from '../worker/check-slices.ts';
import {
  dueSize,
  dueSlice,
  missedSlots,
  slotOf,
  slotsOf,
  slotsPassed,
  unfitPlan,
} from '../worker/slicing.ts';
import type { Curve, SlicePlan } from '../worker/slicing.ts';
import { checkTactics, jitterField, ladderFields, tacticFields } from '../worker/tactic-fields.ts';
import {
  ended,
  intentOf,
  minimumIn,
  precisionIn,
  progressOf,
  sizeOf,
  started,
  totalOf,
  tradedOf,
  undone,
} from '../worker/total.ts';
import type { Total } from '../worker/total.ts';
import { checkWindow, lengthMsOf, startOf } from '../worker/window.ts';

const SLICES_MAX = 100_000;
/** The fields of all kinds that trade a total in slices over a window. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const slicedFields = () => ({
  pair: pairSymbol.describe('Pair to trade, such as btcusd'),
  side: sideField,
  total_quantity: amountOf('Size of the parent in base currency; give this or total_notional').optional(),
  total_notional: amountOf('Size of the parent in quote currency; give this or total_quantity').optional(),
  start_time: timeText
    .optional()
    .describe('First slot, with its zone; default: when the strategy first runs'),
  end_time: timeText.optional().describe('End of the window, with its zone; give this or duration'),
  duration: durationText.optional().describe('Length of the window, ISO 8601; give this or end_time'),
  interval: durationText
    .optional()
    .describe('Time between slots, ISO 8601; must divide the window; give this or slices'),
  slices: whole.min(1).max(SLICES_MAX).optional().describe('Number of slices; give this or interval'),
  ...tacticFields(),
  ...ladderFields(),
  jitter: jitterField({
    time: 'Largest shift of a slot within its interval, and largest increase of the wait between two quotes, percent',
    size: 'Largest change in the size of a slice, percent; the total does not change',
    seed: 'The same seed gives the same schedule',
    all: 'Randomizes slots and sizes so that others cannot infer the schedule',
  }),
  catch_up: z
    .enum(['pace', 'extend', 'skip', 'abort'], { error: 'expected pace, extend, skip or abort' })
    .default('pace')
    .describe(
      'Handling of missed quantity. pace: later slices make it up, each at most 1.5 times its planned size. extend: as pace, and the window is extended by the length of the outage, at most by 25 %. skip: it is not traded. abort: the parent stops after a gap longer than a minute',
    ),
});
type Sliced = z.output<z.ZodObject<ReturnType<typeof slicedFields>>>;

const sumOf = (plan: Sliced): Total => totalOf(plan.total_quantity, plan.total_notional);

const slicesOf = (plan: Sliced, durationMs: number): number =>
  plan.slices ??
  (plan.interval === undefined ? 1 : Math.max(1, Math.round(durationMs / parseDuration(plan.interval))));

/** Longest gap that `catch_up: abort` tolerates. */
const ABORT_GAP_MS = MINUTE_MS;
/** `extend` moves the end by at most this fraction of the window. */
const EXTENSION_MAX = 0.25;

const state = z.lazy(() =>
  z.strictObject({
    /** Next slice to start. */
    next: z.int().min(0),
    /** Not yet traded, in the currency of the total. */
    left: z.string(),
    /** How far `extend` has moved the slots, ms. */
    shiftMs: z.number().min(0),
  }),
);
type State = z.output<typeof state>;

const LEG = 'all';

/** The window of a parent, and the number of its slices. */
export interface Window {
  /** Unix ms. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly slices: number;
}

/** The parts that differ between kinds of sliced parents. */
interface SlicedKind<Params extends Sliced> {
  readonly kind: string;
  /** One sentence for `--help` and the schema. */
  readonly summary: string;
  /** `slicedFields` and the fields of the kind. */
  readonly params: z.ZodType<Params>;
  /** Returns how the total is spread over the slices; equally if omitted or if it returns `undefined`. */
  curve?(plan: Params, window: Window): Curve | undefined;
  /** Whether the curve depends on the start. */
  readonly curveNeedsStart?: boolean | undefined;
  /** For people: what makes the smallest slice larger, other than fewer slices. */
  readonly smallestHint?: string | undefined;
  /** Checks across the kind's own fields; called once the shared fields for size and window are complete. */
  check?(plan: Params, world: CheckWorld): readonly Problem[];
  forecast?(plan: Params, slices: SlicePlan): Forecast | undefined;
}

/**
 * Returns a kind that trades a total in slices over a window. Slot rule: `n` slices at `start + k·(duration/n)`, `k =
 * 0…n−1`; the last slice takes the remainder, so that Σ slices = total exactly. A slice lasts until the next slot. A
 * slice never starts before the previous one has ended, so an unknown outcome pauses the parent.
 */
export function slicedStrategy<Params extends Sliced>(kind: SlicedKind<Params>): AnyStrategy {
  return defineStrategy<Params, State>({
    kind: kind.kind,
    summary: kind.summary,
    params: kind.params,
    state,
    of(plan) {
      const planOf = plannerOf(kind, plan);
      return {
        pairs: [plan.pair],
        check: (world) => check(kind, planOf, { plan, world }),
        ladder: ladderOf(plan),

        start(begunAt, view) {
          const instrument = view.instrument(plan.pair);
          const slices = planOf(begunAt, instrument);
          const first: State = { next: 0, left: text(slices.total), shiftMs: 0 };
          const total = sumOf(plan);
          const why = unfitPlan(slices, { ...total, minimum: minimumIn(total, instrument.minimum) });
          return why === undefined ? waitForSlot(first, slices) : ended(first, 'invalid_plan', why);
        },

        step(was, wake, context) {
          const slices = planOf(context.begunAt, context.view.instrument(plan.pair));
          if (wake.on === 'outcome') return takeOutcome(was, wake, plan, slices);
          return startSlice(was, wake.at, plan, slices);
        },

        progress: ({ left }) => progressOf(sumOf(plan), left),
        slots: (begunAt, known) => slotsOf(planOf(begunAt, known), sumOf(plan).currency),
        forecast: (begunAt, known) => kind.forecast?.(plan, planOf(begunAt, known)),
      };
    },
  });
}

/** Returns the sizes up to an equal slice. While the start is unknown, the window may be shorter, but has the same slices. */
function ladderOf(plan: Sliced): LadderWish | undefined {
  if (plan.size_ladder === undefined) return undefined;
  const slices = slicesOf(plan, lengthMsOf(plan, startOf(plan, UNKNOWN)));
  const { by, amount } = sumOf(plan);
  return { pair: plan.pair, side: plan.side, size: sizeOf(by, share(amount, slices, LADDER_DECIMALS)) };
}
/** The probe rounds a size down to the decimals of its currency. */
const LADDER_DECIMALS = 18;
/** Stands for the start of a document that starts with its life. */
const UNKNOWN = instant(0);

/** Plans the slices of a document. */
type Planner = (begunAt: Instant, known: Precisions | undefined) => SlicePlan;

function plannerOf<Params extends Sliced>(kind: SlicedKind<Params>, plan: Params): Planner {
  // A curve may be long, and every step needs it, so it is computed once per life.
  let made: { readonly startMs: number; readonly curve: Curve | undefined } | undefined;
  const curveOf = (window: Window): Curve | undefined => {
    if (made?.startMs !== window.startMs)
      made = { startMs: window.startMs, curve: kind.curve?.(plan, window) };
    return made.curve;
  };
  return (begunAt, known) => {
    const startMs = startOf(plan, begunAt);
    const durationMs = lengthMsOf(plan, startMs);
    const window = { startMs, durationMs, slices: slicesOf(plan, durationMs) };
    const total = sumOf(plan);
    return {
      ...window,
      total: total.amount,
      precision: precisionIn(total, known),
      curve: curveOf(window),
      jitter: plan.jitter && {
        timePct: plan.jitter.time_pct,
        sizePct: plan.jitter.size_pct,
        seed: plan.jitter.seed,
      },
    };
  };
}

/** Returns the slices at their slots, which `extend` may have moved. */
const shifted = (slices: SlicePlan, { shiftMs }: State): SlicePlan =>
  shiftMs === 0 ? slices : { ...slices, startMs: slices.startMs + shiftMs };

const waitForSlot = (was: State, slices: SlicePlan): Step<State> => ({
  state: was,
  waits: [{ on: 'at', at: slotOf(shifted(slices, was), was.next) }],
});

/** Subtracts the fill of a slice and waits for the next slot. */
function takeOutcome(
  was: State,
  { outcome }: Wake & { on: 'outcome' },
  plan: Sliced,
  slices: SlicePlan,
): Step<State> {
  const total = sumOf(plan);
  const left = subtract(quantity(was.left), tradedOf(total.by, outcome));
  const now: State = { ...was, left: text(left) };
  if (!left.gt(0)) return ended(now, 'finished');
  if (now.next >= slices.slices) return ended(now, 'window_over', undone(total, now.left));
  return waitForSlot(now, slices);
}

/** Starts the slice that is due, after `catch_up` has dealt with the slots that passed. */
function startSlice(was: State, at: Instant, plan: Sliced, planned: SlicePlan): Step<State> {
  const before = shifted(planned, was);
  const lateMs = at - slotOf(before, was.next);
  const isGap = at >= slotOf(before, was.next + 1);
  const shiftMs = plan.catch_up === 'extend' && isGap ? extension(was, lateMs, planned) : was.shiftMs;
  const now: State = { ...was, shiftMs };
  const slices = shifted(planned, now);
  const total = sumOf(plan);
  const turn = dueSlice(slices, now.next, at);
  const missed = missedSlots(slices, LEG, { first: now.next, end: turn });
  if (plan.catch_up === 'abort' && lateMs > ABORT_GAP_MS) {
    const note = `a gap of ${Math.round(lateMs / 1000)} s; ${undone(total, now.left)}`;
    return { ...ended(now, 'aborted', note), missed };
  }
  const then: State = { ...now, next: turn };
  if (turn >= slices.slices) return { ...ended(then, 'window_over', undone(total, now.left)), missed };
  const isSpread = plan.catch_up === 'pace' || plan.catch_up === 'extend';
  const amount = dueSize(slices, turn, quantity(now.left), isSpread);
  const deadline = slotOf(slices, turn + 1);
  return started(
    { ...now, next: turn + 1 },
    intentOf(plan, { leg: LEG, slice: turn, by: total.by, amount, deadline }),
    missed.length === 0 ? {} : { missed, reason: 'missed_slot', note: slotsPassed(missed.length) },
  );
}

const extension = (was: State, lateMs: number, slices: SlicePlan): number =>
  Math.min(was.shiftMs + Math.max(0, Math.floor(lateMs)), Math.floor(slices.durationMs * EXTENSION_MAX));

/** Checks across the fields of a document of a sliced kind. */
function check<Params extends Sliced>(
  kind: SlicedKind<Params>,
  planOf: Planner,
  { plan, world }: { readonly plan: Params; readonly world: CheckWorld },
): readonly Problem[] {
  const problems = [
    ...checkSize(plan, TOTAL, world),
    ...oneOf<Sliced>(plan, 'interval', 'slices'),
    ...oneOf<Sliced>(plan, 'duration', 'end_time'),
  ];
  if (problems.length > 0) return problems;
  const wrong = [...checkSlots(plan), ...checkTactics(plan, world), ...(kind.check?.(plan, world) ?? [])];
  if (wrong.length > 0) return wrong;
  const total = sumOf(plan);
  // A curve that depends on an unknown start counts as equal slices, and is checked again when the parent begins.
  const isUnknown = plan.start_time === undefined && kind.curveNeedsStart === true;
  const curved = planOf(UNKNOWN, world.precisions(plan.pair));
  const inSlices = (slices: number): SlicePlan => ({
    ...curved,
    slices,
    curve: isUnknown ? undefined : kind.curve?.(plan, { ...curved, slices }),
  });
  const planned = {
    ...total,
    minimum: minimumIn(total, world.minimum(plan.pair), plan.limit_price),
    plan: isUnknown ? inSlices(curved.slices) : curved,
    inSlices,
    field: plan.slices === undefined ? ('interval' as const) : ('slices' as const),
    hint: kind.smallestHint,
  };
  return checkSlices(plan, TOTAL, { world, planned });
}

function checkSlots(plan: Sliced): readonly Problem[] {
  const window = checkWindow(plan);
  if (window.length > 0 || plan.interval === undefined) return window;
  const durationMs = lengthMsOf(plan, startOf(plan, UNKNOWN));
  const many = durationMs / parseDuration(plan.interval);
  const problems: Problem[] = [];
  const refuse = (message: string): void => void problems.push({ path: ['interval'], message });
  if (!Number.isInteger(many))
    refuse(
      `interval does not divide the window of ${durationMs / 1000} s; write slices: ${Math.max(1, Math.round(many))} instead`,
    );
  if (many > SLICES_MAX) refuse(`more than ${SLICES_MAX} slices: choose a longer interval`);
  return problems;
}
