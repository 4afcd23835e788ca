import type { Instant } from './time.ts';

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** A span of the day without trading, in local time. If its end is not after its start, it lasts past midnight. */
export interface ClosedHours {
  /** First minute of the span, such as `22:00`. */
  readonly from: string;
  /** First minute after the span. */
  readonly to: string;
  /** IANA name. */
  readonly timeZone: string;
  /** Days on which the span starts. */
  readonly days: ReadonlySet<Weekday>;
}

/** Whether `at` is in the span. Local time decides, so a closed hour that a clock change repeats is closed twice. */
export function isClosedAt({ from, to, timeZone, days }: ClosedHours, at: Instant): boolean {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
  const time = local.toPlainTime();
  const [begin, end] = [Temporal.PlainTime.from(from), Temporal.PlainTime.from(to)];
  const isDay = (back: number): boolean => {
    const name = weekdays[local.subtract({ days: back }).dayOfWeek - 1];
    return name !== undefined && days.has(name);
  };
  const isAfterBegin = Temporal.PlainTime.compare(time, begin) >= 0;
  const isBeforeEnd = Temporal.PlainTime.compare(time, end) < 0;
  if (Temporal.PlainTime.compare(begin, end) < 0) return isAfterBegin && isBeforeEnd && isDay(0);
  return (isAfterBegin && isDay(0)) || (isBeforeEnd && isDay(1));
}
