import { isoOf, instant, MINUTE_MS } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { closureAt } from './calendar.ts';
import { endOf } from './recurring-fields.ts';
import type { Params } from './recurring-fields.ts';
import { nextTime } from './schedule.ts';

/** Times of a recurring document that passed while nothing ran, and what becomes of them. */

/** Times that a longer downtime leaves to make up for: the newest. */
const PASSED_MAX = 31;

/** Names the parent of the occurrence that is due at `due`, Unix ms. */
export const legOf = (due: number): string => isoOf(instant(due));

/** The first time after `at` that the plan has. */
export function nextDue(plan: Params, at: Instant): Instant | undefined {
  const next = nextTime(plan.schedule, at);
  const end = endOf(plan);
  return next === undefined || (end !== undefined && next >= end) ? undefined : next;
}

export interface Passed {
  readonly times: readonly Instant[];
  readonly isAll: boolean;
}

/** The newest times after `from` and up to `at`, oldest first; `isAll` is false when there are more. */
export function passedTimes(plan: Params, from: Instant, at: Instant): Passed {
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

/** Those at which the calendar is open. */
export const openTimes = (schedule: Params['schedule'], passed: readonly Instant[]): readonly Instant[] =>
  passed.filter((due) => closureAt(schedule, due) === undefined);

/** Those of `times` that get no trade, or none any more. */
export const lostOf = (
  times: readonly Instant[],
  { misfire }: Params['schedule'],
  { first, isSkipped }: Pick<Misfire, 'isSkipped'> & { readonly first: Instant },
): readonly Instant[] =>
  times.filter((due) => (misfire === 'all' ? due < first : due !== first || isSkipped));

interface Misfire {
  readonly due: Instant;
  readonly isSkipped: boolean;
  readonly lateMs: number;
  readonly lost: number;
  /** Whether nothing older passed as well. */
  readonly isAll: boolean;
}

export function misfireNote({ due, isSkipped, lateMs, lost, isAll }: Misfire): string {
  const others = `${isAll ? '' : 'more than '}${lost} times passed`;
  const late = `due ${legOf(due)}, ${Math.round(lateMs / 1000)} s ago`;
  if (isSkipped) return `${others}; the last was ${late}`;
  return lost > 0 || !isAll ? `runs the one ${late}; ${others} without a trade` : `runs the one ${late}`;
}
