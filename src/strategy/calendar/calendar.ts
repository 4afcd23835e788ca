import { z } from 'zod';
import { after, instant, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { timeText, zoneText } from '../fields.ts';
import { changesOf, instantsOf, wallTimeOf, plainWallTimeOf, zoned } from './zoned-time.ts';

/** Closed times of a schedule: weekends, holidays of several centres, blackouts, quiet hours, and a daily cut-off. */

const reads =
  (what: string, read: (text: string) => unknown) => (value: string, context: z.RefinementCtx) => {
    try {
      read(value);
    } catch {
      context.addIssue({ code: 'custom', message: `expected ${what}` });
    }
  };

const DAY = /^\d{4}-\d{2}-\d{2}$/u;
const strictly = { overflow: 'reject' } as const;
/** A day of the calendar, as text. */
const dayText = z.lazy(() =>
  z.string().superRefine(
    reads('a day such as "2026-12-25"', (text) => {
      if (!DAY.test(text)) throw new RangeError(text);
      Temporal.PlainDate.from(text, strictly);
    }),
  ),
);
const monthDayText = z.lazy(() =>
  z.string().superRefine(
    reads('a month and a day such as "12-25"', (text) => {
      if (!/^\d{2}-\d{2}$/u.test(text)) throw new RangeError(text);
      Temporal.PlainMonthDay.from(text, strictly);
    }),
  ),
);
const clockText = z.lazy(() =>
  z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, {
    error: 'expected a time of the day as a quoted string, such as "16:30"',
  }),
);
const WEEK = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** A list of holidays: the content of a calendar file. */
export const holidayList = z.lazy(() =>
  z.strictObject({
    centre: z.string().min(1).max(80).describe('Name of the centre with these holidays, as shown in reasons'),
    time_zone: zoneText
      .optional()
      .describe('IANA time zone in which the days begin and end; default: that of the schedule'),
    every_year: z
      .array(monthDayText)
      .max(366)
      .default([])
      .describe('Holidays on the same date every year, such as "12-25"'),
    days: z.array(dayText).max(5000).default([]).describe('Holidays of one year, such as "2026-04-03"'),
    until: dayText
      .optional()
      .describe(
        'Last day that the list covers; nothing trades after that day. Default: the end of the year of the latest date in days',
      ),
  }),
);
export type HolidayList = z.output<typeof holidayList>;

/** The fields of a schedule that define when it is closed. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const hours = () => ({
  time_zone: zoneText
    .default('UTC')
    .describe('IANA time zone of the expression, of quiet hours, cut-off and calendar'),
  calendar: z
    .strictObject({
      weekend: z
        .array(z.enum(WEEK, { error: `expected ${WEEK.slice(0, -1).join(', ')} or sunday` }))
        .max(6)
        .default(['saturday', 'sunday'])
        .describe('Days of the week without trading'),
      holidays: z
        .array(z.union([z.string(), holidayList]))
        .max(20)
        .default([])
        .describe(
          'Holiday lists, one for each centre: each is a file, relative to this one, or a list written here with the fields centre, time_zone, every_year, days and until. A day counts as closed if any of the centres is closed',
        ),
    })
    .optional()
    .describe('Days without trading; default: none'),
  blackouts: z
    .array(
      z.strictObject({
        from: timeText.describe('Start of the span'),
        to: timeText.describe('End of the span, exclusive'),
      }),
    )
    .max(1000)
    .default([])
    .describe('Time spans without trading'),
  quiet_hours: z
    .array(
      z.strictObject({
        from: clockText.describe('Start of the span, such as "22:00"'),
        to: clockText.describe('End of the span, exclusive; on the next day if earlier than from'),
      }),
    )
    .max(24)
    .default([])
    .describe('Hours of every day without trading'),
  cut_off: clockText.optional().describe('Nothing trades from this time of the day until midnight'),
});
export type Hours = z.output<z.ZodObject<ReturnType<typeof hours>>>;

/** Rejects blackouts and quiet hours that are empty. */
export function checkHours(
  schedule: Hours,
  refuse: (path: readonly (string | number)[], message: string) => void,
): void {
  for (const [i, { from, to }] of schedule.blackouts.entries()) {
    if (!isAfter(to, from)) {
      refuse(['blackouts', i, 'to'], 'to must be later than from: the span is empty');
    }
  }
  for (const [i, { from, to }] of schedule.quiet_hours.entries()) {
    if (from === to) refuse(['quiet_hours', i, 'to'], 'from and to are the same time: the span is empty');
  }
}

/** Accepts unreadable times, because another check reports them at their location. */
function isAfter(later: string, earlier: string): boolean {
  try {
    return parseTime(later) > parseTime(earlier);
  } catch {
    return true;
  }
}

/** Why nothing trades, and the earliest time at which that ends. */
export interface Closure {
  readonly why: string;
  readonly until: Instant;
}

/** Returns the closure that holds at `at`; `undefined` while the schedule is open. */
export function closureAt(schedule: Hours, at: Instant): Closure | undefined {
  for (const { from, to } of schedule.blackouts) {
    const until = parseTime(to);
    if (at >= parseTime(from) && at < until) return { why: `blackout until ${to}`, until };
  }
  const { calendar, quiet_hours: quiet, cut_off: cutOff, time_zone: zone } = schedule;
  if (calendar === undefined && quiet.length === 0 && cutOff === undefined) return undefined;
  const local = zoned(at, zone);
  const closed = calendar === undefined ? undefined : closedDay(calendar, at, local);
  if (closed !== undefined) return closed;
  for (const { from, to } of quiet) {
    const until = closedUntil(at, zone, (now) => quietEnd(now, from, to));
    if (until !== undefined) return { why: `quiet hours ${from} to ${to}`, until };
  }
  if (cutOff === undefined) return undefined;
  const until = closedUntil(at, zone, (now) => (clockOf(now) >= cutOff ? midnightAfter(now) : undefined));
  return until === undefined ? undefined : { why: `after the cut-off at ${cutOff}`, until };
}

/** Returns why nothing can begin at `at`; `undefined` if the start has passed and the calendar is open. */
export function notOpenWords(
  {
    schedule,
    start_time: start,
  }: { readonly schedule: Hours & { readonly time_zone: string }; readonly start_time?: string | undefined },
  at: Instant,
): string | undefined {
  if (start !== undefined && at < parseTime(start)) return `it begins at ${start}`;
  const closure = closureAt(schedule, at);
  return closure === undefined ? undefined : `its calendar is closed: ${closure.why}`;
}

/** Returns the end of the quiet hours that contain `local`; `undefined` outside quiet hours. */
function quietEnd(
  local: Temporal.ZonedDateTime,
  from: string,
  to: string,
): Temporal.PlainDateTime | undefined {
  const clock = clockOf(local);
  const isOpen = from < to ? clock < from || clock >= to : clock < from && clock >= to;
  if (isOpen) return undefined;
  const date = local.toPlainDate();
  return (clock >= from && from > to ? date.add({ days: 1 }) : date).toPlainDateTime(to);
}

/**
 * Returns the first instant after `at` at which a rule about the local time of `zone` no longer holds; `undefined` if
 * it does not hold at `at`. `endOf` returns the local time at which the rule ends, within a day. If the clock changes
 * before that time, the rule is evaluated again at the change, because the end may fall into a skipped hour, or occur
 * twice in a repeated hour.
 */
function closedUntil(
  at: Instant,
  zone: string,
  endOf: (local: Temporal.ZonedDateTime) => Temporal.PlainDateTime | undefined,
): Instant | undefined {
  let until = instant(Math.floor(at));
  for (;;) {
    const local = zoned(until, zone);
    const end = endOf(local);
    if (end === undefined) return until > at ? until : undefined;
    const reached = instant(until + plainWallTimeOf(end) - wallTimeOf(until, zone));
    const [change] = changesOf(zone, until, reached);
    if (change === undefined) return reached;
    until = change;
  }
}

/** Returns why the whole day of `at` is closed, by a weekend or a holiday; `undefined` if it is not. */
export const closedDayAt = ({ calendar, time_zone: zone }: Hours, at: Instant): Closure | undefined =>
  calendar === undefined ? undefined : closedDay(calendar, at, zoned(at, zone));

/** Returns the first instant after `at` and before `until` at which the schedule closes; `until` if it stays open. */
export function openUntil(schedule: Hours, at: Instant, until: Instant): Instant {
  const { calendar, blackouts, quiet_hours: quiet, cut_off: cutOff, time_zone: zone } = schedule;
  if (calendar === undefined && blackouts.length + quiet.length === 0 && cutOff === undefined) return until;
  const times = ['00:00', ...quiet.map(({ from }) => from), ...(cutOff === undefined ? [] : [cutOff])];
  const zones = new Set([zone]);
  for (const list of calendar?.holidays ?? []) {
    if (typeof list !== 'string' && list.time_zone !== undefined) zones.add(list.time_zone);
  }
  const found: number[] = blackouts.map(({ from }) => parseTime(from));
  for (const timeZone of zones) {
    // A clock change may lead to another day, or to a closed time.
    found.push(...changesOf(timeZone, at, until));
    const last = zoned(until, timeZone).toPlainDate();
    let day = zoned(at, timeZone).toPlainDate();
    for (; Temporal.PlainDate.compare(day, last) <= 0; day = day.add({ days: 1 })) {
      for (const time of timeZone === zone ? times : ['00:00'])
        found.push(...instantsOf(plainWallTimeOf(day.toPlainDateTime(time)), timeZone).passes);
    }
  }
  const closes = found
    .filter((one) => one > at && one < until)
    .toSorted((a, b) => a - b)
    .find((one) => closureAt(schedule, instant(one)) !== undefined);
  return closes === undefined ? until : instant(closes);
}

/** End of a closure that exists because a holiday list ends or was not read. Any later day may be a holiday, so nothing trades. */
export const NEVER = instant(Date.UTC(9999, 0));

function closedDay(
  { weekend, holidays }: NonNullable<Hours['calendar']>,
  at: Instant,
  local: Temporal.ZonedDateTime,
): Closure | undefined {
  const weekday = WEEK[local.dayOfWeek - 1];
  if (weekday !== undefined && weekend.includes(weekday))
    return { why: `weekend (${weekday})`, until: dayEnd(at, local) };
  for (const list of holidays) {
    if (typeof list === 'string') return { why: `the calendar ${list} was not read`, until: NEVER };
    const there = list.time_zone === undefined ? local : zoned(at, list.time_zone);
    const day = there.toPlainDate().toString();
    if (list.days.includes(day) || list.every_year.includes(day.slice(5))) {
      return { why: `holiday in ${list.centre} (${day})`, until: dayEnd(at, there) };
    }
    const end = knownUntil(list);
    if (end !== undefined && day > end)
      return { why: `the holidays of ${list.centre} are known until ${end} only`, until: NEVER };
  }
  return undefined;
}

/** Returns the last day that a list covers; `undefined` when it has no end. */
const knownUntil = ({ days, until }: HolidayList): string | undefined => {
  if (until !== undefined || days.length === 0) return until;
  const last = days.reduce((a, b) => (a > b ? a : b));
  return `${last.slice(0, 4)}-12-31`;
};

const clockOf = (local: Temporal.ZonedDateTime): string =>
  `${String(local.hour).padStart(2, '0')}:${String(local.minute).padStart(2, '0')}`;
const midnightAfter = (local: Temporal.ZonedDateTime): Temporal.PlainDateTime =>
  local.toPlainDate().add({ days: 1 }).toPlainDateTime();
/** Returns the first instant after `at` with another local day. `local` is the local time of `at`. */
function dayEnd(at: Instant, local: Temporal.ZonedDateTime): Instant {
  const day = local.toPlainDate();
  const end = closedUntil(at, local.timeZoneId, (now) =>
    now.toPlainDate().equals(day) ? midnightAfter(now) : undefined,
  );
  return end ?? after(at, 1);
}
