import { z } from 'zod';
import { approximate, fraction, ratio, ratioOf, roundEven } from '../../core/money.ts';
import { HOUR_MS } from '../../core/time.ts';
import { estimate, leftAfter, urgency } from './almgren-chriss.ts';
import type { ImpactModel, Steps } from './almgren-chriss.ts';
import { amountOf, plainNumber, positiveText } from '../fields.ts';
import type { Forecast, Problem } from '../kernel.ts';
import { slicedFields, slicedStrategy } from './sliced.ts';
import type { Window } from './sliced.ts';
import { plannedSize } from '../worker/slicing.ts';
import type { Curve, SlicePlan } from '../worker/slicing.ts';

const YEAR_HOURS = 365 * 24;
/** Decimals of a share: finer than any relevant share, and coarser than the differences between builds of a maths library. */
const SHARE_DECIMALS = 14;
const VOLATILITY_MAX = 10;

const params = z.lazy(() =>
  z.strictObject({
    ...slicedFields(),
    risk_aversion: plainNumber
      .min(0, { error: 'expected 0 (equal slices) or more' })
      .max(1e6)
      .describe(
        'Cost accepted to remove a price variance of 1 %², basis points: 0 gives equal slices; a higher value makes the first slices larger',
      ),
    volatility: positiveText
      .refine((value) => ratio(value).lte(VOLATILITY_MAX), {
        error: `expected a fraction of at most ${VOLATILITY_MAX}: 60 % a year is "0.6"`,
      })
      .describe(
        'Standard deviation of the price over a year of 365 days, as a fraction: "0.6" is 60 % a year. Range: above 0, at most 10',
      ),
    impact: z
      .strictObject({
        bps: plainNumber
          .min(0.001, { error: 'expected at least 0.001: without impact there is no reason to wait' })
          .max(10_000)
          .describe(
            'Cost of trading at the rate in per_hour, relative to the undisturbed price, basis points',
          ),
        per_hour: amountOf(
          'Hourly rate that costs bps, in the currency of the total; twice the rate costs twice the basis points',
        ),
        half_spread_bps: plainNumber
          .min(0)
          .max(10_000)
          .default(0)
          .describe(
            'Fixed cost of any trade, basis points; counts in the expected cost, not in the schedule',
          ),
      })
      .describe('Temporary impact of own trades on the price'),
  }),
);
type Params = z.output<typeof params>;

/** Trades a total in slices, the largest first. Large first slices cost more impact but reduce risk. */
export const shortfall = slicedStrategy({
  kind: 'shortfall',
  summary: 'larger slices first, weighing risk against impact (Almgren-Chriss), buy or sell',
  params,
  curve,
  smallestHint: 'lower risk_aversion, which makes the last slices larger',
  check: checkPace,
  forecast,
});

/** Checks that `per_hour` and the total are in the same currency. */
function checkPace({ impact, ...plan }: Params): readonly Problem[] {
  const expected = (plan.total_quantity ?? plan.total_notional)?.currency;
  const given = impact.per_hour.currency;
  if (expected === undefined || given === expected) return [];
  return [
    {
      path: ['impact', 'per_hour', 'currency'],
      message: `per_hour must be in the currency of the total, ${expected}, not ${given}`,
    },
  ];
}

export function modelOf({ impact, volatility, ...plan }: Params): ImpactModel {
  const total = ratio((plan.total_quantity ?? plan.total_notional)?.amount ?? '0');
  return {
    riskAversion: plan.risk_aversion,
    hourlyVolatility: approximate(ratio(volatility)) / Math.sqrt(YEAR_HOURS),
    impactBps: impact.bps * approximate(fraction(total, ratio(impact.per_hour.amount))),
    halfSpreadBps: impact.half_spread_bps,
  };
}

const stepsOf = ({ durationMs, slices }: Window): Steps => ({
  slices,
  stepHours: durationMs / slices / HOUR_MS,
});

function curve(plan: Params, window: Window): Curve | undefined {
  const perStep = urgency(modelOf(plan), stepsOf(window));
  if (perStep === 0) return undefined;
  return (k) => roundEven(ratioOf(1 - leftAfter(k, window.slices, perStep)), SHARE_DECIMALS);
}

/** Returns the cost and risk of the planned slices, including the rounding and jitter of their sizes. */
function forecast(plan: Params, slices: SlicePlan): Forecast {
  const [model, steps] = [modelOf(plan), stepsOf(slices)];
  const parts = Array.from({ length: slices.slices }, (_, k) =>
    approximate(fraction(plannedSize(slices, k), slices.total)),
  );
  const even = parts.map(() => 1 / slices.slices);
  return { ...estimate(model, steps, parts), even: estimate(model, steps, even) };
}
