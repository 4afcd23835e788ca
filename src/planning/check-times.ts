import { isClosedAt } from '../core/hours.ts';
import { after, DAY_MS, instant, isoOf, MINUTE_MS } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Check, PlanFacts, PlannedSlice, PlannedStrategy } from './plan.ts';

/** Checks for closed times, and for times that a clock change skips or repeats. */

/** Reports strategies with nothing left to trade, which is correct for a finished strategy and wrong for a new one. */
export const checkWindows = (strategies: readonly PlannedStrategy[], { now }: PlanFacts): readonly Check[] =>
  strategies
    .filter((one) => one.passed > 0 && one.slices.length + one.times.length + one.beyond === 0)
    .map(({ id, passed }) => ({
      check: 'window',
      verdict: 'note',
      strategy: id,
      says: `its window has passed: ${passed === 1 ? 'its slot lies' : `all of its ${passed} slots lie`} before ${isoOf(now)}. If it has not traded in this journal, it will never trade`,
      fix: 'a later start_time',
    }));

/** Restricted hours of the desk, and closed times of calendars. */
export function checkHours(strategies: readonly PlannedStrategy[], facts: PlanFacts): readonly Check[] {
  const found = strategies.flatMap((strategy) => [...closedSlots(strategy, facts), ...closedTimes(strategy)]);
  if (found.length > 0 || strategies.every(({ slices, times }) => slices.length + times.length === 0))
    return found;
  return [
    { check: 'hours', verdict: 'ok', says: 'no slot falls in restricted hours, a blackout or a closed day' },
  ];
}

function closedSlots({ id, slices, zone }: PlannedStrategy, { limits }: PlanFacts): readonly Check[] {
  const isClosed = (at: Instant): boolean => limits.closedHours.some((hours) => isClosedAt(hours, at));
  const open = slices.filter(({ closed }) => closed === undefined);
  const within = open.filter(({ at }) => isClosed(at));
  const lost = within.filter((slice) => opensAt(slice, isClosed) === undefined);
  if (lost.length === 0) {
    if (within.length === 0) return [];
    const says = `${within.length} of ${open.length} slices begin${within.length === 1 ? 's' : ''} in controls.restricted_hours and wait${within.length === 1 ? 's' : ''} until those end`;
    return [{ check: 'hours', verdict: 'note', strategy: id, says }];
  }
  const [first] = lost;
  const shiftMs = shiftFor(open, isClosed);
  const begin = open[0]?.at;
  return [
    {
      check: 'hours',
      verdict: 'refused',
      strategy: id,
      says: `${lost.length} of ${open.length} slices are entirely within controls.restricted_hours, the first at ${isoOf(first?.at ?? instant(0))}`,
      fix:
        shiftMs === undefined || begin === undefined
          ? 'shorten its window: no start within a week avoids all closed hours'
          : `start it ${shiftMs / MINUTE_MS} minutes later, at ${localMinute(after(begin, shiftMs), zone)}`,
    },
  ];
}

/** The first minute at which a slice is not closed. */
function opensAt({ at, until }: PlannedSlice, isClosed: (at: Instant) => boolean): Instant | undefined {
  for (let minute = at; minute < until; minute = after(minute, MINUTE_MS))
    if (!isClosed(minute)) return minute;
  return undefined;
}

const SHIFT_STEP_MS = 5 * MINUTE_MS;
const SHIFT_MAX_MS = 7 * DAY_MS;
/** Number of slices examined for each possible start, so that the search stays quick. */
const LOOKED = 200;

/** The smallest delay after which none of the slices begins at a closed time. */
function shiftFor(slices: readonly PlannedSlice[], isClosed: (at: Instant) => boolean): number | undefined {
  const step = Math.max(1, Math.ceil(slices.length / LOOKED));
  const looked = slices.filter((_, i) => i % step === 0 || i === slices.length - 1);
  for (let ms = SHIFT_STEP_MS; ms <= SHIFT_MAX_MS; ms += SHIFT_STEP_MS)
    if (looked.every(({ at }) => !isClosed(after(at, ms)))) return ms;
  return undefined;
}

function closedTimes({ id, slices, times }: PlannedStrategy): readonly Check[] {
  const all = [...times, ...slices];
  const closed = all.flatMap(({ closed: why }) => (why === undefined ? [] : [why]));
  if (closed.length === 0) return [];
  const kinds = Map.groupBy(closed, (why) => why.replace(/ (?:until|at) .*| ?\(.*| ?\d.*/su, ''));
  const counts = [...kinds].map(([why, of]) => `${why} ${of.length}`).join(', ');
  const says =
    closed.length === all.length
      ? `all of its ${all.length} times are closed: ${counts}`
      : `${closed.length} of its ${all.length} times ${closed.length === 1 ? 'is' : 'are'} closed: ${counts}`;
  return [{ check: 'hours', verdict: 'note', strategy: id, says }];
}

/** Clock changes during a strategy, and the times that they affect. */
export function checkClockChanges(strategies: readonly PlannedStrategy[]): readonly Check[] {
  const zones = Map.groupBy(
    strategies.filter(({ slices, times }) => slices.length + times.length > 0),
    ({ zone }) => zone,
  );
  const found: Check[] = [];
  for (const [zone, of] of zones) {
    const times = of
      .flatMap(({ slices, times: own }) => [...slices, ...own].map(({ at }) => at))
      .toSorted((a, b) => a - b);
    const [first, last] = [times[0], times.at(-1)];
    if (first === undefined || last === undefined) continue;
    for (const change of changesBetween(zone, after(first, -HOUR_MS), after(last, HOUR_MS)))
      found.push(told(change, zone, times));
  }
  if (found.length > 0 || strategies.every(({ slices, times }) => slices.length + times.length === 0))
    return found;
  return [
    {
      check: 'clock_changes',
      verdict: 'ok',
      says: `no clocks change between the first slot and the last (${[...zones.keys()].join(', ')})`,
    },
  ];
}

const HOUR_MS = 60 * MINUTE_MS;

interface Change {
  readonly at: Instant;
  /** If positive, the clocks go forward, and this span is skipped. */
  readonly byMs: number;
}

function changesBetween(zone: string, from: Instant, until: Instant): readonly Change[] {
  const found: Change[] = [];
  let local: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(
    Math.floor(from),
  ).toZonedDateTimeISO(zone);
  for (;;) {
    const before: Temporal.ZonedDateTime = local;
    local = before.getTimeZoneTransition('next');
    if (local === null || local.epochMilliseconds > until) return found;
    const byMs = (local.offsetNanoseconds - local.subtract({ milliseconds: 1 }).offsetNanoseconds) / 1e6;
    if (byMs !== 0) found.push({ at: instant(local.epochMilliseconds), byMs });
  }
}

function told({ at, byMs }: Change, zone: string, times: readonly Instant[]): Check {
  const minutes = Math.abs(byMs) / MINUTE_MS;
  const near =
    byMs > 0
      ? times.filter((time) => time === at)
      : times.filter((time) => time >= at + byMs && time < at - byMs);
  const clock = localMinute(instant(at - 1), zone).slice(0, 10);
  const says =
    byMs > 0
      ? `the clocks of ${zone} go forward ${minutes} minutes at ${isoOf(at)} (${clock}): local times in the gap run right after it, ${near.length} at that time`
      : `the clocks of ${zone} go back ${minutes} minutes at ${isoOf(at)} (${clock}): ${near.length} ${near.length === 1 ? 'slot lies' : 'slots lie'} in the repeated hour; each local time of a calendar runs once`;
  return { check: 'clock_changes', verdict: near.length > 0 ? 'note' : 'ok', says };
}

/** `2026-12-01 09:00 Europe/London`. */
function localMinute(at: Instant, zone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone);
  return `${local.toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ')} ${zone}`;
}
