import { z } from 'zod';
import { amount, atCosts, count, list, time } from './schema-parts.ts';

/** The schema of a portfolio in `report.json`. */

const fraction = z.number();
const drifts = {
  drift_mean: fraction.describe('Mean over the points of the largest drift of any currency; a fraction, 0 or more, nine digits'),
  drift_max: fraction.describe('Maximum over the points of that drift; a fraction, 0 or more, nine digits'),
  outside: fraction.describe('Share of the points outside the band, nine digits'),
}; // prettier-ignore

const valuation = z
  .strictObject({
    at: time.describe('Time of the valuation'),
    value: amount.describe(
      'Σ balance·price minus the reserved amounts; cash, exact, negative for a net debt',
    ),
    weights: z
      .record(z.string(), z.string().describe('value / total; a fraction, six decimals'))
      .describe('Weight of each currency'),
    drift: z
      .string()
      .describe(
        'Largest drift of any currency, measured as `drift_type`; a fraction, 0 or more, six decimals',
      ),
  })
  .meta({ id: 'valuation' });

const point = z.strictObject({
  at: time.describe('Time of the valuation'),
  value: z.number().describe('Value, cash; nine digits'),
  index: z
    .number()
    .describe('Return index, valued at each of `cash_flows`: 1 at the first point; nine digits'),
  target_index: z
    .number()
    .describe('Return index of the target weights, restored at every point without cost; nine digits'),
  hold_index: z
    .number()
    .describe(
      'Return index of the target weights, bought at the first point without cost and held; nine digits',
    ),
  drawdown: fraction.describe('index / its peak at the points so far − 1: 0 or less, nine digits'),
  weights: z
    .record(z.string(), z.number().describe('A fraction, nine digits'))
    .describe('Weight of each currency'),
});

const performance = z.strictObject({
  return: fraction.describe('I_n − 1; a fraction, positive is good, nine digits'),
  cagr: fraction.optional().describe('I_n^(1 / years) − 1, a year of 365.25 days; a fraction a year, positive is good, nine digits. A short period is extrapolated'),
  volatility: fraction.optional().describe('Standard deviation (n − 1) of the returns of whole steps · √(steps in a year); a fraction a year, 0 or more, nine digits. Omitted below ten returns'),
  sharpe: z.number().optional().describe('mean / standard deviation of these returns · √(steps in a year), risk-free rate 0; a ratio a year, positive is good, nine digits'),
  sortino: z.number().optional().describe('mean / √(Σ min(r, 0)² / n) of these returns · √(steps in a year), target 0; a ratio a year, positive is good, nine digits. Omitted without a loss'),
  calmar: z.number().optional().describe('cagr / drawdown; a ratio a year, positive is good, nine digits. Omitted without a drawdown'),
  drawdown: fraction.describe('Largest 1 − I_t / its peak so far, at the points; a fraction of the peak, 0 or more, nine digits'),
}).meta({ id: 'performance' }); // prettier-ignore

const tearsheet = z
  .strictObject({
    portfolio: performance.describe('Performance of `index`'),
    buy_and_hold: performance.describe('Performance of `hold_index`'),
    targets_held: performance.describe('Performance of `target_index`'),
    drawdowns: list(
      z.strictObject({
        depth: fraction.describe('A fraction of the peak, nine digits'),
        peak_at: time.describe('Time of the peak'),
        lowest_at: time.describe('Time of the lowest point'),
        recovered_at: time
          .optional()
          .describe('Time of the first point that reaches the peak again; omitted if there is none'),
      }),
    ).describe('The five deepest drawdowns, deepest first'),
    months: list(
      z.strictObject({
        month: z.string().describe('YYYY-MM, UTC'),
        return: fraction.describe('Return from the last point of the month before, nine digits'),
        targets_held: fraction.describe('Return of `target_index` in that month, nine digits'),
        covers_ms: count
          .optional()
          .describe('Part of the month that the period covers, ms; omitted if it covers the whole month'),
      }),
    ).describe('Returns of the months; a month that the period covers only in part counts with that part'),
  })
  .meta({ id: 'tearsheet' });

const gap = z.strictObject({
  total: amount.describe('value at the first point · (index − target_index) at the last; cash, POSITIVE IS GOOD. The parts sum to it'),
  trading: amount.describe('Spread and impact, −s·(amount_i − q_i·m_i) of each fill, compounded; cash, POSITIVE IS GOOD'),
  fees: amount.describe('Fees of the fills, compounded; cash, POSITIVE IS GOOD'),
  interest: amount.describe('Interest on credit, compounded; cash, POSITIVE IS GOOD'),
  build_up: amount.describe('Weights away from their targets, Σ (w − w*)·r_c, until `since_built`: cash that is not yet invested; cash, POSITIVE IS GOOD'),
  drift: amount.describe('The same sum from `since_built` on; cash, POSITIVE IS GOOD'),
}).describe('Compounded: each step counts with the growth of the portfolio before it and of the targets after it (GRAP 1997). `paid` has the plain sums').meta({ id: 'gap' }); // prettier-ignore

const sinceBuilt = z.strictObject({
  at: time.describe('Time of that point'),
  ...drifts,
  tracking_error: fraction
    .optional()
    .describe(
      'Tracking error of the steps after that point; a fraction per year, nine digits. Omitted below ten differences',
    ),
});

const gain = z.strictObject({
  currency: z.string().describe('Currency'),
  start: amount.describe('Value of the balance at the start; cash, exact'),
  traded: amount.describe(
    'Paid for purchases less received for sales, including fees; cash, exact. Sums to 0',
  ),
  flows: amount.describe(
    'Changes that neither a trade within the portfolio nor interest explains, at the price at that time; cash, exact',
  ),
  end: amount.describe('Value of the balance at the end; cash, exact'),
  gain: amount.describe(
    'end − start − traded − flows, so interest is part of it; cash, exact, positive is good',
  ),
  share: fraction.optional().describe('gain / Σ gain, six decimals. Omitted where that sum is 0'),
});

const rebalancing = z.strictObject({
  at: time.describe('Time of the decision'),
  currency: z
    .string()
    .optional()
    .describe(
      'Currency that was farthest from its target at that time, measured as `drift_type`; omitted if a price is missing',
    ),
  weight: z
    .string()
    .optional()
    .describe('Weight of that currency before the first trade; a fraction, six decimals'),
  bought: amount.describe('Amounts of the buy orders that were filled, without fees; cash'),
  sold: amount.describe('Amounts of the sell orders that were filled, without fees; cash'),
  cost: amount.describe('Spread, impact and fees of its fills; cash, positive is bad'),
});

const course = z.strictObject({
  step_ms: count.describe('Interval between points, ms; the first and the last may be shorter'),
  mean_value: z.number().describe('Mean value over the points, cash; nine digits'),
  turnover: fraction.describe('`traded` / 2 / `mean_value`: one-way, not annualised; a fraction, 0 or more, nine digits'),
  return: fraction.describe('True time-weighted: Π V_k / (V_{k−1} + flow_{k−1}) − 1 over the points and `cash_flows`, where V is the value before the flow of that instant; not annualised, a fraction, positive is good, nine digits'),
  money_weighted_return: fraction.describe('r of V_0·(1 + r) + Σ flow_i·(1 + r)^((T − t_i) / (T − t_0)) = V_T, the internal rate of the period; not annualised, a fraction, positive is good, nine digits. Equals `return` without flows'),
  target_return: fraction.describe('Π Σ w*·m_t / m_{t−1} − 1 over the points: the target weights, restored at every point without cost; a fraction, positive is good, nine digits'),
  tracking_error: fraction.optional().describe('√(Σ (d_i − w_i·m)² / (W − Σ w_i² / W) · steps in 365.25 days), where d_i is the difference between the two returns, w_i the steps that it covers (1, less for the last), W = Σ w_i and m = Σ d_i / W; a fraction a year, 0 or more, nine digits. It includes the purchase of the portfolio; `since_built` excludes it. Omitted below ten differences'),
  drawdown: fraction.describe('Largest 1 − index / its peak so far, at the points, so a fall and a rise between two points are not seen; a fraction of the peak, 0 or more, nine digits'),
  drawdown_at: time.optional().describe('The point at which the index was farthest below its peak, accurate to one step; omitted if the index never fell'),
  gap: gap.describe('Why `return` is not `target_return`, in money'),
  since_built: sinceBuilt.optional().describe('From the first point at which every weight lies within its band; until then the portfolio is being bought. Omitted if there is no such point'),
  ...drifts,
  hold_gains: z.record(z.string(), z.string().describe('Cash, decimal text')).describe('Gain of each currency if its target weight had been bought at the first point without cost and held until the last: the gains sum to the value · (hold_index − 1), each rounded; cash'),
  flows: z.number().describe('Σ of all `cash_flows`; cash, positive came in, nine digits'),
  cash_flows: list(
    z.strictObject({
      at: time.describe('Time at which the journal shows it'),
      value: z.number().describe('Value of the portfolio just before it, cash; nine digits'),
      amount: z.number().describe('Cash at the price of that time, positive came in; nine digits'),
    }),
  ).describe('Balance changes that neither a fill nor interest explains, and trades against currencies outside the portfolio; the 2 000 largest, oldest first'),
  tearsheet: tearsheet.describe('Figures of the points; annualised figures use only whole steps'),
  points: list(point).describe('At most 2 002: the start of the period, evenly spaced whole hours or days of UTC, and its end'),
}).meta({ id: 'course' }); // prettier-ignore

export const portfolio = z
  .strictObject({
    strategy: z.string().describe('Id of the rebalancing strategy'),
    cash: z.string().describe('Valuation currency'),
    drift_type: z
      .enum(['absolute', 'relative'])
      .describe('absolute: |w − w*|. relative: |w − w*| / w*; absolute where the target is 0'),
    drift_threshold: z.string().describe('Width of the band on either side, a fraction'),
    targets: z
      .record(z.string(), z.string().describe('w*, a fraction'))
      .describe('Target weight of each currency'),
    decisions: count.describe('Decisions to trade'),
    rebalancings: list(rebalancing).describe(
      'The rebalancing decisions and their results, oldest first; if there are more than 50, those that traded most',
    ),
    traded: amount.describe(
      'Bought plus sold, cash; fills in other currencies are converted at the price at that time',
    ),
    start: valuation
      .optional()
      .describe('Valuation at the start of the period; omitted if a price is missing'),
    end: valuation.optional().describe('Valuation at the end of the period; omitted if a price is missing'),
    gains: list(gain)
      .optional()
      .describe(
        'Gain of each currency; the gains sum to the gain of the portfolio. Omitted if a price is missing',
      ),
    paid: z
      .strictObject({
        spread: amount.describe('Σ s·(amount_i − q_i·m_i): spread and impact; cash, exact, positive is bad'),
        fees: amount.describe('Σ fees; cash, exact, positive is bad'),
        interest: amount.describe('Σ interest on credit; cash, exact, positive is bad'),
      })
      .describe(
        'Plain sums after the start of the period, of all fills and interest in its currencies, at the price of their time, never compounded',
      ),
    at_costs: list(atCosts)
      .optional()
      .describe('Value at the end if the same fills had cost nothing, what they did cost, and twice as much'),
    course: course
      .optional()
      .describe('Figures over time. Omitted without market history for every currency'),
  })
  .meta({ id: 'portfolio' });
