import { z } from 'zod';
import { targetsOf as readTargets } from '../core/portfolio.ts';
import type { Basis, Targets } from '../core/portfolio.ts';
import { amountOf, currencySymbol, durationText, fractionText, timeText } from './fields.ts';
import { hoursFields, scheduleFields } from './schedule.ts';

/** The fields of a rebalance document. */
export const params = z.lazy(() =>
  z.strictObject({
    target_weights: z
      .record(currencySymbol, fractionText)
      .describe('Target share of portfolio value of each currency, in quotes; the shares sum to 1'),
    cash: currencySymbol
      .default('usd')
      .describe('Currency that is bought and sold against, and that values the portfolio'),
    drift_type: z
      .enum(['absolute', 'relative'])
      .default('absolute')
      .describe('absolute: weight minus target. relative: that, divided by the target'),
    drift_threshold: fractionText.describe(
      'Drift beyond which the portfolio is rebalanced, a fraction: 2 % is "0.02"',
    ),
    rebalance_to: z
      .enum(['target', 'band_edge'])
      .default('target')
      .describe('target: back to the target weights. band_edge: only as far as the edge of the band'),
    only_drifted: z.boolean().default(false).describe('Trade only the currencies outside their band'),
    cash_buffer: amountOf(
      'Cash kept out of the portfolio: neither valued with it nor spent. If the account holds less, assets are sold',
    ).optional(),
    via: z
      .record(currencySymbol, currencySymbol)
      .default({})
      .describe(
        'Currencies that have no pair against cash, each with the one it is traded against: sol: btc trades solbtc, and btc for cash. That one is a target too and has a pair against cash',
      ),
    min_trade_notional: amountOf('Trades below this are skipped; in cash').default({
      amount: '10',
      currency: 'usd',
    }),
    max_turnover: fractionText
      .optional()
      .describe('Largest traded share of portfolio value in one rebalancing, one-way'),
    valuation_tolerance: fractionText
      .default('0.1')
      .describe(
        'Largest relative difference between the valuations of the desk and of the venue; beyond it nothing trades',
      ),
    schedule: scheduleFields
      .optional()
      .describe('Check the portfolio at these times; give this or continuous'),
    continuous: z.boolean().optional().describe('Check the portfolio at every price; give this or schedule'),
    hours: hoursFields
      .optional()
      .describe('Closed times of a continuous rebalancing: calendar, blackouts, quiet hours, cut-off'),
    min_interval: durationText
      .default('PT1M')
      .describe(
        'Least time between two decisions when continuous, ISO 8601; up to an hour while limits block all trades',
      ),
    leg_timeout: durationText
      .default('PT2M')
      .describe('How long a trade of a rebalancing may be tried, ISO 8601'),
    start_time: timeText.optional().describe('Start, with its zone; default: when the strategy first runs'),
    end_time: timeText.optional().describe('End of decisions, with its zone'),
    duration: durationText.optional().describe('Time from the start to the end of decisions, ISO 8601'),
  }),
);
export type Params = z.output<typeof params>;

export const targetsOf = ({ target_weights: targets }: Params): Targets => readTargets({ targets });

export const assetsOf = (plan: Params): readonly string[] => portfolioOf(plan).assets;
export const basisOf = (plan: Params): Basis => portfolioOf(plan).basis;

interface Portfolio {
  readonly assets: readonly string[];
  readonly basis: Basis;
}

/** That of a document stays the same, and every wake looks at it. */
const portfolios = new WeakMap<Params, Portfolio>();

function portfolioOf(plan: Params): Portfolio {
  let known = portfolios.get(plan);
  if (known === undefined) {
    known = {
      assets: Object.keys(plan.target_weights).filter((c) => c !== plan.cash),
      basis: {
        cash: plan.cash,
        ...(Object.keys(plan.via).length === 0 ? {} : { via: plan.via }),
        ...(plan.cash_buffer === undefined ? {} : { aside: plan.cash_buffer.amount }),
      },
    };
    portfolios.set(plan, known);
  }
  return known;
}
