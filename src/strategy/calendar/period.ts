import { instant, MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { instantsOf, plainWallTimeOf, zoned } from './zoned-time.ts';

/** Times at a fixed interval from a first time on: `P2W`, `P1M`, `PT36H`. */
export interface Periodic {
  /** ISO 8601 duration. Days, weeks, months and years follow the calendar; hours and shorter units follow elapsed time. */
  readonly every: string;
  /** The first time. */
  readonly from: Instant;
  /** IANA time zone of the calendar. */
  readonly zone: string;
}

const DAYS_A_MONTH = 30.436_875;
const DAYS_MS = 86_400_000;

/** Parses a period. @throws RangeError with a message for the operator. */
export function parsePeriod(text: string): Temporal.Duration {
  const period = read(text);
  const isCalendar = calendarDays(period) > 0;
  const isClock = clockMs(period) > 0;
  if (isCalendar && isClock)
    throw new RangeError(`"${text}" mixes days and hours: write one of them, such as "P2W" or "PT36H"`);
  if (!isCalendar && clockMs(period) < MINUTE_MS)
    throw new RangeError(
      `expected a period of at least a minute, such as "P2W", "P1M" or "PT36H", got "${text}"`,
    );
  return period;
}

function read(text: string): Temporal.Duration {
  try {
    return Temporal.Duration.from(text);
  } catch (cause) {
    throw new RangeError(`expected an ISO 8601 period such as "P2W", "P1M" or "PT36H", got "${text}"`, {
      cause,
    });
  }
}

const calendarDays = ({ years, months, weeks, days }: Temporal.Duration): number =>
  (years * 12 + months) * DAYS_A_MONTH + weeks * 7 + days;
const clockMs = ({ hours, minutes, seconds, milliseconds }: Temporal.Duration): number =>
  ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;

/**
 * Returns the first time strictly after `at`. The `k`-th time is counted from the first time, not from the previous
 * one, so that monthly times on the 31st fall on the last day of February and on the 31st of March again.
 */
export function nextPeriod(periodic: Periodic, at: Instant): Instant {
  const { from, every } = periodic;
  if (from > at) return from;
  const period = parsePeriod(every);
  const elapsedMs = clockMs(period);
  if (elapsedMs > 0) return instant(from + (Math.floor((at - from) / elapsedMs) + 1) * elapsedMs);
  let k = Math.max(0, Math.floor((at - from) / (calendarDays(period) * DAYS_MS)) - 1);
  while (k > 0 && timeOf(periodic, period, k) > at) k--;
  while (timeOf(periodic, period, k) <= at) k++;
  return timeOf(periodic, period, k);
}

/**
 * Returns the `k`-th time, in the zone. A local time that a clock change skips becomes the end of the gap. Of a
 * repeated local time, the first occurrence counts.
 */
function timeOf(
  { from, zone }: Periodic,
  { years, months, weeks, days }: Temporal.Duration,
  k: number,
): Instant {
  const many = Temporal.Duration.from({
    years: years * k,
    months: months * k,
    weeks: weeks * k,
    days: days * k,
  });
  const plain = zoned(from, zone).toPlainDateTime().add(many);
  return instantsOf(plainWallTimeOf(plain), zone).passes[0];
}
