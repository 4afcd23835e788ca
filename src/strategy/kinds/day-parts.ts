import { DAY_MS, instant, MINUTE_MS } from '../../core/time.ts';

/** The equal parts of a local day or week, midnight first; a week begins on Monday. */
export interface Division {
  /** IANA time zone in which the day begins. */
  readonly zone: string;
  readonly period: Period;
  /** Number of parts; it divides the minutes of the period. */
  readonly parts: number;
}
export interface Parts {
  /** Unix ms. */
  at(ms: number): { readonly part: number; readonly untilMs: number };
}
export type Period = 'day' | 'week';

export const DAY_MINUTES = 1440;
export const minutesOf = (period: Period): number => (period === 'day' ? DAY_MINUTES : 7 * DAY_MINUTES);

/** Unix time began on a Thursday. */
const MONDAY_MS = 3 * DAY_MS;

/**
 * Returns a lookup of the part that contains an instant, and of its end. Between two clock changes, a zone has a fixed
 * offset from UTC. A skipped hour is in no part, and a repeated hour is in its part twice. Lookups in ascending order
 * are fast.
 */
export function partsOf({ zone, period, parts }: Division, startMs: number): Parts {
  const periodMs = minutesOf(period) * MINUTE_MS;
  const partMs = periodMs / parts;
  const shiftMs = period === 'week' ? MONDAY_MS : 0;
  let span = spanFrom(zone, startMs);
  return {
    at(ms) {
      if (ms >= span.untilMs || ms < span.fromMs) span = spanFrom(zone, ms);
      const localMs = ms + span.offsetMs + shiftMs;
      const part = Math.floor((((localMs % periodMs) + periodMs) % periodMs) / partMs);
      const endMs = (Math.floor(localMs / partMs) + 1) * partMs - shiftMs - span.offsetMs;
      return { part, untilMs: Math.min(endMs, span.untilMs) };
    },
  };
}

interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly offsetMs: number;
}

/** Returns the UTC offset of a zone at an instant, and when it changes next, Unix ms. */
function spanFrom(zone: string, ms: number): Span {
  const at = Temporal.Instant.fromEpochMilliseconds(instant(ms)).toZonedDateTimeISO(zone);
  const next = at.getTimeZoneTransition('next');
  return {
    fromMs: ms,
    offsetMs: at.offsetNanoseconds / 1e6,
    untilMs: next === null ? Number.POSITIVE_INFINITY : next.epochMilliseconds,
  };
}
