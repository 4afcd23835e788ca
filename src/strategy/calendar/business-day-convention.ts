import { after, DAY_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { closedDayAt, NEVER } from './calendar.ts';
import type { Hours } from './calendar.ts';
import { instantsOf, plainWallTimeOf, zoned } from './zoned-time.ts';

/** Where to move a time that falls on a day without trading. */
export type Roll = 'none' | 'next' | 'previous' | 'next_in_month';

/** Longest search for a business day, in days, because no run of holidays is longer. */
const DAYS_MAX = 31;

interface Rolling extends Hours {
  readonly roll: Exclude<Roll, 'none'>;
}

/** Returns `due`, moved to the same time of a business day if its own day is closed; unchanged if no business day is near. */
export function rolled(schedule: Rolling, due: Instant): Instant {
  const closed = closedDayAt(schedule, due);
  // Days beyond the end of a holiday list are unknown, so the time is not moved.
  if (closed === undefined || closed.until === NEVER) return due;
  const { roll } = schedule;
  const next = roll === 'previous' ? undefined : businessDay(schedule, due, 1);
  if (roll === 'next') return next ?? due;
  const month = (at: Instant): number => zoned(at, schedule.time_zone).month;
  if (next !== undefined && month(next) === month(due)) return next;
  return businessDay(schedule, due, -1) ?? due;
}

function businessDay(schedule: Rolling, due: Instant, step: 1 | -1): Instant | undefined {
  const { time_zone: zone } = schedule;
  const plain = zoned(due, zone).toPlainDateTime();
  for (let days = 1; days <= DAYS_MAX; days++) {
    const at = instantsOf(plainWallTimeOf(plain.add({ days: step * days })), zone).passes[0];
    if (closedDayAt(schedule, at) === undefined) return at;
  }
  return undefined;
}

/**
 * Returns the first rolled time strictly after `at`; times that roll to the same instant count once. `next` returns the times
 * before they roll. Only times of nearby days are checked: no time rolls further than `DAYS_MAX` days.
 */
export function nextRolled(
  schedule: Rolling,
  at: Instant,
  next: (at: Instant) => Instant | undefined,
): Instant | undefined {
  let best: Instant | undefined;
  for (let due = next(lookFrom(schedule, at)); due !== undefined; due = next(due)) {
    if (best !== undefined && due - lookAhead(schedule) >= best) return best;
    const to = rolled(schedule, due);
    if (to > at && (best === undefined || to < best)) best = to;
    if (best === undefined && due - at > YEARS_MS) return undefined;
  }
  return best;
}

const YEARS_MS = 8 * 366 * DAY_MS;
const FAR_MS = (DAYS_MAX + 2) * DAY_MS;

/**
 * Whether times keep their order when they roll, because a day is closed or open as a whole. The first one found is then the
 * earliest.
 */
const inOrder = ({ calendar, time_zone: zone }: Hours): boolean =>
  (calendar?.holidays ?? []).every(
    (list) => typeof list === 'string' || list.time_zone === undefined || list.time_zone === zone,
  );

/** How far a time may roll ahead of those found before it, ms. */
const lookAhead = (schedule: Rolling): number => (inOrder(schedule) ? 0 : FAR_MS);

/** Returns where the search starts. No earlier time rolls beyond `at`: an open day or too many closed days lie between. */
function lookFrom(schedule: Rolling, at: Instant): Instant {
  if (schedule.roll === 'previous' && inOrder(schedule)) return at;
  if (!inOrder(schedule)) return after(at, -FAR_MS);
  const { time_zone: zone } = schedule;
  const midnight = (date: Temporal.PlainDate): Instant =>
    instantsOf(plainWallTimeOf(date.toPlainDateTime()), zone).passes[0];
  let date = zoned(at, zone).toPlainDate();
  for (let days = 0; days < DAYS_MAX; days++) {
    const before = date.subtract({ days: 1 });
    if (closedDayAt(schedule, midnight(before)) === undefined) break;
    date = before;
  }
  return after(midnight(date), -1);
}
