import { likelyDuration } from './likely-duration.ts';

/** Unix milliseconds, UTC. Wall time: for records, calendars and people; never to decide whether a quote is alive. */
export type Instant = number & { readonly __time: 'wall' };
/** Milliseconds on the monotonic clock of this process; meaningless to another process. */
export type Monotonic = number & { readonly __time: 'monotonic' };

export const instant = (ms: number): Instant => ms as Instant;
/**
 * An instant on a machine's boot clock. This clock continues while the machine sleeps and between our processes, and
 * nobody can set it. Instants are comparable only if they have the same `id`.
 */
export interface BootTime {
  /** Id of this boot of this machine; changes with each restart. */
  readonly id: string;
  /** Milliseconds since the boot; it may lag by `BOOT_STEP_MS`. */
  readonly ms: number;
}

/** Resolution of the boot clock, milliseconds. */
export const BOOT_STEP_MS = 10;

/** Minimum time since an instant of the boot clock, milliseconds; 0 if unknown. */
export const passedSince = (then: BootTime | undefined, now: BootTime | undefined): number =>
  then === undefined || then.id !== now?.id ? 0 : Math.max(0, now.ms - then.ms - BOOT_STEP_MS);

export const monotonic = (ms: number): Monotonic => ms as Monotonic;
export const after = <T extends Instant | Monotonic>(time: T, ms: number): T => (time + ms) as T;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** ISO 8601 in UTC with milliseconds, as in `2026-12-01T09:00:00.000Z`. */
export function isoOf(at: Instant): string {
  if (at === lastTime.at) return lastTime.text;
  const text = writtenIso(at);
  lastTime = { at, text };
  return text;
}

/** Cached, because the same time is often formatted twice in a row. */
let lastTime: { readonly at: number; readonly text: string } = { at: Number.NaN, text: '' };

function writtenIso(at: Instant): string {
  if (!(at >= 0 && at < FOUR_DIGIT_YEARS_END_MS)) return new Date(at).toISOString();
  const ms = Math.trunc(at);
  const day = Math.floor(ms / DAY_MS);
  const of = ms - day * DAY_MS;
  // Cached by day, because consecutive times are mostly on the same day.
  if (day !== lastDay.day) lastDay = { day, text: dateOf(day) };
  return lastDay.text + clockOf(of);
}

/** The year 10000, from which on a year has six digits and a sign. */
const FOUR_DIGIT_YEARS_END_MS = 253_402_300_800_000;
/** Days since 1970 of the first of a month, and of the first of the next month. */
let lastMonth = { from: 0, until: 0, text: '' };
let lastDay = { day: -1, text: '' };

function dateOf(day: number): string {
  if (day < lastMonth.from || day >= lastMonth.until) {
    const date = new Date(day * DAY_MS);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    const [from, until] = [Date.UTC(year, month) / DAY_MS, Date.UTC(year, month + 1) / DAY_MS];
    lastMonth = { from, until, text: date.toISOString().slice(0, 8) };
  }
  return `${lastMonth.text}${two(day - lastMonth.from + 1)}T`;
}

/** Cached, because many times fall on whole minutes. */
function clockOf(ms: number): string {
  const minute = ms / MINUTE_MS;
  if (!Number.isInteger(minute)) return writtenClock(ms);
  return (minutes[minute] ??= writtenClock(ms));
}
const minutes: string[] = Array.from({ length: DAY_MS / MINUTE_MS });

const writtenClock = (ms: number): string =>
  `${two(ms / HOUR_MS)}:${two((ms / MINUTE_MS) % 60)}:${two((ms / SECOND_MS) % 60)}.${three(ms % 1000)}Z`;

const TWO_DIGITS = Array.from({ length: 60 }, (_, count) => String(count).padStart(2, '0'));
const two = (count: number): string => TWO_DIGITS[Math.trunc(count)] ?? '';
const three = (count: number): string => (count < 10 ? `00${count}` : count < 100 ? `0${count}` : `${count}`);

/** Year first, to the minute at least, with its offset: in no other form is the month told from the day. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:?\d{2})$/u;

/** Reads an ISO 8601 time of the calendar that names its offset; `undefined` when it is not one. */
export function parseIso(text: string): Instant | undefined {
  if (!ISO_TIME.test(text)) return undefined;
  try {
    return instant(Temporal.Instant.from(text).epochMilliseconds);
  } catch {
    return undefined; // no such day or hour
  }
}

/**
 * Parses a point in time written by a person: `2026-12-01T09:00:00Z`, with an offset, or with an IANA zone in
 * brackets (`2026-12-01T09:00:00[Europe/London]`). A local time that a clock change skips or repeats is refused.
 *
 * @throws RangeError in words for the operator.
 */
export function parseTime(text: string): Instant {
  const bracket = /\[(?<zone>[^\]]+)\]$/u.exec(text);
  const zone = bracket?.groups?.['zone'];
  if (zone === undefined) {
    const at = parseIso(text);
    if (at === undefined) {
      throw new RangeError(
        `expected a time with its zone, such as "2026-12-01T09:00:00[Europe/London]" or "2026-12-01T09:00:00Z", got "${text}"`,
      );
    }
    return at;
  }
  checkZone(zone);
  try {
    return instant(
      Temporal.ZonedDateTime.from(text, { disambiguation: 'reject', offset: 'reject' }).epochMilliseconds,
    );
  } catch (cause) {
    throw new RangeError(
      /[Tt ].*[+-]\d{2}(?::?\d{2}){0,2}\[/u.test(text)
        ? `"${text}" is not one moment: the date is wrong, or ${zone} does not have that offset at that time; omit the offset`
        : `"${text}" is not one moment: the date is wrong, or a clock change in ${zone} skips or repeats it`,
      { cause },
    );
  }
}

/** @throws RangeError when `zone` is not an IANA time zone. */
export function checkZone(zone: string): void {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
  } catch (cause) {
    throw new RangeError(
      `"${zone}" is not a time zone; write an IANA name such as "Europe/London" or "UTC"`,
      { cause },
    );
  }
}

/**
 * Milliseconds of an ISO 8601 duration of fixed length: `PT4H`, `P1DT12H`, `PT0.5S`. Months and years are refused.
 *
 * @throws RangeError in words for the operator.
 */
export function parseDuration(text: string): number {
  const known = durations.get(text);
  if (known !== undefined) return known;
  const ms = readDuration(text);
  if (durations.size < DURATIONS_MAX) durations.set(text, ms);
  return ms;
}

/** Cached, because strategies parse the durations of their document at every step. */
const durations = new Map<string, number>();
const DURATIONS_MAX = 1_000;

function readDuration(text: string): number {
  try {
    const duration = Temporal.Duration.from(text);
    if (duration.years !== 0 || duration.months !== 0) throw new RangeError('no fixed length');
    // Whole milliseconds, because records contain no fractions.
    const ms = Math.round(
      duration.total({ unit: 'milliseconds', relativeTo: Temporal.PlainDate.from('2000-01-01') }),
    );
    if (ms <= 0) throw new RangeError('not positive');
    return ms;
  } catch (cause) {
    throw new RangeError(
      `expected an ISO 8601 duration such as "PT30S", "PT4H" or "P1D", got ${JSON.stringify(text)}${hintFor(text)}`,
      { cause },
    );
  }
}

function hintFor(text: string): string {
  const meant = likelyDuration(text);
  if (meant === undefined || meant === text) return '';
  try {
    readDuration(meant);
    return `: did you mean "${meant}"?`;
  } catch {
    return '';
  }
}

/** The shortest ISO 8601 duration for `ms`, for people and for golden files. */
export const durationText = (ms: number): string =>
  Temporal.Duration.from({ milliseconds: Math.round(ms) })
    .round({ largestUnit: 'hours' })
    .toString();

/** A duration in its two largest units: `2 d 3 h`, `1 h 58 min`, `45 s`. */
export function spanText(ms: number): string {
  const seconds = Math.round(ms / SECOND_MS);
  if (seconds < 60) return `${seconds} s`;
  const wholeMinutes = Math.round(seconds / 60);
  if (wholeMinutes < 60) return `${wholeMinutes} min`;
  const hours = Math.floor(wholeMinutes / 60);
  return hours < 24 ? `${hours} h ${wholeMinutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
