import { z } from 'zod';
import { bootstrap } from './schema-bootstrap.ts';
import { group, parent } from './schema-parents.ts';
import { REPORT_FORMAT } from './format.ts';
import { amount, count, list, quoting, sums, time } from './schema-parts.ts';

/**
 * The shape of `report.json`. Amounts are text, so that every digit arrives; basis points and ratios are stated to the
 * decimals that their fields tell; times are ISO 8601 in UTC. What is not known is left out.
 */

const fraction = z.number();

const valuation = z
  .strictObject({
    at: time.describe('The moment'),
    value: amount.describe('Σ balance·price, less what is set aside; cash, exact'),
    weights: z
      .record(z.string(), z.string().describe('value / total, a fraction of six decimals'))
      .describe('By currency'),
    drift: z
      .string()
      .describe('Largest drift of any currency, as drift_type says; a fraction of six decimals'),
  })
  .meta({ id: 'valuation' });

const point = z.strictObject({
  at: time.describe('The moment'),
  value: z.number().describe('Value in cash, nine digits'),
  index: z.number().describe('1 at the first point; deposits and withdrawals taken out; nine digits'),
  drawdown: fraction.describe('index / its peak − 1: 0 or less, nine digits'),
  weights: z
    .record(z.string(), z.number().describe('A fraction, nine digits'))
    .describe('Weight of each currency'),
});

const course = z
  .strictObject({
    step_ms: count.describe('Time from point to point, ms'),
    mean_value: z.number().describe('Mean of the values of the points, cash; nine digits'),
    turnover: fraction.describe('(bought + sold) / 2 / mean value: one-way; a fraction, nine digits'),
    return: fraction.describe('Π (V_t − flow_t) / V_{t−1} − 1; a fraction, nine digits'),
    target_return: fraction.describe(
      'The same of the target weights, restored at every point free of cost; a fraction, nine digits',
    ),
    tracking_error: fraction
      .optional()
      .describe(
        'Standard deviation (n − 1) of the differences of both returns · √(points in 365.25 days); a fraction a year, nine digits. Left out below ten points',
      ),
    drawdown: fraction.describe(
      'Largest fall of the index from its peak; a fraction of the peak, 0 or more, nine digits',
    ),
    drawdown_at: time.optional().describe('When it was lowest; left out when it never fell'),
    drift_mean: fraction.describe('Mean over the points of the largest drift of any currency, nine digits'),
    drift_max: fraction.describe('The largest of them, nine digits'),
    outside: fraction.describe('Share of the points outside the band, nine digits'),
    flows: z
      .number()
      .describe(
        'Value of changes that no fill explains, and of trades for currencies that are not of the portfolio, cash: what comes in is positive; nine digits',
      ),
    points: list(point).describe('At most 2 000, evenly spaced'),
  })
  .meta({ id: 'course' });

const portfolio = z
  .strictObject({
    strategy: z.string().describe('Id of the strategy that keeps it'),
    cash: z.string().describe('Currency that it is valued in'),
    drift_type: z
      .enum(['absolute', 'relative'])
      .describe('absolute: |w − w*|. relative: |w − w*| / w*, of a target of 0 absolute'),
    drift_threshold: z.string().describe('Width of the band on either side, a fraction'),
    targets: z
      .record(z.string(), z.string().describe('w*, a fraction'))
      .describe('Target weight of each currency'),
    decisions: count.describe('Looks that led to trades'),
    traded: amount.describe('Bought and sold, cash; fills in other currencies at the price of then'),
    start: valuation
      .optional()
      .describe('At the first moment of the period; left out when a price is missing'),
    end: valuation.optional().describe('At its last moment; left out when a price is missing'),
    course: course
      .optional()
      .describe('From point to point. Left out without market history of every currency'),
  })
  .meta({ id: 'portfolio' });

const backtest = z
  .strictObject({
    from: time.describe('Begin of the window'),
    until: time.describe('Its end, not itself in it'),
    seed: z.string().describe('Chance of the venue and jitter of the desk follow from it'),
    model: z.string().describe('Name of the execution model'),
    settings: z
      .record(z.string(), z.unknown().describe('As docs/backtest.md tells'))
      .describe('Every setting of the model, in the names of its file'),
    files: z
      .record(z.string(), z.string().describe('Path as it was given'))
      .describe('Prices of each pair, as they were named'),
    holdings: z
      .record(z.string(), amount.describe('Of that currency, exact'))
      .describe('What the account held at the end'),
    value_usd: amount.describe('Of all that it held, at the last prices; USD, cut down to cents'),
    open_doubts: count.describe('Orders whose outcome was unknown at the end'),
    control: z.string().describe('State of the desk at the end: active unless a control stopped it'),
    alerts: z
      .record(z.string(), count.describe('Times'))
      .describe('What an operator would have been told, and how often'),
  })
  .meta({ id: 'backtest' });
export type BacktestFacts = z.output<typeof backtest>;

const madeFrom = z.strictObject({
  records: count.describe('Records that were read'),
  head: z.string().optional().describe('Hash of the newest record: it stands for the whole journal'),
  desks: list(z.string()).describe('Names of the desks that wrote it'),
  modes: list(z.string()).describe('Modes that they ran in'),
  versions: list(z.string()).describe('Versions of the program that wrote it'),
  config_hashes: list(z.string()).describe('SHA-256 of each config that it ran with'),
  corrections: count.describe('Fills that the account corrected: they count with its figures'),
});

const history = z.strictObject({
  pair: z.string().describe('Whose prices'),
  bar_ms: count.describe('Length of a bar, ms; 0: single trades'),
  rows: count.describe('Bars or trades'),
  from: time.describe('Begin of the first bar'),
  until: time.describe('End of the last bar'),
  hash: z.string().describe('SHA-256 of its columns'),
  gaps: count
    .optional()
    .describe('Holes within the period, longer than a bar: rows that the source does not have'),
  missing_bars: count.optional().describe('Bars that are missing in those holes'),
  longest_gap_ms: count
    .optional()
    .describe('The longest of them, from the end of a bar to the begin of the next, ms'),
});

const life = z.strictObject({
  strategy: z.string().describe('Its id'),
  kind: z.string().describe('What it does'),
  hash: z.string().describe('SHA-256 of its text'),
  document: z
    .record(z.string(), z.unknown().describe('As docs/strategies tells'))
    .optional()
    .describe('Its text as data, as the journal holds it'),
  begun_at: time.describe('When this text began to run'),
  finished_at: time.optional().describe('When it had nothing more to do'),
  finished: z.string().optional().describe('Code of why'),
});

const total = z.strictObject({
  quote: z.string().describe('Quote currency: amounts of different currencies are not added up'),
  amount: amount.describe('Σ amount of all fills, quote currency'),
  fees: amount.describe('Σ fees of all fills, quote currency; of parents without a price at arrival too'),
  costs: sums.describe('Sums over the parents'),
});

const carry = z.strictObject({
  currency: z.string().describe('What was borrowed'),
  amount: amount.describe('Interest charged on it, in that currency; positive is paid'),
});

const untraded = z.strictObject({
  strategy: z.string().describe('Id of the strategy'),
  reason: z.string().describe('Code of the reason'),
  words: z.string().describe('The same in words'),
  slices: count.describe('Slices that did not trade at all'),
  looks: count.describe('Looks at a schedule or a price that led to nothing'),
  first: time.describe('When it was so first'),
  last: time.describe('When it was so last'),
  detail: z.string().optional().describe('Figures of the last one, for people'),
});

export const reportSchema = z.strictObject({
  format: z
    .literal(REPORT_FORMAT)
    .describe('Number of this shape: it grows when a field goes or changes its meaning'),
  version: z.string().describe('Version of the program that made the report'),
  signs: z
    .strictObject({
      costs: z.string().describe('Of every cost: positive is bad'),
      mark_outs: z.string().describe('Of mark-outs alone: positive is good'),
    })
    .describe('What a sign means, in words'),
  period: z
    .strictObject({ from: time.describe('First record'), until: time.describe('Last record') })
    .optional()
    .describe('What the report is of; left out of an empty journal'),
  made_from: madeFrom.describe('The journal'),
  prices: list(history).describe('Market history that was given'),
  assumptions: list(z.string()).describe('What the figures rest on, one sentence each'),
  warnings: list(z.string()).describe('What must be known before believing a figure, one sentence each'),
  strategies: list(life).describe('Each text of each strategy'),
  totals: list(total).describe('All parents together, by quote currency'),
  carry: list(carry)
    .optional()
    .describe(
      'Interest on credit by currency, in no cost above. Left out where it is not known: a journal does not hold it, a backtest asks its venue',
    ),
  quoting: quoting.describe('How asking for quotes went, all together'),
  groups: list(group).describe('Parents of one strategy, pair and side together'),
  parents: list(parent).describe('Each instruction, in the order in which they were begun: at most 1 000'),
  parents_left_out: count.describe('The ones that cost and gained least, when there are too many to list'),
  fills: count.describe('Fills in all; each is in fills.csv'),
  untraded: list(untraded).describe('Why nothing was traded, by strategy and reason, most slices first'),
  portfolios: list(portfolio).describe('Of each strategy that keeps target weights'),
  backtest: backtest.optional().describe('How the records were made, where that was a backtest'),
  bootstrap: bootstrap
    .optional()
    .describe('Intervals of a backtest over history that was drawn anew, where they were asked for'),
});

export type Report = z.output<typeof reportSchema>;
