import { z } from 'zod';
import type { Instrument } from '../core/instrument.ts';
import {
  approximate,
  cost,
  decimalsOf,
  fraction,
  money,
  price,
  quantity,
  ratioOf,
  roundDown,
  scale,
  subtract,
  text,
} from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { instant, parseDuration, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Wake } from '../core/wake.ts';
import { amountOf, durationText, pairSymbol, plainNumber, positiveText, timeText, whole } from './fields.ts';
import { defineStrategy } from './kernel.ts';
import type { CheckWorld, Problem, Slot, Step } from './kernel.ts';
import { dueSize, plannedSize, slotMs, smallestSize } from './slicing.ts';
import type { SlicePlan } from './slicing.ts';

const SLICES_MAX = 100_000;
/** `extend` moves the end by at most this part of the window. */
const EXTENSION_MAX = 0.25;

const params = z.strictObject({
  pair: pairSymbol.describe('Pair to trade, such as btcusd'),
  side: z.enum(['buy', 'sell'], { error: 'expected buy or sell' }).describe('buy or sell'),
  total_quantity: amountOf('Size of the parent in base currency; give this or total_notional').optional(),
  total_notional: amountOf('Size of the parent in quote currency; give this or total_quantity').optional(),
  start_time: timeText
    .optional()
    .describe('First slot, with its zone; left out: when the strategy is first run'),
  end_time: timeText.optional().describe('End of the window, with its zone; give this or duration'),
  duration: durationText.optional().describe('Length of the window, ISO 8601; give this or end_time'),
  interval: durationText
    .optional()
    .describe('Time between slots, ISO 8601; must divide the window; give this or slices'),
  slices: whole.min(1).max(SLICES_MAX).optional().describe('Number of slices; give this or interval'),
  limit_price: positiveText
    .optional()
    .describe('Worst acceptable price, quote per base; worse quotes are not executed'),
  jitter: z
    .strictObject({
      time_pct: plainNumber
        .min(0)
        .max(95)
        .default(0)
        .describe('Largest move of a slot into its interval, percent'),
      size_pct: plainNumber
        .min(0)
        .max(50)
        .default(0)
        .describe('Largest change of a slice, percent; the total stays'),
      seed: whole
        .min(0)
        .max(2 ** 31)
        .describe('The same seed gives the same schedule'),
    })
    .optional()
    .describe('Moves slots and sizes so that others cannot read the schedule'),
  catch_up: z
    .enum(['pace', 'extend', 'skip', 'abort'], { error: 'expected pace, extend, skip or abort' })
    .default('pace')
    .describe(
      'What becomes of missed quantity. pace: spread over later slices, each at most 1.5 times its plan. extend: the window also moves by the outage, at most 25 %. skip: it stays undone. abort: the parent stops after a gap longer than catch_up_window',
    ),
  catch_up_window: durationText
    .default('PT1M')
    .describe('Longest gap that catch_up: abort tolerates, ISO 8601'),
});
type Params = z.output<typeof params>;

const state = z.strictObject({
  /** Next slice to start. */
  next: z.int().min(0),
  /** Not yet traded, in the currency of the total. */
  left: z.string(),
  /** How far `extend` has moved the slots, ms. */
  shiftMs: z.number().min(0),
});
type State = z.output<typeof state>;

const LEG = 'all';

function durationMsOf(plan: Params, startMs: number): number {
  if (plan.duration !== undefined) return parseDuration(plan.duration);
  return plan.end_time === undefined ? 0 : parseTime(plan.end_time) - startMs;
}

const startOf = (plan: Params, begunAt: Instant): Instant =>
  plan.start_time === undefined ? begunAt : parseTime(plan.start_time);

const slicesOf = (plan: Params, durationMs: number): number =>
  plan.slices ??
  (plan.interval === undefined ? 1 : Math.max(1, Math.round(durationMs / parseDuration(plan.interval))));

/** The slice plan in base quantities or in quote amounts, whichever the total is in. */
function slicePlan(
  plan: Params,
  begunAt: Instant,
  instrument: Instrument | undefined,
): SlicePlan<Quantity | Money> {
  const startMs = startOf(plan, begunAt);
  const durationMs = durationMsOf(plan, startMs);
  const total =
    plan.total_quantity === undefined
      ? money(plan.total_notional?.amount ?? '0')
      : quantity(plan.total_quantity.amount);
  const precision =
    plan.total_quantity === undefined ? instrument?.quotePrecision : instrument?.basePrecision;
  return {
    total,
    slices: slicesOf(plan, durationMs),
    startMs,
    durationMs,
    precision: precision ?? Math.max(8, decimalsOf(total)),
    jitter: plan.jitter && {
      timePct: plan.jitter.time_pct,
      sizePct: plan.jitter.size_pct,
      seed: plan.jitter.seed,
    },
  };
}

/**
 * Works a total off in equal parts. Slot rule: `n` slices at `start + k·(duration/n)`, `k = 0…n−1`; the last takes the
 * remainder, so that Σ slices = total exactly. A slice lives until the next slot. The next one never starts before the
 * one before has ended: an unknown outcome pauses the parent.
 */
export const twap = defineStrategy<Params, State>({
  kind: 'twap',
  summary: 'equal slices over a window, buy or sell',
  params,
  state,
  pairs: (plan) => [plan.pair],
  check,

  start(plan, begunAt, view): Step<State> {
    const slices = slicePlan(plan, begunAt, view.instrument(plan.pair));
    const first: State = { next: 0, left: text(slices.total), shiftMs: 0 };
    const instrument = view.instrument(plan.pair);
    if (decimalsOf(slices.total) > slices.precision) {
      const currency = plan.total_quantity === undefined ? instrument.quote : instrument.base;
      return ended(
        first,
        'invalid_plan',
        `the total has more decimals than ${currency} has (${slices.precision})`,
      );
    }
    const tooSmall = belowMinimum(plan, slices, instrument);
    if (tooSmall !== undefined) return ended(first, 'invalid_plan', tooSmall);
    return waitForSlot(first, slices);
  },

  step(was, wake, plan, context): Step<State> {
    const slices = slicePlan(plan, context.begunAt, context.view.instrument(plan.pair));
    if (wake.on === 'outcome') return settle(was, wake, plan, slices);
    return startSlice(was, wake.at, plan, slices);
  },

  slots(plan, begunAt, instrument): readonly Slot[] {
    const slices = slicePlan(plan, begunAt, instrument);
    const currency = (plan.total_quantity ?? plan.total_notional)?.currency ?? '';
    return Array.from({ length: slices.slices }, (_, slice) => ({
      slice,
      at: instant(slotMs(slices, slice)),
      size: text(plannedSize(slices, slice)),
      currency,
    }));
  },
});

type Slices = SlicePlan<Quantity | Money>;

/**
 * Why the smallest slice cannot be traded, now that precision and minimum are known; `undefined` when it can. A plan of
 * slices that round to nothing would leave its whole total to the last one.
 */
function belowMinimum(
  plan: Params,
  slices: Slices,
  { minimum, base, quote }: Instrument,
): string | undefined {
  const [unit, least] =
    plan.total_quantity === undefined ? [quote, minimum.notional] : [base, minimum.quantity];
  const each = smallestSize(slices);
  if (each.gt(0) && (least === undefined || each.gte(least))) return undefined;
  return `${slices.slices} slices of ${text(slices.total)} ${unit} are as small as ${text(each)} ${unit} each${
    least === undefined ? '' : `, the venue's minimum is ${text(least)}`
  }`;
}
const endOf = (slices: Slices, was: State): Instant =>
  instant(slices.startMs + slices.durationMs + was.shiftMs);
const slotOf = (slices: Slices, was: State, k: number): Instant =>
  k >= slices.slices ? endOf(slices, was) : instant(slotMs(slices, k) + was.shiftMs);
const leftOf = (was: State, plan: Params): Quantity | Money =>
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

/** An outcome: takes off what was filled and waits for the next slot. */
function settle(was: State, wake: Wake & { on: 'outcome' }, plan: Params, slices: Slices): Step<State> {
  const { filled, filledAmount } = wake.outcome;
  const done = plan.total_quantity === undefined ? filledAmount : filled;
  const now: State = { ...was, left: text(subtract(leftOf(was, plan), done)) };
  if (!leftOf(now, plan).gt(0)) return ended(now, 'finished');
  if (now.next >= slices.slices)
    return ended(now, 'window_over', `${now.left} of ${text(slices.total)} not traded`);
  return waitForSlot(now, slices);
}

/** A slot has come: starts the slice whose turn it is, after `catch_up` has dealt with those that passed. */
function startSlice(was: State, at: Instant, plan: Params, slices: Slices): Step<State> {
  const lateMs = at - slotOf(slices, was, was.next);
  const isGap = at >= slotOf(slices, was, was.next + 1);
  const shiftMs = plan.catch_up === 'extend' && isGap ? extension(was, lateMs, slices) : was.shiftMs;
  const now: State = { ...was, shiftMs };

  let turn = now.next;
  while (turn < slices.slices && slotOf(slices, now, turn + 1) <= at) turn++;
  const missed = Array.from({ length: turn - now.next }, (_, i) => ({ leg: LEG, slice: now.next + i }));
  const gap =
    missed.length === 0
      ? {}
      : { missed, reason: 'missed_slot' as const, note: `${missed.length} slots passed` };

  if (plan.catch_up === 'abort' && lateMs > parseDuration(plan.catch_up_window)) {
    return {
      ...ended(now, 'aborted', `a gap of ${Math.round(lateMs / 1000)} s; ${now.left} not traded`),
      missed,
    };
  }
  if (turn >= slices.slices) {
    return {
      ...ended({ ...now, next: turn }, 'window_over', `${now.left} of ${text(slices.total)} not traded`),
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
        deadline: slotOf(slices, now, turn + 1),
      },
    ],
    ...gap,
  };
}

const extension = (was: State, lateMs: number, slices: Slices): number =>
  Math.min(was.shiftMs + Math.max(0, Math.floor(lateMs)), Math.floor(slices.durationMs * EXTENSION_MAX));

const oneOf = (plan: Params, a: keyof Params, b: keyof Params): Problem[] => {
  if ((plan[a] === undefined) !== (plan[b] === undefined)) return [];
  const both = plan[a] !== undefined;
  return [
    {
      path: both ? [b] : [],
      message: both ? `give either ${a} or ${b}, not both: remove one` : `give one of ${a} and ${b}`,
    },
  ];
};

function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems = [
    ...oneOf(plan, 'total_quantity', 'total_notional'),
    ...oneOf(plan, 'interval', 'slices'),
    ...oneOf(plan, 'duration', 'end_time'),
    ...checkUnits(plan, world),
  ];
  return problems.length > 0 ? problems : [...checkWindow(plan), ...checkMinimum(plan, world)];
}

function checkUnits(plan: Params, world: CheckWorld): readonly Problem[] {
  const known = world.currencies(plan.pair);
  if (known === undefined) return [];
  const problems: Problem[] = [];
  const wrong = (field: 'total_quantity' | 'total_notional', expected: string, other: string): void => {
    const given = plan[field]?.currency;
    if (given === undefined || given === expected) return;
    const hint =
      given === (field === 'total_quantity' ? known.quote : known.base)
        ? `; for ${given} write ${other}`
        : '';
    problems.push({
      path: [field, 'currency'],
      message: `${field} of ${plan.pair} is counted in ${expected}, not ${given}${hint}`,
    });
  };
  wrong('total_quantity', known.base, 'total_notional');
  wrong('total_notional', known.quote, 'total_quantity');
  return problems;
}

function checkWindow(plan: Params): readonly Problem[] {
  if (plan.end_time !== undefined && plan.start_time === undefined) {
    return [{ path: ['end_time'], message: 'end_time needs start_time; or write duration instead' }];
  }
  const startMs = plan.start_time === undefined ? 0 : parseTime(plan.start_time);
  const durationMs = durationMsOf(plan, startMs);
  if (durationMs <= 0) return [{ path: ['end_time'], message: 'end_time must be later than start_time' }];
  const problems: Problem[] = [];
  if (plan.interval !== undefined && durationMs % parseDuration(plan.interval) !== 0) {
    const near = Math.max(1, Math.round(durationMs / parseDuration(plan.interval)));
    problems.push({
      path: ['interval'],
      message: `interval does not divide the window of ${durationMs / 1000} s; write slices: ${near} instead`,
    });
  }
  if (slicesOf(plan, durationMs) > SLICES_MAX) {
    problems.push({
      path: ['interval'],
      message: `more than ${SLICES_MAX} slices: choose a longer interval`,
    });
  }
  return problems;
}

/** A slice below the venue's minimum is refused here, with the largest number of slices that would do. */
function checkMinimum(plan: Params, world: CheckWorld): readonly Problem[] {
  const durationMs = durationMsOf(plan, plan.start_time === undefined ? 0 : parseTime(plan.start_time));
  const slices = slicesOf(plan, durationMs);
  const [tightest] = minimumsOf(plan, world).toSorted((a, b) => a.feasible - b.feasible);
  if (tightest === undefined || slices <= tightest.feasible) return [];
  const { minimum, total, unit, feasible } = tightest;
  const field = plan.slices === undefined ? 'interval' : 'slices';
  const fix =
    feasible < 1
      ? `the whole total is below the venue's minimum of ${text(minimum)} ${unit}`
      : `${slices} slices of ${text(total)} ${unit} are below the venue's minimum of ${text(minimum)} ${unit} each; at most ${feasible} slices are possible${
          field === 'interval' ? `, so write slices: ${feasible} instead` : ''
        }`;
  return [{ path: [field], message: fix }];
}

/** The total against one minimum of the venue, both in `unit`. */
interface Bound {
  readonly minimum: Quantity | Money;
  readonly total: Quantity | Money;
  readonly unit: string;
  /** Most slices that it allows. */
  readonly feasible: number;
}

/** How many slices stay at or above the minimum when jitter makes one as small as it may. */
function feasibleSlices(plan: Params, total: Quantity | Money, minimum: Quantity | Money): number {
  const least = scale(minimum, ratioOf(100));
  if (!least.gt(0)) return SLICES_MAX;
  const smallest = scale(total, ratioOf(100 - (plan.jitter?.size_pct ?? 0)));
  return approximate(roundDown(fraction(smallest, least), 0));
}

/** The minimums that can be compared: in the unit of the total, and through limit_price in the other one. */
function minimumsOf(plan: Params, world: CheckWorld): readonly Bound[] {
  const { quantity: least, notional } = world.minimum(plan.pair);
  const bound = (minimum: Quantity | Money, total: Quantity | Money, unit: string): Bound => ({
    minimum,
    total,
    unit,
    feasible: feasibleSlices(plan, total, minimum),
  });
  if (plan.total_notional !== undefined) {
    const { amount, currency } = plan.total_notional;
    return notional === undefined ? [] : [bound(notional, money(amount), currency)];
  }
  const total = quantity(plan.total_quantity?.amount ?? '0');
  const bounds = least === undefined ? [] : [bound(least, total, plan.total_quantity?.currency ?? '')];
  if (notional !== undefined && plan.limit_price !== undefined) {
    const unit = world.currencies(plan.pair)?.quote ?? 'quote currency';
    bounds.push(bound(notional, cost(price(plan.limit_price), total), unit));
  }
  return bounds;
}
