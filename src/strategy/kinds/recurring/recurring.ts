import { z } from 'zod';
import type { Instrument, Minimum, Precisions } from '../../../core/instrument.ts';
import { isAboveZero, quantity, subtract, text } from '../../../core/money.ts';
import { after, DAY_MS, instant, isoOf, parseDuration, parseTime } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import { uniform } from '../../../core/uniform.ts';
import type { Wait, Wake } from '../../../core/wake.ts';
import { closureAt, notOpenWords, openUntil } from '../../calendar/calendar.ts';
import { countedScheduleFields, firstOpen, occurrencesOf, smallestGapMs } from '../../calendar/schedule.ts';
import { checkSize } from '../../checks.ts';
import { amountOf, durationText, pairSymbol, sideField, timeText, whole } from '../../fields.ts';
import { defineStrategy } from '../../kernel.ts';
import type { CheckWorld, Problem, Step } from '../../kernel.ts';
import { checkSlices } from '../../worker/check-slices.ts';
import {
  dueSize,
  dueSlice,
  missedSlots,
  plannedSize,
  slotOf,
  slotsPassed,
  unfitPlan,
} from '../../worker/slicing.ts';
import type { SizeRule, SlicePlan } from '../../worker/slicing.ts';
import { checkTactics, jitterField, ladderFields, tacticFields } from '../../worker/tactic-fields.ts';
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
} from '../../worker/total.ts';
import type { Total } from '../../worker/total.ts';
import { checkEnd, endOf } from '../../worker/window.ts';
import { legOf, lostOf, misfireNote, newestTime, nextDue, passedTimes } from './recurring-misfire.ts';

/** Largest number of slices. At one more order of a parent that is not planned for its whole life, the controls halt the desk. */
const SLICES_MAX = 50;

/** The fields of a recurring document. */
const params = z.lazy(() =>
  z.strictObject({
    pair: pairSymbol.describe('Pair to trade, such as btcusd'),
    side: sideField,
    each_quantity: amountOf(
      'Size of every occurrence in base currency; give this or each_notional',
    ).optional(),
    each_notional: amountOf(
      'Size of every occurrence in quote currency; give this or each_quantity',
    ).optional(),
    schedule: countedScheduleFields.describe('When it trades'),
    window: durationText
      .default('PT10M')
      .describe('Time for which an occurrence may trade, ISO 8601; the rest is not traded later'),
    slices: whole
      .min(1)
      .max(SLICES_MAX)
      .default(1)
      .describe('Number of equal slices over the window, the first at the scheduled time'),
    catch_up: z
      .enum(['pace', 'skip'], { error: 'expected pace or skip' })
      .default('pace')
      .describe(
        'Handling of the quantity that a slice did not trade. pace: it is spread over the later slices of the occurrence, each at most 1.5 times its planned size. skip: it is not traded',
      ),
    ...tacticFields(),
    ...ladderFields(),
    jitter: jitterField({
      time: 'Largest shift of a slot within its interval, and largest increase of the wait between two quotes, percent',
      size: 'Largest change in the size of a slice, percent; the sum of the occurrence does not change',
      seed: 'The same seed gives the same slots; each occurrence has its own slots',
      all: 'Randomizes slots and sizes so that others cannot infer the schedule',
    }),
    start_time: timeText
      .optional()
      .describe('Start of occurrences, with its zone; default: when the strategy first runs'),
    end_time: timeText.optional().describe('End of occurrences, with its zone; default: never'),
  }),
);
type Params = z.output<typeof params>;

const FIELDS = { base: 'each_quantity', quote: 'each_notional' } as const;
const eachOf = (plan: Params): Total => totalOf(plan.each_quantity, plan.each_notional);

/** Returns the instant before all times of a life: its beginning, or the moment before `start_time`. */
const originOf = (plan: Params, begunAt: Instant): Instant =>
  instant(Math.max(begunAt, plan.start_time === undefined ? 0 : parseTime(plan.start_time) - 1));

/** Time between two missed occurrences that run late. It keeps them well below the rate at which the controls halt a desk. */
const MADE_UP_APART_MS = 30_000;

const state = z.lazy(() =>
  z.strictObject({
    /** Times of the schedule up to this one are handled, Unix ms. */
    after: z.number(),
    /** Number of occurrences begun. */
    begun: z.int().min(0),
    /** The current one. */
    now: z
      .strictObject({
        /** Time of the schedule, Unix ms. It names the parent. */
        due: z.number(),
        /** Start of its window, Unix ms: `due`, or the time at which a missed occurrence runs. */
        start: z.number(),
        /** Length of its window, ms. It is shorter than planned if the next time comes earlier, as on a day of 23 hours. */
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
type Occurrence = NonNullable<State['now']>;
type Under = State & { readonly now: Occurrence };

/** Returns the slices of an occurrence. */
function slicesOf(
  plan: Params,
  { due, start, length }: Pick<Occurrence, 'due' | 'start' | 'length'>,
  known: Precisions | undefined,
): SlicePlan {
  const each = eachOf(plan);
  return {
    total: each.amount,
    slices: plan.slices,
    startMs: start,
    durationMs: length,
    precision: precisionIn(each, known),
    jitter: plan.jitter && {
      timePct: plan.jitter.time_pct,
      sizePct: plan.jitter.size_pct,
      seed: Math.floor(uniform(plan.jitter.seed, Math.floor(due / 1000)) * 2 ** 31),
    },
  };
}

/** Returns the slices of the occurrence that is due at `due`, on time and over the whole window. */
const wholeSlices = (plan: Params, due: number, known: Precisions | undefined): SlicePlan =>
  slicesOf(plan, { due, start: due, length: parseDuration(plan.window) }, known);

/** Values that stay the same within a step. */
interface Setting {
  readonly plan: Params;
  readonly instrument: Instrument;
}

/** What a step reports, in addition to its actions. */
type StepReport = Pick<Step<State>, 'reason' | 'note' | 'missed'>;

/**
 * Places the same buy or sell at every time of a calendar. Each occurrence is a parent of its own, named by the time at
 * which it was due, and is split like a twap into `n` slices over its window. The last slice takes the remainder, so
 * that Σ slices = its size exactly. One occurrence ends before the next begins. Nothing starts while the calendar is
 * closed, and nothing continues into a closed time.
 */
export const recurring = defineStrategy<Params, State>({
  kind: 'recurring',
  summary: 'the same buy or sell at every time of a calendar',
  params,
  state,
  of: (plan) => ({
    pairs: [plan.pair],
    isReplaceable: ({ now }) => now === undefined,
    runFault({ now, after: dealtWith }, at) {
      if (now !== undefined) return `its occurrence of ${legOf(now.due)} is in progress`;
      const due = nextDue(plan, instant(dealtWith));
      return due !== undefined && due <= at
        ? `its occurrence of ${legOf(due)} is about to start`
        : notOpenWords(plan, at);
    },
    check: (world) => check(plan, world),

    start(begunAt, view) {
      const first: State = { after: originOf(plan, begunAt), begun: 0 };
      const instrument = view.instrument(plan.pair);
      const why = unfitPlan(wholeSlices(plan, 0, instrument), ruleOf(plan, instrument.minimum));
      return why === undefined ? idle(first, plan) : ended(first, 'invalid_plan', why);
    },

    step(was, wake, { view }) {
      const setting = { plan, instrument: view.instrument(plan.pair) };
      const { at } = wake;
      if (wake.on === 'outcome') return settle(was, wake, setting);
      if (wake.on === 'run')
        return begin(was, { due: at, start: at, at, report: {}, isExtra: true }, setting);
      return isUnderWay(was) ? startSlice(was, at, setting) : takeTurn(was, at, setting);
    },

    progress: ({ now }) => now && progressOf(eachOf(plan), now.left),
    ladder: plan.size_ladder && {
      pair: plan.pair,
      side: plan.side,
      size: sizeOf(eachOf(plan).by, plannedSize(wholeSlices(plan, 0, undefined), 0)),
    },
    occurrences: (from, count) =>
      occurrencesOf(plan.schedule, { from: originOf(plan, from), count, until: endOf(plan) }),
  }),
});

const isUnderWay = (was: State): was is Under => was.now !== undefined;
const allSlices = (plan: Params, due: number): NonNullable<Step<State>['missed']> =>
  Array.from({ length: plan.slices }, (_, slice) => ({ leg: legOf(due), slice }));
/** Between two occurrences, waits for the next time of the schedule. */
function idle(was: State, plan: Params, report: StepReport = {}): Step<State> {
  const next = nextDue(plan, instant(was.after));
  if (next !== undefined) return { state: was, waits: [{ on: 'at', at: next }], ...report };
  const note = noted(report.note, `${was.begun} occurrences`);
  return { state: was, waits: [], finished: 'finished', ...report, note };
}

const noted = (first: string | undefined, more: string): string =>
  first === undefined ? more : `${first}; ${more}`;

/** Begins an occurrence when a time of the schedule has come; if several have passed, the misfire rule chooses one. */
function takeTurn(was: State, at: Instant, setting: Setting): Step<State> {
  const { plan } = setting;
  const { schedule } = plan;
  const due = nextDue(plan, instant(was.after));
  // The rules of the time zone changed after this wake was planned.
  if (due === undefined || due > at) return idle(was, plan);
  const { times, isAll } = passedTimes(plan, instant(was.after), at);
  const last = times.at(-1);
  if (last === undefined) {
    const newest = newestTime(plan, instant(was.after), at);
    const note = closureAt(schedule, newest)?.why;
    return idle({ ...was, after: newest }, plan, {
      reason: 'blackout',
      note,
      missed: allSlices(plan, newest),
    });
  }
  const first = schedule.misfire === 'all' ? (times[0] ?? last) : last;
  // A time counts as missed once its window has ended, regardless of the tolerance.
  const isLate = at - first > Math.min(parseDuration(schedule.misfire_after), parseDuration(plan.window) - 1);
  const isSkipped = isLate && schedule.misfire === 'skip';
  const lost = lostOf(times, schedule, { first, isSkipped });
  const report: StepReport =
    lost.length > 0 || isLate
      ? {
          reason: 'missed_slot',
          note: misfireNote({ due: first, isSkipped, lateMs: at - first, lost: lost.length, isAll }),
          missed: lost.flatMap((time) => allSlices(plan, time)),
        }
      : {};
  if (isSkipped) return idle({ ...was, after: first }, plan, report);
  return begin(was, { due: first, start: isLate ? at : first, at, report }, setting);
}

interface Beginning {
  readonly due: Instant;
  /** Start of its window. */
  readonly start: Instant;
  readonly at: Instant;
  readonly report: StepReport;
  /** A person started this occurrence, so it uses up no time of the schedule. */
  readonly isExtra?: boolean;
}

/** Begins the occurrence that is due at `due`, unless the calendar is closed. */
function begin(
  was: State,
  { due, start, at, report, isExtra = false }: Beginning,
  setting: Setting,
): Step<State> {
  const { plan, instrument } = setting;
  const dealtWith = isExtra ? was.after : due;
  const closure = closureAt(plan.schedule, at);
  if (closure !== undefined) {
    const missed = [...(report.missed ?? []), ...allSlices(plan, due)];
    return idle({ ...was, after: dealtWith }, plan, { reason: 'blackout', note: closure.why, missed });
  }
  const next = nextDue(plan, at) ?? Number.POSITIVE_INFINITY;
  const length = Math.min(parseDuration(plan.window), next - start);
  const now = { due, start, length, slice: 0, left: text(eachOf(plan).amount) };
  const under: Under = { after: dealtWith, begun: was.begun + 1, now };
  const slot = slotOf(slicesOf(plan, now, instrument), 0);
  if (slot > at) return { state: under, waits: [{ on: 'at', at: slot }], ...report };
  return startSlice(under, at, setting, report);
}

/** Starts the slice whose slot has come. Slots that passed, and a slot in a closed time, are not tried. */
function startSlice(
  was: Under,
  at: Instant,
  { plan, instrument }: Setting,
  before: StepReport = {},
): Step<State> {
  const slices = slicesOf(plan, was.now, instrument);
  const leg = legOf(was.now.due);
  const turn = dueSlice(slices, was.now.slice, at);
  const closure = turn < slices.slices ? closureAt(plan.schedule, at) : undefined;
  const next = closure === undefined ? turn : turn + 1;
  const missed = missedSlots(slices, leg, { first: was.now.slice, end: next });
  const report = missed.length === 0 ? before : together(before, closure?.why, missed);
  const later = onSlice(was, next);
  if (next >= slices.slices) return endOccurrence(later, { at, report }, plan);
  if (closure !== undefined)
    return { state: later, waits: [{ on: 'at', at: slotOf(slices, next) }], ...report };
  const amount = dueSize(slices, turn, quantity(was.now.left), plan.catch_up === 'pace');
  const deadline = openUntil(plan.schedule, at, slotOf(slices, turn + 1));
  const slice = { leg, slice: turn, by: eachOf(plan).by, amount, deadline };
  return started(onSlice(was, turn + 1), intentOf(plan, slice), report);
}

const onSlice = (was: Under, slice: number): Under => ({ ...was, now: { ...was.now, slice } });

/** Adds missed slots to a report, and the closure that caused them, if any. */
const together = (
  report: StepReport,
  closedBy: string | undefined,
  missed: NonNullable<StepReport['missed']>,
): StepReport => ({
  reason: report.reason ?? (closedBy === undefined ? 'missed_slot' : 'blackout'),
  note: noted(report.note, closedBy ?? slotsPassed(missed.length)),
  missed: [...(report.missed ?? []), ...missed],
});

/** Subtracts the fill of a slice and waits for the next slot, or for the next occurrence. */
function settle(was: State, { at, outcome }: Wake & { on: 'outcome' }, setting: Setting): Step<State> {
  const { plan, instrument } = setting;
  // A late trade of an ended occurrence does not affect later slices.
  const note = `${outcome.leg} is over`;
  if (!isUnderWay(was)) return idle(was, plan, { reason: 'waiting', note });
  const waits = (now: Under): Wait[] => [
    { on: 'at', at: slotOf(slicesOf(plan, now.now, instrument), now.now.slice) },
  ];
  if (outcome.leg !== legOf(was.now.due)) return { state: was, waits: waits(was), reason: 'waiting', note };
  const left = subtract(quantity(was.now.left), tradedOf(eachOf(plan).by, outcome));
  const now: Under = { ...was, now: { ...was.now, left: text(left) } };
  return !isAboveZero(left) || now.now.slice >= plan.slices
    ? endOccurrence(now, { at, report: {} }, plan)
    : { state: now, waits: waits(now) };
}

/** Ends the occurrence, because its window is over or it is fully traded. */
function endOccurrence(
  { after: dealtWith, begun, now }: Under,
  { at, report }: { readonly at: Instant; readonly report: StepReport },
  plan: Params,
): Step<State> {
  const over: State = { after: dealtWith, begun };
  const next = isAboveZero(quantity(now.left))
    ? idle(over, plan, {
        ...report,
        reason: report.reason ?? 'window_over',
        note: noted(report.note, undone(eachOf(plan), now.left)),
      })
    : idle(over, plan, report);
  // Missed occurrences that run one after another must not look like a runaway strategy, which the controls halt.
  if (plan.schedule.misfire !== 'all') return next;
  const soonest = after(at, MADE_UP_APART_MS);
  const wait = next.waits.map((one) => (one.on === 'at' && one.at < at ? { ...one, at: soonest } : one));
  return { ...next, waits: wait };
}

/** Checks across the fields of a recurring document. */
function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems: Problem[] = [
    ...checkSize(plan, FIELDS, world),
    ...checkEnd(plan),
    ...checkTactics(plan, world),
  ];
  if (parseDuration(plan.window) > WINDOW_MAX_MS)
    problems.push({ path: ['window'], message: 'the window of an occurrence is at most seven days: P7D' });
  if (problems.length > 0) return problems;
  const slices = wholeSlices(plan, 0, world.precisions(plan.pair));
  const planned = {
    ...ruleOf(plan, world.minimum(plan.pair)),
    plan: slices,
    inSlices: (count: number) => ({ ...slices, slices: count }),
    field: 'slices',
  } as const;
  return [...checkTimes(plan), ...checkSlices(plan, FIELDS, { world, planned })];
}
const WINDOW_MAX_MS = 7 * DAY_MS;

/** The instant at which a schedule without start and end is checked, because the result must not depend on the current date. */
const SOME_DAY = instant(Date.UTC(2026, 0, 1) - 1);
const LOOKED_MS = 4 * 366 * DAY_MS;

/** Rejects a schedule without an open time, and a window that overlaps the next occurrence. */
function checkTimes(plan: Params): readonly Problem[] {
  const { start_time: start } = plan;
  const end = endOf(plan);
  const someDay = end === undefined ? SOME_DAY : instant(end - LOOKED_MS);
  const from = start === undefined ? someDay : instant(parseTime(start) - 1);
  const until = end ?? instant(from + LOOKED_MS);
  const first = firstOpen(plan.schedule, { from, until });
  if (first === undefined) {
    const span = `${isoOf(instant(from + 1))} and ${isoOf(until)}`;
    const path = ['schedule', plan.schedule.cron === undefined ? 'first' : 'cron'];
    return [{ path, message: `the schedule has no time between ${span}` }];
  }
  if (first.closed !== undefined) {
    const when = `the first, ${isoOf(first.at)}, is closed by: ${first.closed}`;
    return [
      {
        path: ['schedule'],
        message: `every time of the schedule is closed; ${when}. Change the time or the closed hours`,
      },
    ];
  }
  const gapMs = smallestGapMs(plan.schedule, first.at);
  if (gapMs === undefined || parseDuration(plan.window) <= gapMs) return [];
  return [
    {
      path: ['window'],
      message: `the window is longer than the ${gapMs / 1000} s between two occurrences: write at most PT${gapMs / 1000}S`,
    },
  ];
}

const ruleOf = (plan: Params, minimum: Minimum): SizeRule => {
  const { by, currency } = eachOf(plan);
  return { currency, minimum: minimumIn({ by }, minimum), what: 'each occurrence' };
};
