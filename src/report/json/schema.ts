import { z } from 'zod';
import { bootstrap } from './schema-bootstrap.ts';
import { group, parent } from './schema-parents.ts';
import { REPORT_FORMAT } from './format.ts';
import { amount, count, list, quoting, sums, time } from './schema-parts.ts';

/**
 * The schema of `report.json`. Amounts are text with all digits; basis points and ratios have the decimals stated in
 * their fields; times are ISO 8601 in UTC. Unknown values are omitted.
 */

const fraction = z.number();

const valuation = z
  .strictObject({
    at: time.describe('The moment'),
    value: amount.describe('Σ balance·price minus the reserved amounts; cash, exact'),
    weights: z
      .record(z.string(), z.string().describe('value / total; a fraction, six decimals'))
      .describe('Weight of each currency'),
    drift: z
      .string()
      .describe('Largest drift of any currency, measured as `drift_type`; a fraction, six decimals'),
  })
  .meta({ id: 'valuation' });

const point = z.strictObject({
  at: time.describe('The moment'),
  value: z.number().describe('Value, cash; nine digits'),
  index: z
    .number()
    .describe('Return index, adjusted for deposits and withdrawals: 1 at the first point; nine digits'),
  target_index: z
    .number()
    .describe('The same of the target weights, restored at every point without cost; nine digits'),
  hold_index: z
    .number()
    .describe('The same of the target weights, bought at the first point without cost and held; nine digits'),
  drawdown: fraction.describe('index / its peak so far − 1: 0 or less, nine digits'),
  weights: z
    .record(z.string(), z.number().describe('A fraction, nine digits'))
    .describe('Weight of each currency'),
});

const performance = z
  .strictObject({
    return: fraction.describe('I_n − 1; a fraction, nine digits'),
    cagr: fraction
      .optional()
      .describe(
        'I_n^(1 / years) − 1, a year of 365.25 days; a fraction, nine digits. A short period is extrapolated',
      ),
    volatility: fraction
      .optional()
      .describe(
        'Standard deviation (n − 1) of the returns · √(points in a year); nine digits. Omitted below ten returns',
      ),
    sharpe: z
      .number()
      .optional()
      .describe(
        'mean / standard deviation of the returns · √(points in a year), risk-free rate 0; nine digits',
      ),
    sortino: z
      .number()
      .optional()
      .describe(
        'mean / √(Σ min(r, 0)² / n) · √(points in a year), target 0; nine digits. Omitted without a loss',
      ),
    calmar: z.number().optional().describe('cagr / drawdown, nine digits. Omitted without a drawdown'),
    drawdown: fraction.describe('Largest fall from a peak, a fraction of it: 0 or more, nine digits'),
  })
  .meta({ id: 'performance' });

const tearsheet = z
  .strictObject({
    portfolio: performance.describe('Of `index`'),
    buy_and_hold: performance.describe('Of `hold_index`'),
    targets_held: performance.describe('Of `target_index`'),
    drawdowns: list(
      z.strictObject({
        depth: fraction.describe('A fraction of the peak, nine digits'),
        peak_at: time.describe('The peak'),
        lowest_at: time.describe('The lowest point'),
        recovered_at: time.optional().describe('The first point at the peak again; omitted if there is none'),
      }),
    ).describe('The five deepest, deepest first'),
    months: list(
      z.strictObject({
        month: z.string().describe('YYYY-MM, UTC'),
        return: fraction.describe('From the last point of the month before, nine digits'),
        targets_held: fraction.describe('The same of `target_index`, nine digits'),
      }),
    ).describe('A month that the period covers in part counts with that part'),
  })
  .meta({ id: 'tearsheet' });

const course = z
  .strictObject({
    step_ms: count.describe('Interval between points, ms; the last may be shorter'),
    mean_value: z.number().describe('Mean value over the points, cash; nine digits'),
    turnover: fraction.describe('(bought + sold) / 2 / mean value: one-way; a fraction, nine digits'),
    return: fraction.describe('Π (V_t − flow_t) / V_{t−1} − 1; a fraction, nine digits'),
    target_return: fraction.describe(
      'Return of the target weights, rebalanced at every point without cost; a fraction, nine digits',
    ),
    tracking_error: fraction
      .optional()
      .describe(
        '√(Σ (d_i − w_i·m)² / (W − Σ w_i² / W) · steps in 365.25 days), where d_i is the difference between the two returns, w_i the steps that it covers (1, less for the last), W = Σ w_i and m = Σ d_i / W; a fraction a year, nine digits. Omitted below ten differences',
      ),
    drawdown: fraction.describe(
      'Largest fall of the index from its peak, as a fraction of the peak: 0 or more, nine digits',
    ),
    drawdown_at: time
      .optional()
      .describe(
        'The point at which the index was farthest below its peak, to the step of the points; omitted if the index never fell',
      ),
    drift_mean: fraction.describe('Mean of the largest drift of any currency over the points, nine digits'),
    drift_max: fraction.describe('Maximum of that drift, nine digits'),
    outside: fraction.describe('Share of the points outside the band, nine digits'),
    flows: z
      .number()
      .describe(
        'Net inflow, cash: balance changes that no fill explains, and trades against currencies outside the portfolio; nine digits',
      ),
    tearsheet: tearsheet.describe(
      'Figures of the points, of whole steps alone where they are annualised by them',
    ),
    points: list(point).describe('At most 2 001: evenly spaced from the start of the period, and its end'),
  })
  .meta({ id: 'course' });

const portfolio = z
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
    traded: amount.describe(
      'Bought plus sold, cash; fills in other currencies are converted at the price of their time',
    ),
    start: valuation.optional().describe('At the start of the period; omitted if a price is missing'),
    end: valuation.optional().describe('At the end of the period; omitted if a price is missing'),
    course: course.optional().describe('Over time. Omitted without market history for every currency'),
  })
  .meta({ id: 'portfolio' });

const shortened = z.strictObject({
  end: z.enum(['from', 'until']).describe('Which end of the window'),
  at: time.describe('Where it lies'),
  by: list(z.string()).describe('Pairs whose prices begin or end there'),
  left_out_of: z.string().describe('Pair of which most is left out'),
  left_out_ms: count.describe('How much of it, ms'),
});

const delisted = z.strictObject({
  pair: z.string().describe('Pair of the prices'),
  currency: z.string().describe('Its base currency'),
  at: time.describe('When its last price is known'),
  price: amount.describe('That price, quote per base; it holds until the end of the window'),
  does: z
    .enum(['liquidate', 'freeze'])
    .describe('liquidate: the balance is sold at that price, at the cost of the model. freeze: it stays'),
  held: amount.describe('Balance of that currency at the end of the window, exact'),
});

const backtest = z
  .strictObject({
    from: time.describe('Start of the window, inclusive'),
    until: time.describe('End of the window, exclusive'),
    seed: z.string().describe('Seed of the random numbers of the venue and of the jitter of the desk'),
    model: z.string().describe('Execution model'),
    settings: z
      .record(z.string(), z.unknown().describe('See docs/backtest.md'))
      .describe('Every setting of the model, named as in its file'),
    shortened: list(shortened)
      .optional()
      .describe('Ends of the window that nobody asked for and that the prices of some pairs set'),
    delisted: list(delisted).optional().describe('Pairs whose prices end before the window'),
    files: z.record(z.string(), z.string().describe('Path as given')).describe('Price file of each pair'),
    holdings: z
      .record(z.string(), amount.describe('Balance in that currency, exact'))
      .describe('Balances of the account at the end'),
    value_usd: amount.describe('Value of the balances at the last prices; USD, truncated to cents'),
    open_doubts: count.describe('Orders with an unknown outcome at the end'),
    control: z.string().describe('State of the desk at the end: `active` unless a control stopped it'),
    alerts: z.record(z.string(), count.describe('Number of times')).describe('Alerts that the desk raised'),
  })
  .meta({ id: 'backtest' });
export type BacktestFacts = z.output<typeof backtest>;

const madeFrom = z.strictObject({
  records: count.describe('Number of records read'),
  head: z.string().optional().describe('Hash of the newest record, which covers the whole journal'),
  desks: list(z.string()).describe('Desks that wrote it'),
  modes: list(z.string()).describe('Modes in which they ran'),
  versions: list(z.string()).describe('Versions of the program that wrote it'),
  config_hashes: list(z.string()).describe('SHA-256 of each configuration used'),
  corrections: count.describe('Fills that the account corrected; the figures use the corrected amounts'),
});

const history = z.strictObject({
  pair: z.string().describe('Pair of the prices'),
  bar_ms: count.describe('Length of a bar, ms; 0 for single trades'),
  rows: count.describe('Number of rows: bars or trades'),
  from: time.describe('Start of the first bar'),
  until: time.describe('End of the last bar'),
  hash: z.string().describe('SHA-256 of the columns'),
  gaps: count.optional().describe('Gaps within the period that are longer than a bar'),
  missing_bars: count.optional().describe('Bars missing in those gaps'),
  longest_gap_ms: count
    .optional()
    .describe('Longest gap, from the end of a bar to the start of the next, ms'),
});

const life = z.strictObject({
  strategy: z.string().describe('Id of the strategy'),
  kind: z.string().describe('Kind of the strategy'),
  hash: z.string().describe('SHA-256 of the document'),
  document: z
    .record(z.string(), z.unknown().describe('See docs/strategies'))
    .optional()
    .describe('The document, as the journal holds it'),
  begun_at: time.describe('When this version of the document started to run'),
  finished_at: time.optional().describe('When the strategy finished'),
  finished: z.string().optional().describe('Reason code'),
});

const total = z.strictObject({
  quote: z.string().describe('Quote currency; the report never adds amounts of different currencies'),
  amount: amount.describe('Σ amount of all fills, quote currency'),
  fees: amount.describe('Σ fees of all fills, quote currency; includes parents without an arrival price'),
  costs: sums.describe('Sums over the parents'),
});

const carry = z.strictObject({
  currency: z.string().describe('Borrowed currency'),
  amount: amount.describe('Interest charged, in that currency; positive is paid'),
});

const untraded = z.strictObject({
  strategy: z.string().describe('Id of the strategy'),
  reason: z.string().describe('Code of the reason'),
  words: z.string().describe('Reason in words'),
  slices: count.describe('Slices that traded nothing'),
  looks: count.describe('Evaluations of a schedule or a price that led to no slice'),
  first: time.describe('First occurrence'),
  last: time.describe('Last occurrence'),
  detail: z.string().optional().describe('Figures of the last occurrence, for people'),
});

export const reportSchema = z.strictObject({
  format: z
    .literal(REPORT_FORMAT)
    .describe('Format version; it increases when a field is removed or changes its meaning'),
  version: z.string().describe('Version of Tranche that wrote the report'),
  signs: z
    .strictObject({
      costs: z.string().describe('Sign of every cost: positive is bad'),
      mark_outs: z.string().describe('Sign of mark-outs: positive is good'),
    })
    .describe('Sign conventions, in words'),
  period: z
    .strictObject({ from: time.describe('First record'), until: time.describe('Last record') })
    .optional()
    .describe('Period of the report; omitted for an empty journal'),
  made_from: madeFrom.describe('Source journal'),
  prices: list(history).describe('Market history given to the report'),
  assumptions: list(z.string()).describe('Assumptions behind the figures, one sentence each'),
  warnings: list(z.string()).describe('Limitations of the figures, one sentence each'),
  strategies: list(life).describe('Each version of each strategy document'),
  totals: list(total).describe('Totals of all parents, by quote currency'),
  carry: list(carry)
    .optional()
    .describe(
      'Interest on credit by currency; no cost above includes it. Only a backtest reports it: a journal does not record interest',
    ),
  quoting: quoting.describe('Quotes and orders of all parents'),
  groups: list(group).describe('Totals by strategy, pair and side'),
  parents: list(parent).describe('Parents in the order of their start; at most 1 000'),
  parents_left_out: count.describe('Parents not listed: those that cost and gained least'),
  fills: count.describe('Number of fills; fills.csv lists them'),
  untraded: list(untraded).describe('Why slices did not trade, by strategy and reason, most slices first'),
  portfolios: list(portfolio).describe('Portfolio of each rebalancing strategy'),
  backtest: backtest.optional().describe('Settings and result of the backtest that made the records'),
  bootstrap: bootstrap
    .optional()
    .describe('Confidence intervals of a backtest over resampled history, if requested'),
});

export type Report = z.output<typeof reportSchema>;
