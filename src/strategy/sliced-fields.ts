import { z } from 'zod';
import { parseDuration, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { amountOf, durationText, pairSymbol, timeText, whole } from './fields.ts';
import { jitterField, ladderFields, tacticFields } from './tactic-fields.ts';

/** More would be a list, not a schedule. */
export const SLICES_MAX = 100_000;
/** The fields that all kinds share which work a total off in slices over a window. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const slicedFields = () => ({
  pair: pairSymbol.describe('Pair to trade, such as btcusd'),
  side: z.enum(['buy', 'sell'], { error: 'expected buy or sell' }).describe('buy or sell'),
  total_quantity: amountOf('Size of the parent in base currency; give this or total_notional').optional(),
  total_notional: amountOf('Size of the parent in quote currency; give this or total_quantity').optional(),
  start_time: timeText
    .optional()
    .describe('First slot, with its zone; default: when the strategy first runs'),
  end_time: timeText.optional().describe('End of the window, with its zone; give this or duration'),
  duration: durationText.optional().describe('Length of the window, ISO 8601; give this or end_time'),
  interval: durationText
    .optional()
    .describe('Time between slots, ISO 8601; must divide the window; give this or slices'),
  slices: whole.min(1).max(SLICES_MAX).optional().describe('Number of slices; give this or interval'),
  ...tacticFields(),
  ...ladderFields(),
  jitter: jitterField({
    time: 'Largest shift of a slot within its interval, and largest increase of the wait between two quotes, percent',
    size: 'Largest change of a slice, percent; the total stays',
    seed: 'The same seed gives the same schedule',
    all: 'Randomizes slots and sizes so that others cannot infer the schedule',
  }),
  catch_up: z
    .enum(['pace', 'extend', 'skip', 'abort'], { error: 'expected pace, extend, skip or abort' })
    .default('pace')
    .describe(
      'What happens to missed quantity. pace: spread over later slices, each at most 1.5 times its plan. extend: the window also moves by the outage, at most 25 %. skip: it is not traded. abort: the parent stops after a gap longer than catch_up_window',
    ),
  catch_up_window: durationText
    .default('PT1M')
    .describe('Longest gap that catch_up: abort tolerates, ISO 8601'),
});
export type Sliced = z.output<z.ZodObject<ReturnType<typeof slicedFields>>>;

/** Length of the window that starts at `startMs`, ms; not above zero when `end_time` is too early. */
export function durationMsOf(plan: Sliced, startMs: number): number {
  if (plan.duration !== undefined) return parseDuration(plan.duration);
  return plan.end_time === undefined ? 0 : parseTime(plan.end_time) - startMs;
}

export const startOf = (plan: Sliced, begunAt: Instant): Instant =>
  plan.start_time === undefined ? begunAt : parseTime(plan.start_time);

export const slicesOf = (plan: Sliced, durationMs: number): number =>
  plan.slices ??
  (plan.interval === undefined ? 1 : Math.max(1, Math.round(durationMs / parseDuration(plan.interval))));
