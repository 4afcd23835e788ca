import { z } from 'zod';
import type { Instrument } from '../core/instrument.ts';
import { money, price, quantity, subtract, text } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import type { Reason } from '../core/reasons.ts';
import { after, instant, parseDuration } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Size } from '../core/venue.ts';
import type { Intent, Wait, Wake } from '../core/wake.ts';
import { closureAt, openUntil } from './calendar.ts';
import { defineStrategy } from './kernel.ts';
import type { Step } from './kernel.ts';
import { check, unfit } from './recurring-check.ts';
import { anySlices, currencyOf, eachOf, endOf, originOf, params, slicesOf } from './recurring-fields.ts';
import type { Params, Slices } from './recurring-fields.ts';
import { legOf, lostOf, misfireNote, newestTime, nextDue, passedTimes } from './recurring-misfire.ts';
import { occurrencesOf } from './schedule.ts';
import { dueSize, plannedSize, slotMs, slotsPassed } from './slicing.ts';
import { tacticsOf } from './tactic-fields.ts';

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
  readonly each: Quantity | Money;
  readonly windowMs: number;
  /** Later than this, a time has passed. */
  readonly toleranceMs: number;
}

const settings = new WeakMap<Params, Setting>();

function settingOf(plan: Params, instrument: Instrument): Setting {
  const known = settings.get(plan);
  if (known?.instrument === instrument) return known;
  const windowMs = parseDuration(plan.window);
  // Once its window is over, a time has passed whatever the tolerance says.
  const toleranceMs = Math.min(parseDuration(plan.schedule.misfire_after), windowMs - 1);
  const setting = { plan, instrument, each: eachOf(plan), windowMs, toleranceMs };
  settings.set(plan, setting);
  return setting;
}

/** What a step tells besides what it does. */
interface Told {
  readonly reason?: Reason | undefined;
  readonly note?: string | undefined;
  readonly missed?: NonNullable<Step<State>['missed']>;
}

/** Most steps have nothing to tell. */
const SILENT: Told = {};
const telling = (step: Step<State>, told: Told): Step<State> =>
  told === SILENT ? step : { ...step, ...told };

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
    const setting = settingOf(plan, view.instrument(plan.pair));
    if (wake.on === 'outcome') return settle(was, wake, setting);
    return isUnderWay(was)
      ? startSlice(was, { at: wake.at, told: SILENT, slices: slicesOfNow(was, setting) }, setting)
      : takeTurn(was, wake.at, setting);
  },

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
      probes: plan.size_ladder.probes,
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

/** Between two occurrences: waits for the next time of the schedule. */
function idle(was: State, plan: Params, told: Told = SILENT): Step<State> {
  const next = nextDue(plan, instant(was.after));
  if (next !== undefined) return telling({ state: was, waits: [{ on: 'at', at: next }] }, told);
  const note = noted(told.note, `${was.begun} occurrences`);
  return { state: was, waits: [], finished: 'finished', ...told, note };
}

const noted = (first: string | undefined, more: string): string =>
  first === undefined ? more : `${first}; ${more}`;

/** A time of the schedule has come, or several have passed: begins one of them, as the misfire rule says. */
function takeTurn(was: State, at: Instant, setting: Setting): Step<State> {
  const { plan, toleranceMs } = setting;
  const { schedule } = plan;
  const due = nextDue(plan, instant(was.after));
  // The clocks of the zone were decided anew since this wake was planned.
  if (due === undefined || due > at) return idle(was, plan);
  const next = nextDue(plan, due);
  const isAlone = next === undefined || next > at;
  // Nearly always.
  if (isAlone && at - due <= toleranceMs && closureAt(schedule, due) === undefined)
    return begin(was, { due, start: due, at, told: SILENT }, setting);
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
  const told: Told =
    lost.length > 0 || isLate
      ? {
          reason: 'misfire',
          note: misfireNote({ due: first, isSkipped, lateMs: at - first, lost: lost.length, isAll }),
          missed: slicesAt(plan, lost),
        }
      : SILENT;
  if (isSkipped) return idle({ ...was, after: first }, plan, told);
  return begin(was, { due: first, start: isLate ? at : first, at, told }, setting);
}

interface Beginning {
  readonly due: Instant;
  /** When its window begins. */
  readonly start: Instant;
  readonly at: Instant;
  readonly told: Told;
}

/** Begins the occurrence that is due at `due`, unless the calendar is closed by now. */
function begin(was: State, { due, start, at, told }: Beginning, setting: Setting): Step<State> {
  const { plan, windowMs, each } = setting;
  const closure = closureAt(plan.schedule, at);
  if (closure !== undefined) {
    const missed = [...(told.missed ?? []), ...allSlices(plan, due)];
    return idle({ ...was, after: due }, plan, { reason: 'blackout', note: closure.why, missed });
  }
  const next = nextDue(plan, at) ?? Number.POSITIVE_INFINITY;
  const now = { due, start, length: Math.min(windowMs, next - start), slice: 0, left: text(each) };
  const under: Under = { after: due, begun: was.begun + 1, now };
  const slices = slicesOfNow(under, setting);
  const slot = slotOf(slices, 0);
  if (slot > at) return telling({ state: under, waits: [{ on: 'at', at: slot }] }, told);
  return startSlice(under, { at, told, slices }, setting);
}

const slicesAt = (plan: Params, times: readonly Instant[]): Missed =>
  times.flatMap((due) => allSlices(plan, due));

/** A slot of the occurrence under way has come. Slots that passed, and one that the calendar closes, are not tried. */
function startSlice(
  was: Under,
  { at, told, slices }: { readonly at: Instant; readonly told: Told; readonly slices: Slices },
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
      ? told
      : together(told, closure?.why, passedSlots(slices, { leg, first: now.slice, end: next }));
  if (next >= slices.slices || closure !== undefined) {
    const later = onSlice(was, next);
    return next >= slices.slices
      ? endOccurrence(later, { at, told: all }, plan)
      : telling({ state: later, waits: [{ on: 'at', at: slotOf(slices, next) }] }, all);
  }
  const size = dueSize(slices, turn, leftOf(plan, now.left), plan.catch_up === 'pace');
  const deadline = openUntil(plan.schedule, at, slotOf(slices, turn + 1));
  const step: Step<State> = {
    state: onSlice(was, turn + 1),
    waits: [{ on: 'outcome', leg, slice: turn }],
    intents: [intentOf(plan, { leg, slice: turn, size, deadline })],
  };
  return telling(step, all);
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
    ? endOccurrence(now, { at: wake.at, told: SILENT }, plan)
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
