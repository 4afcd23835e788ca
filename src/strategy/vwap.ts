import { z } from 'zod';
import { fraction, ONE, ratioOf } from '../core/money.ts';
import { DAY_MS, instant, MINUTE_MS, parseTime } from '../core/time.ts';
import { plainNumber, zoneText } from './fields.ts';
import type { Problem } from './kernel.ts';
import { slicedStrategy } from './sliced.ts';
import type { Window } from './sliced.ts';
import { durationMsOf, slicedFields } from './sliced-fields.ts';
import type { Curve } from './slicing.ts';

const DAY_MINUTES = 1440;
/** A longer window would be summed up part by part for too long. */
const WINDOW_DAYS_MAX = 366;

const profile = z
  .strictObject({
    time_zone: zoneText.default('UTC').describe('IANA time zone in which the day begins'),
    weights: z
      .array(
        plainNumber
          .gt(0, { error: 'expected a weight above zero: a slice of nothing cannot be traded' })
          .max(1e12),
      )
      .refine((weights) => DAY_MINUTES % weights.length === 0, {
        error:
          'expected as many weights as divide the 1440 minutes of a day, such as 24 (an hour each) or 48 (half an hour each)',
      })
      .describe(
        'Volume of each part of a day, midnight first: numbers above zero that count against one another alone. 24 are hours, 48 half hours; any number that divides 1440 will do',
      ),
  })
  .describe('Volume over a day, the same every day; slices are sized by it');
export type Profile = z.output<typeof profile>;

const params = z.strictObject({ ...slicedFields, profile });
type Params = z.output<typeof params>;

/** Works a total off in slices that are as large as the volume that the profile expects until the next slot. */
export const vwap = slicedStrategy({
  kind: 'vwap',
  summary: 'slices by a volume curve over a window, buy or sell',
  params,
  curve: (plan, window) => volumeCurve(plan.profile, window),
  curveNeedsStart: true,
  check: checkLength,
});

function checkLength(plan: Params): readonly Problem[] {
  const startMs = plan.start_time === undefined ? undefined : parseTime(plan.start_time);
  // An end without a start has its own problem.
  if (plan.duration === undefined && startMs === undefined) return [];
  if (durationMsOf(plan, startMs ?? 0) <= WINDOW_DAYS_MAX * DAY_MS) return [];
  const message = `a window of more than ${WINDOW_DAYS_MAX} days: cut it into several strategies`;
  return [{ path: [plan.duration === undefined ? 'end_time' : 'duration'], message }];
}

/** Share of the volume of the window that comes before each slot. */
export function volumeCurve(day: Profile, { startMs, durationMs, slices }: Window): Curve {
  const ends = Array.from({ length: slices }, (_, k) =>
    Math.floor(startMs + ((k + 1) * durationMs) / slices),
  );
  let volume = 0;
  let from = startMs;
  const parts = partsOf(day, startMs);
  const volumes = ends.map((end) => {
    while (from < end) {
      const { weight, untilMs } = parts.at(from);
      const to = Math.min(end, untilMs);
      volume += weight * (to - from);
      from = to;
    }
    return volume;
  });
  const shares = [0, ...volumes].map((before) => fraction(ratioOf(before), ratioOf(volume)));
  return (k) => shares[k] ?? ONE;
}

/**
 * The part of the local day in which an instant lies, and until when. Between two changes of its clocks a zone is a fixed
 * distance from UTC: an hour that is skipped has no volume, one that is repeated has it twice.
 */
function partsOf({ time_zone: zone, weights }: Profile, startMs: number) {
  const partMs = (DAY_MINUTES / weights.length) * MINUTE_MS;
  let span = spanFrom(zone, startMs);
  return {
    at(ms: number): { readonly weight: number; readonly untilMs: number } {
      if (ms >= span.untilMs) span = spanFrom(zone, ms);
      const localMs = ms + span.offsetMs;
      const part = Math.floor((((localMs % DAY_MS) + DAY_MS) % DAY_MS) / partMs);
      const endMs = (Math.floor(localMs / partMs) + 1) * partMs - span.offsetMs;
      return { weight: weights[part] ?? 0, untilMs: Math.min(endMs, span.untilMs) };
    },
  };
}

/** How far a zone is from UTC at an instant, and when that changes next, Unix ms. */
function spanFrom(zone: string, ms: number): { readonly offsetMs: number; readonly untilMs: number } {
  const at = Temporal.Instant.fromEpochMilliseconds(instant(ms)).toZonedDateTimeISO(zone);
  const next = at.getTimeZoneTransition('next');
  return {
    offsetMs: at.offsetNanoseconds / 1e6,
    untilMs: next === null ? Number.POSITIVE_INFINITY : next.epochMilliseconds,
  };
}
