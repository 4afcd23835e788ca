import { Cron } from 'croner';
import { z } from 'zod';
import { after, checkZone, DAY_MS, instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { checkHours, closureAt, hours } from './calendar.ts';
import { durationText } from './fields.ts';
import type { Occurrence } from './kernel.ts';

/** When a strategy is due on a calendar. croner only reads the expression, on a clock without zones: Temporal does the rest. */
const shape = {
  cron: z
    .string()
    .describe(
      'Cron expression of five or six fields, such as "0 9 * * 1-5"; L is the last day of a month. A time that a clock change skips runs right after it, one that it repeats runs once; with * as the hour the schedule goes by elapsed time',
    ),
  ...hours,
  misfire: z
    .enum(['skip', 'once'])
    .default('skip')
    .describe(
      'When the daemon was down at the time. skip: wait for the next. once: run once as soon as it is up',
    ),
  misfire_after: durationText.default('PT1M').describe('Later than this counts as a misfire, ISO 8601'),
};

type Raw = z.output<z.ZodObject<typeof shape>>;

function checkSchedule(schedule: Omit<Raw, 'misfire'>, context: z.RefinementCtx): void {
  const refuse = (path: readonly (string | number)[], message: string): void => {
    context.addIssue({ code: 'custom', path: [...path], message });
  };
  checkHours(schedule, refuse);
  try {
    checkZone(schedule.time_zone);
  } catch (cause) {
    refuse(['time_zone'], cause instanceof Error ? cause.message : 'unknown zone');
  }
  try {
    if (nextWall(schedule.cron, 0) === undefined) refuse(['cron'], 'this expression never comes true');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /u, '') : '';
    refuse(['cron'], `not a cron expression, such as "0 9 * * 1-5": ${why}`);
  }
}

export const scheduleFields = z.strictObject(shape).superRefine(checkSchedule);
/** A schedule whose every time counts by itself, so that missed ones can be made up for one by one. */
export const countedScheduleFields = z
  .strictObject({
    ...shape,
    misfire: z
      .enum(['skip', 'once', 'all'])
      .default('skip')
      .describe(
        'When nothing could run at the time. skip: wait for the next. once: run once, however many were missed. all: run each that was missed, the oldest first, at least 30 s apart, at most the newest 31',
      ),
  })
  .superRefine(checkSchedule);
export type Schedule = z.output<typeof scheduleFields>;
export type CountedSchedule = z.output<typeof countedScheduleFields>;
/** What says when a schedule is due. */
type Due = Pick<Schedule, 'cron' | 'time_zone'>;

/**
 * First time of the schedule strictly after `at`; `undefined` when there is none. Each local time runs once: one that a
 * clock change skips runs at the first moment after it, together with the others that it skips, and one that it repeats
 * runs the first time. With `*` as its hour a schedule goes by elapsed time: it runs in both passes of a repeated hour, and
 * not at all in a skipped one.
 */
export function nextTime(schedule: Due, at: Instant): Instant | undefined {
  const zone = schedule.time_zone;
  const isElapsed = goesByElapsedTime(schedule.cron);
  let wall = wallOf(at, zone);
  // In the second pass of a repeated hour the times of the first lie behind: they are passed over.
  for (let n = 0; n < REPEATED_MAX; n++) {
    const next = nextWall(schedule.cron, wall);
    if (next === undefined) return undefined;
    const { passes, isSkipped } = instantsOf(next, zone);
    const due = isElapsed
      ? passes.find((one) => one > at && !isSkipped)
      : passes.slice(0, 1).find((one) => one > at);
    if (due !== undefined) return isElapsed ? earlierPass(schedule, { at, due }) : due;
    wall = next;
  }
  return undefined;
}

/** More times than are ever repeated or skipped, were there one every second: an island once left out a whole day. */
const REPEATED_MAX = 100_000;

/** By elapsed time, a time of the second pass may come before the next one of the clock: looked for from where it begins. */
function earlierPass(schedule: Due, { at, due }: { readonly at: Instant; readonly due: Instant }): Instant {
  const zone = schedule.time_zone;
  const local = zoned(at, zone);
  // Asking for the next change is slow, and mostly there is none so soon.
  if (local.offsetNanoseconds === zoned(due, zone).offsetNanoseconds) return due;
  const change = local.getTimeZoneTransition('next')?.epochMilliseconds;
  if (change === undefined || change > due) return due;
  const began = instant(change);
  const next = nextWall(schedule.cron, wallOf(began, zone) - 1);
  const passes = next === undefined ? [] : instantsOf(next, zone).passes;
  return passes.find((one) => one >= began && one > at && one < due) ?? due;
}

/** Whether the hour is a wildcard: such a schedule means "every so often", not "at this time of the day". */
const goesByElapsedTime = (cron: string): boolean => {
  const fields = cron.trim().split(/\s+/u);
  return fields.length === 1 ? fields[0] === '@hourly' : fields[fields.length === 5 ? 1 : 2] === '*';
};

const patterns = new Map<string, Cron>();
const PATTERNS_MAX = 2_000;

/** Next match strictly after `wall`. Both are readings of a clock, written as if they were UTC, ms. @throws what croner says of `cron`. */
function nextWall(cron: string, wall: number): number | undefined {
  let pattern = patterns.get(cron);
  if (pattern === undefined) {
    pattern = new Cron(cron, { utcOffset: 0, paused: true });
    if (patterns.size >= PATTERNS_MAX) patterns.clear();
    patterns.set(cron, pattern);
  }
  return pattern.nextRun(new Date(wall))?.getTime();
}

/** Gaps that are measured: a pattern shows itself soon. */
const GAPS = 12;

/** The smallest of the next gaps between two times of `cron` on a clock that nobody sets, ms; `undefined` when there is none. */
export function smallestGapMs(cron: string, from: Instant): number | undefined {
  let smallest: number | undefined;
  let wall = nextWall(cron, from);
  for (let n = 0; n < GAPS && wall !== undefined; n++) {
    const next = nextWall(cron, wall);
    if (next !== undefined) smallest = Math.min(smallest ?? Number.POSITIVE_INFINITY, next - wall);
    wall = next;
  }
  return smallest;
}

const zoned = (at: Instant, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone);

/** What the clock of `zone` shows, as if it were UTC, ms. */
function wallOf(at: Instant, zone: string): number {
  const local = zoned(at, zone);
  return local.epochMilliseconds + Math.round(local.offsetNanoseconds / 1e6);
}

/** The moments at which the clock of `zone` shows `wall`: one, or two in a repeated hour. A skipped time has the end of its gap. */
function instantsOf(
  wall: number,
  zone: string,
): { readonly passes: readonly Instant[]; readonly isSkipped: boolean } {
  const plain = Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime();
  const first = plain.toZonedDateTime(zone, { disambiguation: 'earlier' });
  const second = plain.toZonedDateTime(zone, { disambiguation: 'later' });
  const isSkipped = !first.toPlainDateTime().equals(plain);
  const found = isSkipped ? [first.getTimeZoneTransition('next') ?? second] : [first, second];
  const passes = [...new Set(found.map((one) => instant(one.epochMilliseconds)))];
  return { passes, isSkipped };
}

/** A time of a schedule, and why nothing runs then; `closed` is undefined when it runs. */
export interface Time {
  readonly at: Instant;
  readonly closed?: string | undefined;
}

/** Looks at each time of `schedule` after `from`, and passes over what a closure covers with one look. */
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

/** Closures that are looked behind for an open time: more means that there is none. */
const LOOKS_MAX = 3_000;

/** The first open time after `from` and before `until`; otherwise why the first time is closed, if there is one. */
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

const YEAR_MS = 366 * DAY_MS;

/** The next `count` open times after `from` and before `until`; when none comes within a year, the first one and why it is closed. */
export function occurrencesOf(
  schedule: Omit<Schedule, 'misfire'>,
  {
    from,
    count,
    until = after(from, YEAR_MS),
  }: { readonly from: Instant; readonly count: number; readonly until?: Instant | undefined },
): readonly Occurrence[] {
  const found: Occurrence[] = [];
  let at = from;
  while (found.length < count) {
    const next = firstOpen(schedule, { from: at, until });
    if (next === undefined || (next.closed !== undefined && found.length > 0)) break;
    found.push({ ...next, zone: schedule.time_zone });
    if (next.closed !== undefined) break;
    ({ at } = next);
  }
  return found;
}
