import { z } from 'zod';
import { fraction, ONE, ratioOf } from '../../core/money.ts';
import { DAY_MS, parseTime } from '../../core/time.ts';
import { minutesOf, partsOf } from './day-parts.ts';
import { plainNumber, zoneText } from '../fields.ts';
import type { Problem } from '../kernel.ts';
import { slicedFields, slicedStrategy } from './sliced.ts';
import type { Window } from './sliced.ts';
import type { Curve } from '../worker/slicing.ts';
import { lengthMsOf } from '../worker/window.ts';

/** Longest window. Longer windows would take too long to add up part by part. */
const WINDOW_DAYS_MAX = 366;

const profile = z
  .lazy(() =>
    z
      .strictObject({
        time_zone: zoneText.default('UTC').describe('IANA time zone in which the day begins'),
        period: z
          .enum(['day', 'week'])
          .default('day')
          .describe(
            'Period that the weights cover: day uses the same weights every day, and week starts on Monday',
          ),
        weights: z
          .array(
            plainNumber.gt(0, { error: 'expected a weight above zero: a slice must not be empty' }).max(1e12),
          )
          .describe(
            'Volume of each part of the period, starting at midnight; positive numbers, of which only the ratios count. The number of weights must divide 1440 for a day (24 weights are hours, 48 are half hours) and 10080 for a week (168 weights are hours)',
          ),
      })
      .superRefine(({ period, weights }, context) => {
        if (minutesOf(period) % weights.length === 0) return;
        const example =
          period === 'day'
            ? '24 (an hour each) or 48 (half an hour each)'
            : '168 (an hour each) or 42 (four hours each)';
        context.addIssue({
          code: 'custom',
          path: ['weights'],
          message: `the number of weights must divide the ${minutesOf(period)} minutes of a ${period}, such as ${example}`,
        });
      }),
  )
  .describe(
    'Volume over a day or a week, which determines the sizes of slices. Write it by hand, or learn it from market history with tranche data profile',
  );
export type Profile = z.output<typeof profile>;

const params = z.lazy(() => z.strictObject({ ...slicedFields(), profile }));
type Params = z.output<typeof params>;

/** Trades a total in slices in proportion to the volume that the profile expects until the next slot. */
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
  // Another check reports an end that has no start.
  if (plan.duration === undefined && startMs === undefined) return [];
  if (lengthMsOf(plan, startMs ?? 0) <= WINDOW_DAYS_MAX * DAY_MS) return [];
  const message = `a window of more than ${WINDOW_DAYS_MAX} days: split it into several strategies`;
  return [{ path: [plan.duration === undefined ? 'end_time' : 'duration'], message }];
}

/** Returns the share of the window's volume that comes before each slot. */
export function volumeCurve(
  { time_zone: zone, period, weights }: Profile,
  { startMs, durationMs, slices }: Window,
): Curve {
  const ends = Array.from({ length: slices }, (_, k) =>
    Math.floor(startMs + ((k + 1) * durationMs) / slices),
  );
  let volume = 0;
  let from = startMs;
  const parts = partsOf({ zone, period, parts: weights.length }, startMs);
  const volumes = ends.map((end) => {
    while (from < end) {
      const { part, untilMs } = parts.at(from);
      const to = Math.min(end, untilMs);
      volume += (weights[part] ?? 0) * (to - from);
      from = to;
    }
    return volume;
  });
  const shares = [0, ...volumes].map((before) => fraction(ratioOf(before), ratioOf(volume)));
  return (k) => shares[k] ?? ONE;
}
