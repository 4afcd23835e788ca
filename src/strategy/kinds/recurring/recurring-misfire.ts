import { isoOf, instant, MINUTE_MS } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import { nextTime, timesAfter } from '../../calendar/schedule.ts';
import type { CountedSchedule } from '../../calendar/schedule.ts';
import { endOf } from '../../worker/window.ts';

/** Times of a recurring document that passed while nothing ran, and how they are handled. */

/** Number of newest missed times that can be made up for after a longer downtime. */
const PASSED_MAX = 31;

/** The fields of a document that determine when its occurrences are due. */
interface Timetable {
  readonly schedule: CountedSchedule;
  readonly end_time?: string | undefined;
}

/** Returns the name of the parent of the occurrence that is due at `due`, Unix ms. */
export const legOf = (due: number): string => isoOf(instant(due));

/** Returns the first time of the plan after `at`. */
export function nextDue(plan: Timetable, at: Instant): Instant | undefined {
  const next = nextTime(plan.schedule, at);
  const end = endOf(plan);
  return next === undefined || (end !== undefined && next >= end) ? undefined : next;
}

export interface Passed {
  /** The newest open times, oldest first. */
  readonly times: readonly Instant[];
  /** Whether no older open time also passed. */
  readonly isAll: boolean;
}

/** Returns the newest open times after `from` and up to `at`, regardless of how many closed times lie in between. */
export function passedTimes(plan: Timetable, from: Instant, at: Instant): Passed {
  const times = openTimes(plan, { from, upTo: at, most: PASSED_MAX + 1 });
  if (times.length <= PASSED_MAX) return { times, isAll: true };
  // If there are many times, searches for the newest from the end, over increasing spans.
  for (let spanMs = MINUTE_MS; ; spanMs *= 2) {
    const since = instant(Math.max(from, at - spanMs));
    const newest = openTimes(plan, { from: since, upTo: at, most: Number.POSITIVE_INFINITY });
    if (newest.length >= PASSED_MAX) return { times: newest.slice(-PASSED_MAX), isAll: false };
  }
}

interface Span {
  readonly from: Instant;
  readonly upTo: Instant;
  readonly most: number;
}

/** Returns the first `most` open times of a span. All times that one closure covers take one step of the search. */
function openTimes(plan: Timetable, { from, upTo, most }: Span): readonly Instant[] {
  const end = endOf(plan) ?? Number.POSITIVE_INFINITY;
  const times: Instant[] = [];
  for (const { at, closed } of timesAfter(plan.schedule, from)) {
    if (at > upTo || at >= end || times.length >= most) break;
    if (closed === undefined) times.push(at);
  }
  return times;
}

/** Returns the newest time after `from` and up to `at`, open or closed. There must be such a time. */
export function newestTime(plan: Timetable, from: Instant, at: Instant): Instant {
  let newest: Instant | undefined;
  for (let spanMs = MINUTE_MS; newest === undefined; spanMs *= 2) {
    let next = nextDue(plan, instant(Math.max(from, at - spanMs)));
    for (; next !== undefined && next <= at; next = nextDue(plan, next)) newest = next;
  }
  return newest;
}

/** Returns the times that get no trade. */
export const lostOf = (
  times: readonly Instant[],
  { misfire }: CountedSchedule,
  { first, isSkipped }: Pick<Misfire, 'isSkipped'> & { readonly first: Instant },
): readonly Instant[] =>
  times.filter((due) => (misfire === 'all' ? due < first : due !== first || isSkipped));

interface Misfire {
  readonly due: Instant;
  readonly isSkipped: boolean;
  readonly lateMs: number;
  readonly lost: number;
  /** Whether no older time also passed. */
  readonly isAll: boolean;
}

export function misfireNote({ due, isSkipped, lateMs, lost, isAll }: Misfire): string {
  const others = `${isAll ? '' : 'more than '}${lost} times passed`;
  const late = `due ${legOf(due)}, ${Math.round(lateMs / 1000)} s ago`;
  if (isSkipped) return `${others}; the last was ${late}`;
  return lost > 0 || !isAll ? `runs the one ${late}; ${others} without a trade` : `runs the one ${late}`;
}
