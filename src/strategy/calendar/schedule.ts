import { Cron } from 'croner';
import { z } from 'zod';
import { after, DAY_MS, HOUR_MS, instant, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { checkHours, closureAt, hours } from './calendar.ts';
import type { Hours } from './calendar.ts';
import { durationText, reads, timeText } from '../fields.ts';
import type { Occurrence } from '../kernel.ts';
import { nextPeriod, parsePeriod } from './period.ts';
import { nextRolled } from './business-day-convention.ts';
import { instantsOf, wallTimeOf, zoned } from './zoned-time.ts';

/**
 * The fields of a schedule. The library croner only evaluates the expression, on a clock without zones; Temporal
 * handles the zones.
 */
const shape = () => ({
  cron: z
    .string()
    .describe(
      'Cron expression of five or six fields, such as "0 9 * * 1-5"; L is the last day of a month. If a clock change skips a time, the strategy runs immediately after the change; if a clock change repeats a time, the strategy runs once. With * as the hour, the schedule follows elapsed time. Give this, or every and first',
    )
    .optional(),
  every: z
    .string()
    .superRefine(reads(parsePeriod))
    .describe(
      'Period to use instead of cron, ISO 8601: P2W and P1M, for example, follow the calendar, and PT36H follows elapsed time. In months without a 31st, the 31st means the last day',
    )
    .optional(),
  first: timeText.describe('First time when every is given, with its zone').optional(),
  roll: z
    .enum(['none', 'next', 'previous', 'next_in_month'], {
      error: 'expected none, next, previous or next_in_month',
    })
    .default('none')
    .describe(
      'Business day convention for a time that falls on a weekend or a holiday of calendar. none: nothing runs. next: it moves to the same time on the next business day. previous: it moves to the previous business day. next_in_month: it moves to the next business day, or to the previous one if the next is in another month',
    ),
  ...hours(),
  misfire: z
    .enum(['skip', 'once'])
    .default('skip')
    .describe(
      'If the daemon was down at a scheduled time: skip waits for the next time; once runs once as soon as the daemon is up',
    ),
  misfire_after: durationText
    .default('PT1M')
    .describe('Delay after which a scheduled time counts as missed, ISO 8601'),
});

type Raw = z.output<z.ZodObject<ReturnType<typeof shape>>>;

function checkSchedule(schedule: Omit<Raw, 'misfire'>, context: z.RefinementCtx, isOpen = false): void {
  const refuse = (path: readonly (string | number)[], message: string): void => {
    context.addIssue({ code: 'custom', path: [...path], message });
  };
  checkHours(schedule, refuse);
  if (!isOpen || hasTimes(schedule) || schedule.first !== undefined) checkDue(schedule, refuse);
  if (schedule.roll === 'none') return;
  if (schedule.calendar === undefined)
    refuse(['roll'], 'roll needs calendar: without one every day is a business day');
  else if ((smallestGapMs(schedule, instant(0)) ?? DAY_MS) < ROLL_GAP_MS)
    refuse(['roll'], 'roll is for schedules that run at most once a day');
}

/** Smallest gap between times that roll: a day, which may have 23 hours. */
const ROLL_GAP_MS = 20 * HOUR_MS;

/** Whether a schedule has times, not only closed hours. */
export const hasTimes = ({ cron, every }: Pick<Raw, 'cron' | 'every'>): boolean =>
  cron !== undefined || every !== undefined;

type Refuse = (path: readonly (string | number)[], message: string) => void;

function checkDue({ cron, every, first }: Omit<Raw, 'misfire'>, refuse: Refuse): void {
  if (!hasTimes({ cron, every })) refuse([], 'give cron, or every with first');
  if (cron !== undefined && every !== undefined)
    refuse(['every'], 'give either cron or every, not both: remove one');
  if (every !== undefined && first === undefined)
    refuse([], 'every needs first: its first time, such as "2026-12-01T09:00:00[Europe/London]"');
  if (cron !== undefined && first !== undefined && every === undefined)
    refuse(['first'], 'first belongs to every: remove it, or replace cron with every');
  if (cron === undefined) return;
  try {
    if (nextWall(cron, 0) === undefined) refuse(['cron'], 'this expression matches no time');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /u, '') : '';
    refuse(['cron'], `not a cron expression, such as "0 9 * * 1-5": ${why}`);
  }
}

export const scheduleFields = z.lazy(() =>
  z.strictObject(shape()).superRefine((schedule, context) => {
    checkSchedule(schedule, context);
  }),
);
/** A schedule that may have closed hours only, for a strategy that otherwise decides at every price. */
export const openScheduleFields = z.lazy(() =>
  z.strictObject(shape()).superRefine((schedule, context) => {
    checkSchedule(schedule, context, true);
  }),
);
/** A schedule whose times count separately, so that a strategy can make up missed times one by one. */
export const countedScheduleFields = z.lazy(() =>
  z
    .strictObject({
      ...shape(),
      misfire: z
        .enum(['skip', 'once', 'all'])
        .default('skip')
        .describe(
          'If the strategy could not run at a scheduled time: skip waits for the next time; once runs once, regardless of how many were missed; all runs each missed time, oldest first, at least 30 s apart, at most the newest 31',
        ),
    })
    .superRefine((schedule, context) => {
      checkSchedule(schedule, context);
    }),
);
export type Schedule = z.output<typeof scheduleFields>;
export type CountedSchedule = z.output<typeof countedScheduleFields>;
/** The fields that determine when a schedule is due. */
type Due = Pick<Schedule, 'time_zone'> &
  Partial<Pick<Schedule, 'cron' | 'every' | 'first' | 'roll'>> &
  Partial<Hours>;
type CronDue = { readonly cron: string; readonly time_zone: string };

/** Returns the first time of the schedule strictly after `at`, moved as `roll` states; `undefined` if there is none. */
export function nextTime(schedule: Due, at: Instant): Instant | undefined {
  const { roll = 'none', calendar } = schedule;
  if (roll === 'none' || calendar === undefined) return nextUnrolled(schedule, at);
  const { blackouts = [], quiet_hours = [], ...rest } = schedule;
  return nextRolled({ ...rest, blackouts, quiet_hours, roll }, at, (from) => nextUnrolled(schedule, from));
}

function nextUnrolled(schedule: Due, at: Instant): Instant | undefined {
  const { cron, every, first, time_zone: zone } = schedule;
  if (cron !== undefined) return knownCron(schedule, cron, at);
  if (every === undefined || first === undefined) return undefined;
  return nextPeriod({ every, from: parseTime(first), zone }, at);
}

/** The latest results by schedule, because one step of a strategy needs the same times more than once. */
const lookedUp = new WeakMap<Due, Map<Instant, Instant | undefined>>();
const LOOKED_UP_MAX = 16;

function knownCron(schedule: Due, cron: string, at: Instant): Instant | undefined {
  let known = lookedUp.get(schedule);
  if (known === undefined || known.size >= LOOKED_UP_MAX) {
    known = new Map<Instant, Instant | undefined>();
    lookedUp.set(schedule, known);
  }
  if (known.has(at)) return known.get(at);
  const next = nextCron({ cron, time_zone: schedule.time_zone }, at);
  known.set(at, next);
  return next;
}

/**
 * Returns the first time of the expression strictly after `at`; `undefined` when there is none. Each local time runs
 * once. Local times that a clock change skips run together at the end of the gap, and a repeated local time runs on its
 * first occurrence. A schedule with `*` as its hour follows elapsed time, so it runs in both passes of a repeated hour,
 * and not at all in a skipped hour.
 */
function nextCron(schedule: CronDue, at: Instant): Instant | undefined {
  const zone = schedule.time_zone;
  const { isElapsed } = patternOf(schedule.cron);
  let wall = wallTimeOf(at, zone);
  // In the second pass of a repeated hour, the times of the first pass are over, so the loop skips them.
  for (let n = 0; n < REPEATED_MAX; n++) {
    const next = nextWall(schedule.cron, wall);
    if (next === undefined) return undefined;
    const { passes, isSkipped } = instantsOf(next, zone);
    const due = isElapsed
      ? passes.find((one) => one > at && !isSkipped)
      : passes.slice(0, 1).find((one) => one > at);
    if (due !== undefined) return isElapsed && zone !== 'UTC' ? earlierPass(schedule, { at, due }) : due;
    wall = next;
  }
  return undefined;
}

/** More times than a clock change repeats or skips, even with a time every second. An island once skipped a whole day. */
const REPEATED_MAX = 100_000;

/**
 * For schedules that follow elapsed time: returns the first time of a repeated hour's second pass if it comes before
 * `due`, otherwise `due`.
 */
function earlierPass(
  schedule: CronDue,
  { at, due }: { readonly at: Instant; readonly due: Instant },
): Instant {
  const zone = schedule.time_zone;
  const local = zoned(at, zone);
  // Finding the next clock change is slow, and usually there is none so near.
  if (local.offsetNanoseconds === zoned(due, zone).offsetNanoseconds) return due;
  const change = local.getTimeZoneTransition('next')?.epochMilliseconds;
  if (change === undefined || change > due) return due;
  const began = instant(change);
  const next = nextWall(schedule.cron, wallTimeOf(began, zone) - 1);
  const passes = next === undefined ? [] : instantsOf(next, zone).passes;
  return passes.find((one) => one >= began && one > at && one < due) ?? due;
}

/** Whether the hour is a wildcard. Such a schedule means "at this interval", not "at this time of the day". */
const goesByElapsedTime = (cron: string): boolean => {
  const fields = cron.trim().split(/\s+/u);
  return fields.length === 1 ? fields[0] === '@hourly' : fields[fields.length === 5 ? 1 : 2] === '*';
};

interface Pattern {
  readonly cron: Cron;
  /** The times of a day, ms after midnight, if every day has the same ones. */
  readonly daily: readonly number[] | undefined;
  readonly isElapsed: boolean;
}
const patterns = new Map<string, Pattern>();
const PATTERNS_MAX = 2_000;
/** Largest number of cached times of a day: one per minute. */
const DAILY_MAX = 1_440;

/** Returns a compiled expression, cached. @throws the error of croner. */
function patternOf(text: string): Pattern {
  const known = patterns.get(text);
  if (known !== undefined) return known;
  const cron = new Cron(text, { utcOffset: 0, paused: true });
  const pattern = { cron, daily: dailyOf(text, cron), isElapsed: goesByElapsedTime(text) };
  if (patterns.size >= PATTERNS_MAX) patterns.clear();
  patterns.set(text, pattern);
  return pattern;
}

/** Returns the times of a day for an expression that restricts neither day nor month; `undefined` for any other. */
function dailyOf(text: string, cron: Cron): readonly number[] | undefined {
  const fields = text.trim().split(/\s+/u);
  if (fields.length < 5 || fields.length > 6 || fields.slice(-3).some((field) => field !== '*'))
    return undefined;
  const times: number[] = [];
  for (let at = cron.nextRun(new Date(-1_000))?.getTime(); at !== undefined && at < DAY_MS;) {
    if (times.push(at) > DAILY_MAX) return undefined;
    at = cron.nextRun(new Date(at))?.getTime();
  }
  return times.length === 0 ? undefined : times;
}

/** Returns the next match strictly after `wall`. Both are local times written as UTC, ms. @throws the error of croner. */
function nextWall(text: string, wall: number): number | undefined {
  const { cron, daily } = patternOf(text);
  if (daily === undefined) return cron.nextRun(new Date(wall))?.getTime();
  const midnight = Math.floor(wall / DAY_MS) * DAY_MS;
  let [low, high] = [0, daily.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (midnight + (daily[middle] ?? 0) > wall) high = middle;
    else low = middle + 1;
  }
  return low < daily.length ? midnight + (daily[low] ?? 0) : midnight + DAY_MS + (daily[0] ?? 0);
}

/** Number of gaps to measure, because expressions soon repeat. */
const GAPS = 12;

/** Returns the smallest of the next gaps between two times in UTC, before they roll, ms; `undefined` when there is none. */
export function smallestGapMs(
  { cron, every, first }: Partial<Pick<Schedule, 'cron' | 'every' | 'first'>>,
  from: Instant,
): number | undefined {
  let smallest: number | undefined;
  const nextOf = (at: Instant): Instant | undefined =>
    nextUnrolled({ cron, every, first, time_zone: 'UTC' }, at);
  let at = nextOf(from);
  for (let n = 0; n < GAPS && at !== undefined; n++) {
    const next = nextOf(at);
    if (next !== undefined) smallest = Math.min(smallest ?? Number.POSITIVE_INFINITY, next - at);
    at = next;
  }
  return smallest;
}

/** A time of a schedule, and why nothing runs then; `closed` is undefined if it runs. */
export interface Time {
  readonly at: Instant;
  readonly closed?: string | undefined;
}

/** Yields the times of `schedule` after `from`. Of the times that one closure covers, yields only the first. */
export function* timesAfter(schedule: Omit<Schedule, 'misfire'>, from: Instant): Generator<Time> {
  let at: Instant | undefined = from;
  for (;;) {
    at = nextTime(schedule, at);
    if (at === undefined) return;
    const closure = closureAt(schedule, at);
    yield { at, closed: closure?.why };
    if (closure !== undefined) at = after(at, Math.max(0, closure.until - at - 1));
  }
}

/** Returns the times of `schedule` after `from` and before `until`, including closed ones, at most `most`. */
export function timesBetween(
  schedule: Omit<Schedule, 'misfire'>,
  { from, until, most }: { readonly from: Instant; readonly until: Instant; readonly most: number },
): readonly Time[] {
  const found: Time[] = [];
  let at = nextTime(schedule, from);
  while (at !== undefined && at < until && found.length < most) {
    found.push({ at, closed: closureAt(schedule, at)?.why });
    at = nextTime(schedule, at);
  }
  return found;
}

/** Largest number of times to check for an open one. Beyond it, there is none. */
const LOOKS_MAX = 3_000;

/** Returns the first open time after `from` and before `until`; if there is none, the first closed time and its reason. */
export function firstOpen(
  schedule: Omit<Schedule, 'misfire'>,
  { from, until }: { readonly from: Instant; readonly until: Instant },
): Time | undefined {
  let first: Time | undefined;
  let looks = 0;
  for (const time of timesAfter(schedule, from)) {
    if (time.at >= until || looks++ > LOOKS_MAX) break;
    if (time.closed === undefined) return time;
    first ??= time;
  }
  return first;
}

/** Cron matches a day by either field where both name days: what reads like "and" means "or". */
function eitherDay(cron = ''): string | undefined {
  const [month, , week] = cron.trim().split(/\s+/u).slice(-3);
  const isOr = week !== undefined && [month, week].every((field) => field !== '*' && field !== '?');
  return isOr ? `runs on days of the month ${month} and, besides, on weekdays ${week}` : undefined;
}

/** From one 29 February to the next there may be eight years: 2096 to 2104. */
const LOOKED_MS = 9 * 366 * DAY_MS;

/**
 * Returns the next `count` open times after `from` and before `until` (default: nine years after `from`); if there is none, the
 * first closed time and its reason.
 */
export function occurrencesOf(
  schedule: Omit<Schedule, 'misfire'>,
  {
    from,
    count,
    until = after(from, LOOKED_MS),
  }: { readonly from: Instant; readonly count: number; readonly until?: Instant | undefined },
): readonly Occurrence[] {
  const found: Occurrence[] = [];
  let at = from;
  while (found.length < count) {
    const next = firstOpen(schedule, { from: at, until });
    if (next === undefined || (next.closed !== undefined && found.length > 0)) break;
    found.push({ ...next, zone: schedule.time_zone, note: eitherDay(schedule.cron) });
    if (next.closed !== undefined) break;
    ({ at } = next);
  }
  return found;
}
