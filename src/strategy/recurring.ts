import { z } from 'zod';
import type { Instrument } from '../core/instrument.ts';
import { money, price, quantity, subtract, text } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import type { Reason } from '../core/reasons.ts';
import { after, instant, isoOf, MINUTE_MS, parseDuration } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Size } from '../core/venue.ts';
import type { Intent, Wait, Wake } from '../core/wake.ts';
import { closureAt, openUntil } from './calendar.ts';
import { defineStrategy } from './kernel.ts';
import type { Step } from './kernel.ts';
import { check, unfit } from './recurring-check.ts';
import { anySlices, currencyOf, eachOf, endOf, originOf, params, slicesOf } from './recurring-fields.ts';
import type { Params, Slices } from './recurring-fields.ts';
import { nextTime, occurrencesOf } from './schedule.ts';
import { dueSize, plannedSize, slotMs, slotsPassed } from './slicing.ts';
import { tacticsOf } from './tactic-fields.ts';

/** Times that a longer downtime leaves to make up for: the newest. */
const PASSED_MAX = 31;
/** Between two occurrences that are made up for: well below what the controls let a desk execute in a minute. */
const MADE_UP_APART_MS = 30_000;

const state = z.lazy(() =>
  z.strictObject({
    /** Times of the schedule up to here are dealt with, Unix ms. */
    after: z.number(),
    /** Occurrences begun. */
    begun: z.int().min(0),
    /** The one under way. */
    now: z
      .strictObject({
        /** When the schedule said; names the parent. Unix ms. */
        due: z.number(),
        /** Beginning of its window, Unix ms: `due`, or when it was made up for. */
        start: z.number(),
        /** Length of its window, ms: shorter than planned when the next time comes sooner, as on a day of 23 hours. */
        length: z.number().min(0),
        /** Next slice to start. */
        slice: z.int().min(0),
        /** Not yet traded, in the currency of the size. */
        left: z.string(),
      })
      .optional(),
  }),
);
type State = z.output<typeof state>;
type Under = State & { readonly now: NonNullable<State['now']> };

/** What stays the same from step to step. */
interface Setting {
  readonly plan: Params;
  readonly instrument: Instrument;
}

/** What a step tells besides what it does. */
interface Told {
  readonly reason?: Reason | undefined;
  readonly note?: string | undefined;
  readonly missed?: NonNullable<Step<State>['missed']>;
}

/**
 * The same buy or sell at every time of a calendar. Each occurrence is a parent of its own, named by the time at which it
 * was due, and is cut like a twap: `n` slices over its window, the last takes the remainder, Σ slices = its size exactly.
 * One occurrence ends before the next begins. Nothing starts while the calendar is closed, and nothing runs on into it.
 */
export const recurring = defineStrategy<Params, State>({
  kind: 'recurring',
  summary: 'the same buy or sell at every time of a calendar',
  params,
  state,
  pairs: (plan) => [plan.pair],
  isReplaceable: ({ now }) => now === undefined,
  check,

  start(plan, begunAt, view): Step<State> {
    const first: State = { after: originOf(plan, begunAt), begun: 0 };
    const why = unfit(plan, view.instrument(plan.pair));
    return why === undefined
      ? idle(first, plan)
      : { state: first, waits: [], finished: 'invalid_plan', reason: 'invalid_plan', note: why };
  },

  step(was, wake, plan, { view }): Step<State> {
    const setting: Setting = { plan, instrument: view.instrument(plan.pair) };
    if (wake.on === 'outcome') return settle(was, wake, setting);
    return isUnderWay(was)
      ? startSlice(was, { at: wake.at, told: {} }, setting)
      : takeTurn(was, wake.at, setting);
  },

  slots: () => [],
  slotsAt(plan, due, instrument) {
    const slices = slicesOf(plan, { due, startMs: due }, instrument);
    return Array.from({ length: slices.slices }, (_, slice) => ({
      slice,
      at: slotOf(slices, slice),
      size: text(plannedSize(slices, slice)),
      currency: currencyOf(plan),
    }));
  },
  ladder: (plan) =>
    plan.size_ladder && {
      pair: plan.pair,
      side: plan.side,
      size: sizeOf(plan, plannedSize(anySlices(plan, undefined), 0)),
      probes: plan.size_ladder.probes,
    },
  occurrences: (plan, from, count) =>
    occurrencesOf(plan.schedule, { from: originOf(plan, from), count, until: endOf(plan) }),
});

const legOf = (due: number): string => isoOf(instant(due));
const isUnderWay = (was: State): was is Under => was.now !== undefined;
const allSlices = (plan: Params, due: number): NonNullable<Step<State>['missed']> =>
  Array.from({ length: plan.slices }, (_, slice) => ({ leg: legOf(due), slice }));
const slicesOfNow = ({ now }: Under, { plan, instrument }: Setting): Slices =>
  slicesOf(plan, { due: instant(now.due), startMs: now.start, durationMs: now.length }, instrument);
const slotOf = (slices: Slices, k: number): Instant =>
  instant(k >= slices.slices ? slices.startMs + slices.durationMs : slotMs(slices, k));

/** The first time after `at` that the plan has. */
function nextDue(plan: Params, at: Instant): Instant | undefined {
  const next = nextTime(plan.schedule, at);
  const end = endOf(plan);
  return next === undefined || (end !== undefined && next >= end) ? undefined : next;
}

/** Between two occurrences: waits for the next time of the schedule. */
function idle(was: State, plan: Params, told: Told = {}): Step<State> {
  const next = nextDue(plan, instant(was.after));
  if (next !== undefined) return { state: was, waits: [{ on: 'at', at: next }], ...told };
  const note = noted(told.note, `${was.begun} occurrences`);
  return { state: was, waits: [], finished: 'finished', ...told, note };
}

const noted = (first: string | undefined, more: string): string =>
  first === undefined ? more : `${first}; ${more}`;

interface Passed {
  readonly times: readonly Instant[];
  readonly isAll: boolean;
}

/** The newest times after `from` and up to `at`, oldest first; `isAll` is false when there are more. */
function passedTimes(plan: Params, from: Instant, at: Instant): Passed {
  const oldest = nextDue(plan, from);
  if (oldest === undefined || oldest > at) return { times: [], isAll: true };
  const later = nextDue(plan, oldest);
  return later === undefined || later > at ? { times: [oldest], isAll: true } : newestTimes(plan, from, at);
}

/** The same where there are two at least. */
function newestTimes(plan: Params, from: Instant, at: Instant): Passed {
  const upTo = (since: Instant, most: number): readonly Instant[] => {
    const times: Instant[] = [];
    for (let next = nextDue(plan, since); next !== undefined && next <= at; next = nextDue(plan, next)) {
      if (times.push(next) > most) break;
    }
    return times;
  };
  const times = upTo(from, PASSED_MAX);
  if (times.length <= PASSED_MAX) return { times, isAll: true };
  // Many: the newest are looked for from the end, over longer and longer spans.
  for (let spanMs = MINUTE_MS; ; spanMs *= 2) {
    const newest = upTo(instant(Math.max(from, at - spanMs)), Number.POSITIVE_INFINITY);
    if (newest.length >= PASSED_MAX) return { times: newest.slice(-PASSED_MAX), isAll: false };
  }
}

/** A time of the schedule has come, or several have passed: begins one of them, as the misfire rule says. */
function takeTurn(was: State, at: Instant, setting: Setting): Step<State> {
  const { plan } = setting;
  const { times: passed, isAll } = passedTimes(plan, instant(was.after), at);
  const newest = passed.at(-1);
  // The clocks of the zone were decided anew since this wake was planned.
  if (newest === undefined) return idle(was, plan);
  const { schedule } = plan;
  const times = openTimes(schedule, passed);
  const last = times.at(-1);
  if (last === undefined) {
    const note = closureAt(schedule, newest)?.why;
    return idle({ ...was, after: newest }, plan, {
      reason: 'blackout',
      note,
      missed: allSlices(plan, newest),
    });
  }
  // Once its window is over, a time has passed whatever the tolerance says.
  const toleranceMs = Math.min(parseDuration(schedule.misfire_after), parseDuration(plan.window) - 1);
  const first = schedule.misfire === 'all' ? (times[0] ?? last) : last;
  const isLate = at - first > toleranceMs;
  const isSkipped = isLate && schedule.misfire === 'skip';
  const lost = times.length === 1 && !isSkipped ? NO_TIMES : lostOf(times, schedule, { first, isSkipped });
  const told: Told =
    lost.length > 0 || isLate
      ? {
          reason: 'misfire',
          note: misfireNote({ due: first, isSkipped, lateMs: at - first, lost: lost.length, isAll }),
          missed: slicesAt(plan, lost),
        }
      : {};
  if (isSkipped) return idle({ ...was, after: first }, plan, told);
  const closure = closureAt(schedule, at);
  if (closure !== undefined) {
    const missed = [...(told.missed ?? []), ...allSlices(plan, first)];
    return idle({ ...was, after: first }, plan, { reason: 'blackout', note: closure.why, missed });
  }
  const start = isLate ? at : first;
  const next = nextDue(plan, at) ?? Number.POSITIVE_INFINITY;
  const length = Math.min(parseDuration(plan.window), next - start);
  const now = { due: first, start, length, slice: 0, left: text(eachOf(plan)) };
  const under: Under = { after: first, begun: was.begun + 1, now };
  const slot = slotOf(slicesOfNow(under, setting), 0);
  if (slot > at) return { state: under, waits: [{ on: 'at', at: slot }], ...told };
  return startSlice(under, { at, told }, setting);
}

function openTimes(schedule: Params['schedule'], passed: readonly Instant[]): readonly Instant[] {
  const [only] = passed;
  if (passed.length === 1 && only !== undefined && closureAt(schedule, only) === undefined) return passed;
  return passed.filter((due) => closureAt(schedule, due) === undefined);
}

const NO_TIMES: readonly Instant[] = [];

/** Those of `times` that get no trade, or none any more. */
const lostOf = (
  times: readonly Instant[],
  { misfire }: Params['schedule'],
  { first, isSkipped }: Pick<Misfire, 'isSkipped'> & { readonly first: Instant },
): readonly Instant[] =>
  times.filter((due) => (misfire === 'all' ? due < first : due !== first || isSkipped));

const slicesAt = (plan: Params, times: readonly Instant[]): Missed =>
  times.flatMap((due) => allSlices(plan, due));

interface Misfire {
  readonly due: Instant;
  readonly isSkipped: boolean;
  readonly lateMs: number;
  readonly lost: number;
  /** Whether nothing older passed as well. */
  readonly isAll: boolean;
}

function misfireNote({ due, isSkipped, lateMs, lost, isAll }: Misfire): string {
  const others = `${isAll ? '' : 'more than '}${lost} times passed`;
  const late = `due ${legOf(due)}, ${Math.round(lateMs / 1000)} s ago`;
  if (isSkipped) return `${others}; the last was ${late}`;
  return lost > 0 || !isAll ? `runs the one ${late}; ${others} without a trade` : `runs the one ${late}`;
}

/** A slot of the occurrence under way has come. Slots that passed, and one that the calendar closes, are not tried. */
function startSlice(
  was: Under,
  { at, told }: { readonly at: Instant; readonly told: Told },
  setting: Setting,
): Step<State> {
  const { plan } = setting;
  const { now } = was;
  const slices = slicesOfNow(was, setting);
  let turn = now.slice;
  while (turn < slices.slices && slotOf(slices, turn + 1) <= at) turn++;
  const closure = turn < slices.slices ? closureAt(plan.schedule, at) : undefined;
  const next = closure === undefined ? turn : turn + 1;
  const leg = legOf(now.due);
  const all =
    next === now.slice
      ? told
      : together(told, closure?.why, passedSlots(slices, { leg, first: now.slice, end: next }));
  if (next >= slices.slices || closure !== undefined) {
    const later = onSlice(was, next);
    return next >= slices.slices
      ? endOccurrence(later, { at, told: all }, plan)
      : { state: later, waits: [{ on: 'at', at: slotOf(slices, next) }], ...all };
  }
  const size = dueSize(slices, turn, leftOf(plan, now.left), plan.catch_up === 'pace');
  const deadline = openUntil(plan.schedule, at, slotOf(slices, turn + 1));
  return {
    state: onSlice(was, turn + 1),
    waits: [{ on: 'outcome', leg, slice: turn }],
    intents: [intentOf(plan, { leg, slice: turn, size, deadline })],
    ...all,
  };
}

const onSlice = (
  { after: dealtWith, begun, now: { due, start, length, left } }: Under,
  slice: number,
): Under => ({
  after: dealtWith,
  begun,
  now: { due, start, length, slice, left },
});

type Missed = NonNullable<Told['missed']>;

/** The slots from `first` up to `end`, of which none was tried. */
const passedSlots = (
  slices: Slices,
  { leg, first, end }: { readonly leg: string; readonly first: number; readonly end: number },
): Missed =>
  Array.from({ length: end - first }, (_, i) => {
    const slice = first + i;
    return { leg, slice, due: slotOf(slices, slice), size: text(plannedSize(slices, slice)) };
  });

/** What a turn told, and after it what became of its slots: they passed, or what closed one of them. */
const together = (told: Told, closedBy: string | undefined, missed: Missed): Told => ({
  reason: told.reason ?? (closedBy === undefined ? 'missed_slot' : 'blackout'),
  note: noted(told.note, closedBy ?? slotsPassed(missed.length)),
  missed: [...(told.missed ?? []), ...missed],
});

const leftOf = (plan: Params, left: string): Quantity | Money =>
  plan.each_quantity === undefined ? money(left) : quantity(left);

const sizeOf = (plan: Params, size: Quantity | Money): Size =>
  plan.each_quantity === undefined
    ? { by: 'amount', amount: size as Money } // oxlint-disable-line typescript/no-unsafe-type-assertion -- the plan says which
    : { by: 'quantity', quantity: size as Quantity }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the plan says which

const intentOf = (
  plan: Params,
  {
    leg,
    slice,
    size,
    deadline,
  }: Pick<Intent, 'leg' | 'slice' | 'deadline'> & { readonly size: Quantity | Money },
): Intent => ({
  leg,
  slice,
  deadline,
  pair: plan.pair,
  side: plan.side,
  size: sizeOf(plan, size),
  limit: plan.limit_price === undefined ? undefined : price(plan.limit_price),
  tactics: tacticsOf(plan),
});

/** A slice has ended: takes off what was filled and waits for the next slot, or for the next occurrence. */
function settle(was: State, wake: Wake & { on: 'outcome' }, setting: Setting): Step<State> {
  const { plan } = setting;
  const { leg, filled, filledAmount } = wake.outcome;
  // A trade of an occurrence that is over, heard of late, changes nothing of what is ahead.
  const note = `${leg} is over`;
  if (!isUnderWay(was)) return idle(was, plan, { reason: 'waiting', note });
  if (leg !== legOf(was.now.due))
    return { state: was, waits: [slotWait(was, setting)], reason: 'waiting', note };
  const done = plan.each_quantity === undefined ? filledAmount : filled;
  const left = subtract(leftOf(plan, was.now.left), done);
  const now: Under = { ...was, now: { ...was.now, left: text(left) } };
  return !left.gt(0) || now.now.slice >= plan.slices
    ? endOccurrence(now, { at: wake.at, told: {} }, plan)
    : { state: now, waits: [slotWait(now, setting)] };
}

const slotWait = (was: Under, setting: Setting): Wait => ({
  on: 'at',
  at: slotOf(slicesOfNow(was, setting), was.now.slice),
});

/** The window of the occurrence is over, or nothing of it is left. */
function endOccurrence(
  { after: dealtWith, begun, now }: Under,
  { at, told }: { readonly at: Instant; readonly told: Told },
  plan: Params,
): Step<State> {
  const over: State = { after: dealtWith, begun };
  const next = leftOf(plan, now.left).gt(0)
    ? idle(over, plan, {
        ...told,
        reason: told.reason ?? 'window_over',
        note: noted(told.note, `${now.left} of ${text(eachOf(plan))} ${currencyOf(plan)} not traded`),
      })
    : idle(over, plan, told);
  // Missed ones that are made up for in a row must not look like a strategy that has gone wild: those are halted.
  if (plan.schedule.misfire !== 'all') return next;
  const soonest = after(at, MADE_UP_APART_MS);
  const wait = next.waits.map((one) => (one.on === 'at' && one.at < at ? { ...one, at: soonest } : one));
  return { ...next, waits: wait };
}
