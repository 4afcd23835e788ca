import { z } from 'zod';
import type { Precisions } from '../core/instrument.ts';
import { decimalsOf, money, price, quantity, share, subtract, text } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { instant, parseDuration, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Size } from '../core/venue.ts';
import type { Wake } from '../core/wake.ts';
import { defineStrategy } from './kernel.ts';
import type { AnyStrategy, CheckWorld, Forecast, LadderWish, Problem, Slot, Step } from './kernel.ts';
import { dueSize, plannedSize, slotMs, slotsPassed, unfitPlan } from './slicing.ts';
import type { Curve, SlicePlan } from './slicing.ts';
import { check, sizeRuleOf } from './sliced-check.ts';
import { durationMsOf, slicesOf, startOf } from './sliced-fields.ts';
import type { Sliced } from './sliced-fields.ts';
import { tacticsOf } from './tactic-fields.ts';

/** `extend` moves the end by at most this part of the window. */
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

type Slices = SlicePlan<Quantity | Money>;

/** The window of a parent and into how many slices it is cut. */
export interface Window {
  /** Unix ms. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly slices: number;
}

/** What tells one kind of sliced parent from another. */
export interface SlicedKind<Params extends Sliced> {
  readonly kind: string;
  /** One sentence for `--help` and the schema. */
  readonly summary: string;
  /** `slicedFields` and what the kind has besides. */
  readonly params: z.ZodType<Params>;
  /** How the total is spread over the slices; equally when left out, or when it gives nothing. */
  curve?(plan: Params, window: Window): Curve | undefined;
  /** Whether the curve is known only when the start is. */
  readonly curveNeedsStart?: boolean | undefined;
  /** What else than fewer slices makes the smallest slice larger, for people. */
  readonly smallestHint?: string | undefined;
  /** Checks across the kind's own fields, made when those of all sliced kinds are in order. */
  check?(plan: Params, world: CheckWorld): readonly Problem[];
  forecast?(plan: Params, slices: Slices): Forecast | undefined;
}

/**
 * Works a total off in slices over a window. Slot rule: `n` slices at `start + k·(duration/n)`, `k = 0…n−1`; the last takes
 * the remainder, so that Σ slices = total exactly. A slice lives until the next slot. The next one never starts before the
 * one before has ended: an unknown outcome pauses the parent.
 */
export function slicedStrategy<Params extends Sliced>(kind: SlicedKind<Params>): AnyStrategy {
  const planOf = slicePlanner(kind);
  return defineStrategy<Params, State>({
    kind: kind.kind,
    summary: kind.summary,
    params: kind.params,
    state,
    pairs: (plan) => [plan.pair],
    check: (plan, world) => check({ ...kind, planOf }, plan, world),
    ladder: ladderOf,

    start(plan, begunAt, view): Step<State> {
      const instrument = view.instrument(plan.pair);
      const slices = planOf(plan, begunAt, instrument);
      const first: State = { next: 0, left: text(slices.total), shiftMs: 0 };
      const why = unfitPlan(slices, sizeRuleOf(plan, instrument.minimum, instrument));
      if (why !== undefined) return ended(first, 'invalid_plan', why);
      return waitForSlot(first, slices);
    },

    step(was, wake, plan, context): Step<State> {
      const slices = planOf(plan, context.begunAt, context.view.instrument(plan.pair));
      if (wake.on === 'outcome') return settle(was, wake, plan, slices);
      return startSlice(was, wake.at, plan, slices);
    },

    slots(plan, begunAt, known): readonly Slot[] {
      const slices = planOf(plan, begunAt, known);
      const currency = (plan.total_quantity ?? plan.total_notional)?.currency ?? '';
      return Array.from({ length: slices.slices }, (_, slice) => ({
        slice,
        at: instant(slotMs(slices, slice)),
        size: text(plannedSize(slices, slice)),
        currency,
      }));
    },

    forecast: (plan, begunAt, known) => kind.forecast?.(plan, planOf(plan, begunAt, known)),
  });
}

/** The sizes up to an even slice. Where the start is not known yet the window may be shorter, and the slices are the same. */
function ladderOf(plan: Sliced): LadderWish | undefined {
  if (plan.size_ladder === undefined) return undefined;
  const durationMs = durationMsOf(plan, plan.start_time === undefined ? 0 : parseTime(plan.start_time));
  const slices = slicesOf(plan, durationMs);
  const { pair, side, total_quantity: base, total_notional: notional } = plan;
  const size: Size =
    base === undefined
      ? { by: 'amount', amount: share(money(notional?.amount ?? '0'), slices, LADDER_DECIMALS) }
      : { by: 'quantity', quantity: share(quantity(base.amount), slices, LADDER_DECIMALS) };
  return { pair, side, size, probes: plan.size_ladder.probes };
}
/** Cut to those of the currency when a size is probed. */
const LADDER_DECIMALS = 18;

/** Gives the slice plan in base quantities or in quote amounts, whichever the total is in. */
function slicePlanner<Params extends Sliced>(kind: SlicedKind<Params>) {
  // A curve may be long, and every step needs it: that of a life is made once.
  const made = new WeakMap<Params, { readonly startMs: number; readonly curve: Curve | undefined }>();
  const curveOf = (plan: Params, window: Window): Curve | undefined => {
    const known = made.get(plan);
    if (known?.startMs === window.startMs) return known.curve;
    const curve = kind.curve?.(plan, window);
    made.set(plan, { startMs: window.startMs, curve });
    return curve;
  };
  return (plan: Params, begunAt: Instant, known: Precisions | undefined): Slices => {
    const startMs = startOf(plan, begunAt);
    const durationMs = durationMsOf(plan, startMs);
    const window = { startMs, durationMs, slices: slicesOf(plan, durationMs) };
    const total =
      plan.total_quantity === undefined
        ? money(plan.total_notional?.amount ?? '0')
        : quantity(plan.total_quantity.amount);
    const precision = plan.total_quantity === undefined ? known?.quotePrecision : known?.basePrecision;
    return {
      ...window,
      total,
      precision: precision ?? Math.max(8, decimalsOf(total)),
      curve: curveOf(plan, window),
      jitter: plan.jitter && {
        timePct: plan.jitter.time_pct,
        sizePct: plan.jitter.size_pct,
        seed: plan.jitter.seed,
      },
    };
  };
}

const endOf = (slices: Slices, was: State): Instant =>
  instant(slices.startMs + slices.durationMs + was.shiftMs);
const slotOf = (slices: Slices, was: State, k: number): Instant =>
  k >= slices.slices ? endOf(slices, was) : instant(slotMs(slices, k) + was.shiftMs);
const leftOf = (was: State, plan: Sliced): Quantity | Money =>
  plan.total_quantity === undefined ? money(was.left) : quantity(was.left);

const ended = (was: State, reason: NonNullable<Step<State>['finished']>, note?: string): Step<State> => ({
  state: was,
  waits: [],
  finished: reason,
  reason: reason === 'finished' ? undefined : reason,
  note,
});

const waitForSlot = (was: State, slices: Slices): Step<State> => ({
  state: was,
  waits: [{ on: 'at', at: slotOf(slices, was, was.next) }],
});

const undone = ({ left }: State, plan: Sliced, { total }: Slices): string =>
  `${left} of ${text(total)} ${(plan.total_quantity ?? plan.total_notional)?.currency ?? ''} not traded`;

/** An outcome: takes off what was filled and waits for the next slot. */
function settle(was: State, wake: Wake & { on: 'outcome' }, plan: Sliced, slices: Slices): Step<State> {
  const { filled, filledAmount } = wake.outcome;
  const done = plan.total_quantity === undefined ? filledAmount : filled;
  const now: State = { ...was, left: text(subtract(leftOf(was, plan), done)) };
  if (!leftOf(now, plan).gt(0)) return ended(now, 'finished');
  if (now.next >= slices.slices) return ended(now, 'window_over', undone(now, plan, slices));
  return waitForSlot(now, slices);
}

/** A slot has come: starts the slice whose turn it is, after `catch_up` has dealt with those that passed. */
function startSlice(was: State, at: Instant, plan: Sliced, slices: Slices): Step<State> {
  const lateMs = at - slotOf(slices, was, was.next);
  const isGap = at >= slotOf(slices, was, was.next + 1);
  const shiftMs = plan.catch_up === 'extend' && isGap ? extension(was, lateMs, slices) : was.shiftMs;
  const now: State = { ...was, shiftMs };

  let turn = now.next;
  while (turn < slices.slices && slotOf(slices, now, turn + 1) <= at) turn++;
  const missed = Array.from({ length: turn - now.next }, (_, i) => {
    const slice = now.next + i;
    return { leg: LEG, slice, due: slotOf(slices, now, slice), size: text(plannedSize(slices, slice)) };
  });
  const gap =
    missed.length === 0 ? {} : { missed, reason: 'missed_slot' as const, note: slotsPassed(missed.length) };

  if (plan.catch_up === 'abort' && lateMs > parseDuration(plan.catch_up_window)) {
    return {
      ...ended(now, 'aborted', `a gap of ${Math.round(lateMs / 1000)} s; ${undone(now, plan, slices)}`),
      missed,
    };
  }
  if (turn >= slices.slices) {
    return {
      ...ended({ ...now, next: turn }, 'window_over', undone(now, plan, slices)),
      missed,
    };
  }
  const size = dueSize(
    slices,
    turn,
    leftOf(now, plan),
    plan.catch_up === 'pace' || plan.catch_up === 'extend',
  );
  return {
    state: { ...now, next: turn + 1 },
    waits: [{ on: 'outcome', leg: LEG, slice: turn }],
    intents: [
      {
        leg: LEG,
        slice: turn,
        pair: plan.pair,
        side: plan.side,
        size:
          plan.total_quantity === undefined
            ? { by: 'amount', amount: money(text(size)) }
            : { by: 'quantity', quantity: quantity(text(size)) },
        limit: plan.limit_price === undefined ? undefined : price(plan.limit_price),
        tactics: tacticsOf(plan),
        deadline: slotOf(slices, now, turn + 1),
      },
    ],
    ...gap,
  };
}

const extension = (was: State, lateMs: number, slices: Slices): number =>
  Math.min(was.shiftMs + Math.max(0, Math.floor(lateMs)), Math.floor(slices.durationMs * EXTENSION_MAX));
