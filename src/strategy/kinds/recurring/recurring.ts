import { z } from 'zod';
import type { Instrument, Minimum, Precisions } from '../../../core/instrument.ts';
import {
  approximate,
  decimalsOf,
  fraction,
  isAboveZero,
  money,
  price,
  quantity,
  ratioOf,
  roundDown,
  scale,
  subtract,
  text,
} from '../../../core/money.ts';
import type { Money, Quantity } from '../../../core/money.ts';
import type { Reason } from '../../../core/reasons.ts';
import { after, DAY_MS, instant, isoOf, parseDuration, parseTime } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import { uniform } from '../../../core/uniform.ts';
import type { Size } from '../../../core/venue.ts';
import type { Intent, Wait, Wake } from '../../../core/wake.ts';
import { closureAt, openUntil } from '../../calendar/calendar.ts';
import { checkDecimals, checkUnits, nearestSizes, oneOf } from '../../checks.ts';
import { amountOf, durationText, pairSymbol, timeText, whole } from '../../fields.ts';
import { defineStrategy } from '../../kernel.ts';
import type { CheckWorld, Problem, Step } from '../../kernel.ts';
import { endOf, legOf, lostOf, misfireNote, newestTime, nextDue, passedTimes } from './recurring-misfire.ts';
import { runFault } from './recurring-run-now.ts';
import { countedScheduleFields, firstOpen, occurrencesOf, smallestGapMs } from '../../calendar/schedule.ts';
import { dueSize, plannedSize, slotMs, slotsPassed, smallestSize, unfitPlan } from '../../worker/slicing.ts';
import type { SizeRule, SlicePlan } from '../../worker/slicing.ts';
import {
  checkTactics,
  jitterField,
  ladderFields,
  tacticFields,
  tacticsOf,
} from '../../worker/tactic-fields.ts';

/** Largest number of slices. At one more order of a parent that is not planned for its whole life, the controls halt the desk. */
const SLICES_MAX = 50;

/** The fields of a recurring document. */
const params = z.lazy(() =>
  z.strictObject({
    pair: pairSymbol.describe('Pair to trade, such as btcusd'),
    side: z.enum(['buy', 'sell'], { error: 'expected buy or sell' }).describe('buy or sell'),
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

const eachOf = (plan: Params): Quantity | Money =>
  plan.each_quantity === undefined
    ? money(plan.each_notional?.amount ?? '0')
    : quantity(plan.each_quantity.amount);
const currencyOf = (plan: Params): string => (plan.each_quantity ?? plan.each_notional)?.currency ?? '';

/** Returns the instant before all times of a life: its beginning, or the moment before `start_time`. */
function originOf(plan: Params, begunAt: Instant): Instant {
  const from = plan.start_time === undefined ? begunAt : after(parseTime(plan.start_time), -1);
  return from > begunAt ? from : begunAt;
}

type Slices = SlicePlan<Quantity | Money>;

/** Returns the slices of the occurrence that is due at `due`, over `durationMs` from `startMs` on; by default the whole window. */
function slicesOf(
  plan: Params,
  {
    due,
    startMs,
    durationMs = parseDuration(plan.window),
    total = eachOf(plan),
  }: {
    readonly due: Instant;
    readonly startMs: number;
    readonly durationMs?: number;
    readonly total?: Quantity | Money;
  },
  known: Precisions | undefined,
): Slices {
  const precision = plan.each_quantity === undefined ? known?.quotePrecision : known?.basePrecision;
  const seconds = Math.floor(due / 1000);
  return {
    total,
    slices: plan.slices,
    startMs,
    durationMs,
    precision: precision ?? Math.max(8, decimalsOf(total)),
    jitter: plan.jitter && {
      timePct: plan.jitter.time_pct,
      sizePct: plan.jitter.size_pct,
      seed: Math.floor(uniform(plan.jitter.seed, seconds) * 2 ** 31),
    },
  };
}

/** Returns the slices of any occurrence. Only sizes and precision are meaningful. */
const anySlices = (plan: Params, known: Precisions | undefined): Slices =>
  slicesOf(plan, { due: instant(0), startMs: 0 }, known);

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
type Under = State & { readonly now: NonNullable<State['now']> };

/** Values that stay the same from step to step. */
interface Setting {
  readonly plan: Params;
  readonly instrument: Instrument;
  readonly each: Quantity | Money;
  readonly windowMs: number;
  /** Delay after which a time counts as missed, ms. */
  readonly toleranceMs: number;
}

const settings = new WeakMap<Params, Setting>();

function settingOf(plan: Params, instrument: Instrument): Setting {
  const known = settings.get(plan);
  if (known?.instrument === instrument) return known;
  const windowMs = parseDuration(plan.window);
  // A time counts as missed once its window has ended, regardless of the tolerance.
  const toleranceMs = Math.min(parseDuration(plan.schedule.misfire_after), windowMs - 1);
  const setting = { plan, instrument, each: eachOf(plan), windowMs, toleranceMs };
  settings.set(plan, setting);
  return setting;
}

/** Additional records of a step. */
interface StepReport {
  readonly reason?: Reason | undefined;
  readonly note?: string | undefined;
  readonly missed?: NonNullable<Step<State>['missed']>;
}

/** Most steps have no additional records. */
const SILENT: StepReport = {};
const withReport = (step: Step<State>, report: StepReport): Step<State> =>
  report === SILENT ? step : { ...step, ...report };

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
  pairs: (plan) => [plan.pair],
  isReplaceable: ({ now }) => now === undefined,
  runFault,
  check,

  start(plan, begunAt, view): Step<State> {
    const first: State = { after: originOf(plan, begunAt), begun: 0 };
    const why = unfit(plan, view.instrument(plan.pair));
    return why === undefined
      ? idle(first, plan)
      : { state: first, waits: [], finished: 'invalid_plan', reason: 'invalid_plan', note: why };
  },

  step(was, wake, plan, { view }): Step<State> {
    const setting = settingOf(plan, view.instrument(plan.pair));
    if (wake.on === 'outcome') return settle(was, wake, setting);
    if (wake.on === 'run')
      return begin(
        was,
        { due: wake.at, start: wake.at, at: wake.at, report: SILENT, isExtra: true },
        setting,
      );
    return isUnderWay(was)
      ? startSlice(was, { at: wake.at, report: SILENT, slices: slicesOfNow(was, setting) }, setting)
      : takeTurn(was, wake.at, setting);
  },

  progress: ({ now }, plan) =>
    now === undefined ? undefined : { total: text(eachOf(plan)), left: now.left, currency: currencyOf(plan) },
  slots: () => [],
  slotsAt(plan, due, known) {
    const slices = slicesOf(plan, { due, startMs: due }, known);
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
    },
  occurrences: (plan, from, count) =>
    occurrencesOf(plan.schedule, { from: originOf(plan, from), count, until: endOf(plan) }),
});

const isUnderWay = (was: State): was is Under => was.now !== undefined;
const allSlices = (plan: Params, due: number): NonNullable<Step<State>['missed']> =>
  Array.from({ length: plan.slices }, (_, slice) => ({ leg: legOf(due), slice }));
const slicesOfNow = ({ now }: Under, { plan, instrument, each }: Setting): Slices =>
  slicesOf(
    plan,
    { due: instant(now.due), startMs: now.start, durationMs: now.length, total: each },
    instrument,
  );
const slotOf = (slices: Slices, k: number): Instant =>
  instant(k >= slices.slices ? slices.startMs + slices.durationMs : slotMs(slices, k));

/** Between two occurrences, waits for the next time of the schedule. */
function idle(was: State, plan: Params, report: StepReport = SILENT): Step<State> {
  const next = nextDue(plan, instant(was.after));
  if (next !== undefined) return withReport({ state: was, waits: [{ on: 'at', at: next }] }, report);
  const note = noted(report.note, `${was.begun} occurrences`);
  return { state: was, waits: [], finished: 'finished', ...report, note };
}

const noted = (first: string | undefined, more: string): string =>
  first === undefined ? more : `${first}; ${more}`;

/** Begins an occurrence when a time of the schedule has come; if several have passed, the misfire rule chooses one. */
function takeTurn(was: State, at: Instant, setting: Setting): Step<State> {
  const { plan, toleranceMs } = setting;
  const { schedule } = plan;
  const due = nextDue(plan, instant(was.after));
  // The rules of the time zone changed after this wake was planned.
  if (due === undefined || due > at) return idle(was, plan);
  const next = nextDue(plan, due);
  const isAlone = next === undefined || next > at;
  // The usual case.
  if (isAlone && at - due <= toleranceMs && closureAt(schedule, due) === undefined)
    return begin(was, { due, start: due, at, report: SILENT }, setting);
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
  const isLate = at - first > toleranceMs;
  const isSkipped = isLate && schedule.misfire === 'skip';
  const lost = lostOf(times, schedule, { first, isSkipped });
  const report: StepReport =
    lost.length > 0 || isLate
      ? {
          reason: 'missed_slot',
          note: misfireNote({ due: first, isSkipped, lateMs: at - first, lost: lost.length, isAll }),
          missed: lost.flatMap((time) => allSlices(plan, time)),
        }
      : SILENT;
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
  const { plan, windowMs, each } = setting;
  const dealtWith = isExtra ? was.after : due;
  const closure = closureAt(plan.schedule, at);
  if (closure !== undefined) {
    const missed = [...(report.missed ?? []), ...allSlices(plan, due)];
    return idle({ ...was, after: dealtWith }, plan, { reason: 'blackout', note: closure.why, missed });
  }
  const next = nextDue(plan, at) ?? Number.POSITIVE_INFINITY;
  const now = { due, start, length: Math.min(windowMs, next - start), slice: 0, left: text(each) };
  const under: Under = { after: dealtWith, begun: was.begun + 1, now };
  const slices = slicesOfNow(under, setting);
  const slot = slotOf(slices, 0);
  if (slot > at) return withReport({ state: under, waits: [{ on: 'at', at: slot }] }, report);
  return startSlice(under, { at, report, slices }, setting);
}

/** Starts the slice whose slot has come. Slots that passed, and a slot in a closed time, are not tried. */
function startSlice(
  was: Under,
  { at, report, slices }: { readonly at: Instant; readonly report: StepReport; readonly slices: Slices },
  { plan }: Setting,
): Step<State> {
  const { now } = was;
  let turn = now.slice;
  while (turn < slices.slices && slotOf(slices, turn + 1) <= at) turn++;
  const closure = turn < slices.slices ? closureAt(plan.schedule, at) : undefined;
  const next = closure === undefined ? turn : turn + 1;
  const leg = legOf(now.due);
  const all =
    next === now.slice
      ? report
      : together(report, closure?.why, passedSlots(slices, { leg, first: now.slice, end: next }));
  if (next >= slices.slices || closure !== undefined) {
    const later = onSlice(was, next);
    return next >= slices.slices
      ? endOccurrence(later, { at, report: all }, plan)
      : withReport({ state: later, waits: [{ on: 'at', at: slotOf(slices, next) }] }, all);
  }
  const size = dueSize(slices, turn, leftOf(plan, now.left), plan.catch_up === 'pace');
  const deadline = openUntil(plan.schedule, at, slotOf(slices, turn + 1));
  const step: Step<State> = {
    state: onSlice(was, turn + 1),
    waits: [{ on: 'outcome', leg, slice: turn }],
    intents: [intentOf(plan, { leg, slice: turn, size, deadline })],
  };
  return withReport(step, all);
}

const onSlice = (
  { after: dealtWith, begun, now: { due, start, length, left } }: Under,
  slice: number,
): Under => ({
  after: dealtWith,
  begun,
  now: { due, start, length, slice, left },
});

type Missed = NonNullable<StepReport['missed']>;

/** Returns the slots from `first` up to `end` as missed. */
const passedSlots = (
  slices: Slices,
  { leg, first, end }: { readonly leg: string; readonly first: number; readonly end: number },
): Missed =>
  Array.from({ length: end - first }, (_, i) => {
    const slice = first + i;
    return { leg, slice, due: slotOf(slices, slice), size: text(plannedSize(slices, slice)) };
  });

/** Adds missed slots to a report, and the closure that caused them, if any. */
const together = (report: StepReport, closedBy: string | undefined, missed: Missed): StepReport => ({
  reason: report.reason ?? (closedBy === undefined ? 'missed_slot' : 'blackout'),
  note: noted(report.note, closedBy ?? slotsPassed(missed.length)),
  missed: [...(report.missed ?? []), ...missed],
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

/** Subtracts the fill of a slice and waits for the next slot, or for the next occurrence. */
function settle(was: State, wake: Wake & { on: 'outcome' }, setting: Setting): Step<State> {
  const { plan } = setting;
  const { leg, filled, filledAmount } = wake.outcome;
  // A late trade of an ended occurrence does not affect later slices.
  const note = `${leg} is over`;
  if (!isUnderWay(was)) return idle(was, plan, { reason: 'waiting', note });
  if (leg !== legOf(was.now.due))
    return { state: was, waits: [slotWait(was, setting)], reason: 'waiting', note };
  const done = plan.each_quantity === undefined ? filledAmount : filled;
  const left = subtract(leftOf(plan, was.now.left), done);
  const now: Under = { ...was, now: { ...was.now, left: text(left) } };
  return !isAboveZero(left) || now.now.slice >= plan.slices
    ? endOccurrence(now, { at: wake.at, report: SILENT }, plan)
    : { state: now, waits: [slotWait(now, setting)] };
}

const slotWait = (was: Under, setting: Setting): Wait => ({
  on: 'at',
  at: slotOf(slicesOfNow(was, setting), was.now.slice),
});

/** Ends the occurrence, because its window is over or it is fully traded. */
function endOccurrence(
  { after: dealtWith, begun, now }: Under,
  { at, report }: { readonly at: Instant; readonly report: StepReport },
  plan: Params,
): Step<State> {
  const over: State = { after: dealtWith, begun };
  const next = isAboveZero(leftOf(plan, now.left))
    ? idle(over, plan, {
        ...report,
        reason: report.reason ?? 'window_over',
        note: noted(report.note, `${now.left} of ${text(eachOf(plan))} ${currencyOf(plan)} not traded`),
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
  const problems = [
    ...oneOf(plan, 'each_quantity', 'each_notional'),
    ...checkUnits(plan, { base: 'each_quantity', quote: 'each_notional' }, world),
    ...checkWindow(plan),
    ...checkTactics(plan, world),
  ];
  if (problems.length > 0) return problems;
  const small = checkMinimum(plan, world);
  return [...checkTimes(plan), ...(small.length > 0 ? small : checkSizes(plan, world))];
}

function checkWindow(plan: Params): readonly Problem[] {
  const end = endOf(plan);
  if (end !== undefined && plan.start_time !== undefined && end <= parseTime(plan.start_time))
    return [{ path: ['end_time'], message: 'end_time must be later than start_time' }];
  if (parseDuration(plan.window) > WINDOW_MAX_MS)
    return [{ path: ['window'], message: 'the window of an occurrence is at most seven days: P7D' }];
  return [];
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

/** Rejects a slice below the venue's minimum, and names the largest possible number of slices. */
function checkMinimum(plan: Params, world: CheckWorld): readonly Problem[] {
  const { quantity: least, notional } = world.minimum(plan.pair);
  const minimum = plan.each_quantity === undefined ? notional : least;
  const each = smallestSize(anySlices(plan, undefined));
  if (minimum === undefined || each.gte(minimum)) return [];
  const unit = currencyOf(plan);
  const most = feasibleSlices(plan, minimum);
  const fix =
    most < 1
      ? `every occurrence is below the venue's minimum of ${text(minimum)} ${unit}`
      : `${text(eachOf(plan))} ${unit} in ${plan.slices} slices is below the venue's minimum of ${text(minimum)} ${unit} each: write slices: ${most} or fewer`;
  const field = plan.each_quantity === undefined ? 'each_notional' : 'each_quantity';
  return [{ path: most < 1 ? [field] : ['slices'], message: fix }];
}

function feasibleSlices(plan: Params, minimum: Quantity | Money): number {
  const smallest = scale(eachOf(plan), ratioOf(100 - (plan.jitter?.size_pct ?? 0)));
  return approximate(roundDown(fraction(smallest, scale(minimum, ratioOf(100))), 0));
}

/** Returns why no occurrence can trade with the known precision and minimum; `undefined` if it can. */
function unfit(plan: Params, instrument: Instrument): string | undefined {
  return unfitPlan(anySlices(plan, instrument), sizeRuleOf(plan, instrument.minimum, instrument));
}

const sizeRuleOf = (
  plan: Params,
  minimum: Minimum,
  { base, quote }: Pick<Instrument, 'base' | 'quote'>,
): SizeRule => ({
  ...(plan.each_quantity === undefined
    ? { unit: quote, minimum: minimum.notional }
    : { unit: base, minimum: minimum.quantity }),
  what: 'each occurrence',
});

/** Reports what the desk would reject when the strategy begins, as far as its decimals are known, and suggests usable sizes. */
function checkSizes(plan: Params, world: CheckWorld): readonly Problem[] {
  const known = world.precisions(plan.pair);
  const names = world.currencies(plan.pair);
  const precision = plan.each_quantity === undefined ? known.quotePrecision : known.basePrecision;
  if (names === undefined || precision === undefined) return [];
  const fields = { base: 'each_quantity', quote: 'each_notional' } as const;
  const slices = anySlices(plan, known);
  const rule = sizeRuleOf(plan, world.minimum(plan.pair), names);
  const isUsable = (total: Quantity | Money): boolean => unfitPlan({ ...slices, total }, rule) === undefined;
  const decimals = checkDecimals(plan, fields, { world, isUsable });
  const why = decimals.length > 0 ? undefined : unfitPlan(slices, rule);
  if (why === undefined) return decimals;
  const [more] = nearestSizes(slices.total, precision, isUsable);
  const fix = more === undefined ? '' : `, or ${text(more)} ${rule.unit} or more each time`;
  return [{ path: ['slices'], message: `${why}: write fewer slices${fix}` }];
}
