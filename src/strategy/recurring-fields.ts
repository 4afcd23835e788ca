import { z } from 'zod';
import type { Precisions } from '../core/instrument.ts';
import { decimalsOf, money, quantity } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { after, instant, parseDuration, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { uniform } from '../core/uniform.ts';
import { amountOf, durationText, pairSymbol, timeText, whole } from './fields.ts';
import { countedScheduleFields } from './schedule.ts';
import type { SlicePlan } from './slicing.ts';
import { jitterField, ladderFields, tacticFields } from './tactic-fields.ts';

/** One more order of a parent whose slices are not planned for the whole of its life halts the desk: see `controls`. */
const SLICES_MAX = 50;

/** The fields of a recurring document. */
export const params = z.lazy(() =>
  z.strictObject({
    pair: pairSymbol.describe('Pair to trade, such as btcusd'),
    side: z.enum(['buy', 'sell'], { error: 'expected buy or sell' }).describe('buy or sell'),
    each_quantity: amountOf(
      'Size of every occurrence in base currency; give this or each_notional',
    ).optional(),
    each_notional: amountOf(
      'Size of every occurrence in quote currency; give this or each_quantity',
    ).optional(),
    schedule: countedScheduleFields.describe('When it trades'),
    window: durationText
      .default('PT10M')
      .describe('How long an occurrence may trade, ISO 8601; the rest is not traded later'),
    slices: whole
      .min(1)
      .max(SLICES_MAX)
      .default(1)
      .describe('Number of equal slices over the window, the first at the time of the schedule'),
    catch_up: z
      .enum(['pace', 'skip'], { error: 'expected pace or skip' })
      .default('pace')
      .describe(
        'What happens to the quantity of a slice that did not trade. pace: spread over the later slices of the occurrence, each at most 1.5 times its plan. skip: it is not traded',
      ),
    ...tacticFields(),
    ...ladderFields(),
    jitter: jitterField({
      time: 'Largest shift of a slot within its interval, and largest increase of the wait between two quotes, percent',
      size: 'Largest change of a slice, percent; the sum of the occurrence stays',
      seed: 'The same seed gives the same slots; each occurrence has its own',
      all: 'Randomizes slots and sizes so that others cannot infer the schedule',
    }),
    start_time: timeText
      .optional()
      .describe('Start of occurrences, with its zone; default: when the strategy first runs'),
    end_time: timeText.optional().describe('End of occurrences, with its zone; default: never'),
  }),
);
export type Params = z.output<typeof params>;

export const eachOf = (plan: Params): Quantity | Money =>
  plan.each_quantity === undefined
    ? money(plan.each_notional?.amount ?? '0')
    : quantity(plan.each_quantity.amount);
export const currencyOf = (plan: Params): string =>
  (plan.each_quantity ?? plan.each_notional)?.currency ?? '';

/** After it lie all times of a life: its beginning, or the moment before `start_time`. */
export function originOf(plan: Params, begunAt: Instant): Instant {
  const from = plan.start_time === undefined ? begunAt : after(parseTime(plan.start_time), -1);
  return from > begunAt ? from : begunAt;
}
export const endOf = (plan: Params): Instant | undefined =>
  plan.end_time === undefined ? undefined : parseTime(plan.end_time);

export type Slices = SlicePlan<Quantity | Money>;

/** How the occurrence that is due at `due` is cut: `durationMs` from `startMs` on, the whole window when left out. */
export function slicesOf(
  plan: Params,
  {
    due,
    startMs,
    durationMs = parseDuration(plan.window),
    total = eachOf(plan),
  }: {
    readonly due: Instant;
    readonly startMs: number;
    readonly durationMs?: number;
    readonly total?: Quantity | Money;
  },
  known: Precisions | undefined,
): Slices {
  const precision = plan.each_quantity === undefined ? known?.quotePrecision : known?.basePrecision;
  const seconds = Math.floor(due / 1000);
  return {
    total,
    slices: plan.slices,
    startMs,
    durationMs,
    precision: precision ?? Math.max(8, decimalsOf(total)),
    jitter: plan.jitter && {
      timePct: plan.jitter.time_pct,
      sizePct: plan.jitter.size_pct,
      seed: Math.floor(uniform(plan.jitter.seed, seconds) * 2 ** 31),
    },
  };
}

/** The plan of no occurrence in particular: sizes and precision. */
export const anySlices = (plan: Params, known: Precisions | undefined): Slices =>
  slicesOf(plan, { due: instant(0), startMs: 0 }, known);
