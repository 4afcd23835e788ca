import { z } from 'zod';
import { group, parent } from './schema-parents.ts';
import { amount, atCosts, count, list, quoting, sums, time } from './schema-parts.ts';
import { oversight } from './schema-oversight.ts';
import { portfolio } from './schema-portfolio.ts';

/**
 * The schema of `report.json`. Amounts are text with all digits; basis points and ratios have the decimals stated in
 * their fields; times are ISO 8601 in UTC. Unknown values are omitted.
 */

/** It increases when a field is removed or changes its meaning; a new field needs no new version. */
export const REPORT_FORMAT = 1;

const shortened = z.strictObject({
  end: z.enum(['from', 'until']).describe('Which end of the window'),
  at: time.describe('Time of that end'),
  by: list(z.string()).describe('Pairs whose prices begin or end there'),
  left_out_of: z.string().describe('Pair that loses the most history'),
  left_out_ms: count.describe('Length of the history that it loses, ms'),
});

const delisted = z.strictObject({
  pair: z.string().describe('Pair of the prices'),
  currency: z.string().describe('Its base currency'),
  at: time.describe('Time at which its last price is known'),
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
    seed: z.string().describe("Seed of the venue's random numbers and of the desk's jitter"),
    arguments: z
      .string()
      .optional()
      .describe('Arguments of `tranche backtest` that affect its trades, quoted for a shell'),
    model: z.string().describe('Execution model'),
    settings: z
      .record(z.string(), z.unknown().describe('See docs/backtest.md'))
      .describe('Every setting of the model, named as in its file'),
    shortened: list(shortened)
      .optional()
      .describe('Ends of the window that were not given and that follow from the prices of some pairs'),
    delisted: list(delisted).optional().describe('Pairs whose prices end before the window ends'),
    files: z.record(z.string(), z.string().describe('Path as given')).describe('Price file of each pair'),
    holdings: z
      .record(z.string(), amount.describe('Balance in that currency, exact'))
      .describe('Balances of the account at the end'),
    value_usd: amount.describe(
      'Σ balance·price over all balances, at the last prices of the window; USD, to the nearest cent, halves to even, negative for a net debt',
    ),
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
    .describe('The document, as the journal contains it'),
  begun_at: time.describe('Time at which this version of the document started to run'),
  finished_at: time.optional().describe('Time at which the strategy finished'),
  finished: z.string().optional().describe('Reason code'),
});

const total = z.strictObject({
  quote: z.string().describe('Quote currency; the report never adds amounts of different currencies'),
  amount: amount.describe('Σ amount of all fills, quote currency'),
  fees: amount.describe('Σ fees of all fills, quote currency; includes parents without an arrival price'),
  costs: sums.describe('Sums over the parents'),
  at_costs: list(atCosts)
    .optional()
    .describe(
      'Implementation shortfall if the same fills had cost nothing, what they did cost, and twice as much: total + (times − 1)·(execution + fees)',
    ),
});

const carry = z.strictObject({
  currency: z.string().describe('Borrowed currency'),
  amount: amount.describe(
    'Σ interest charged until the end of the window, in that currency; positive is paid',
  ),
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
      'Interest on credit by currency; no cost of a parent includes it. Only a backtest reports it: a journal does not record interest',
    ),
  quoting: quoting.describe('Quotes and orders of all parents'),
  groups: list(group).describe('Totals by strategy, pair and side'),
  parents: list(parent).describe('Parents in order of their start; at most 1 000'),
  parents_left_out: count.describe('Number of parents not listed: those with the smallest costs and gains'),
  fills: count.describe('Number of fills; fills.csv lists them'),
  untraded: list(untraded).describe('Why slices did not trade, by strategy and reason, most slices first'),
  portfolios: list(portfolio).describe('Portfolio of each rebalancing strategy'),
  backtest: backtest.optional().describe('Settings and result of the backtest that wrote the records'),
  oversight: oversight
    .optional()
    .describe('Orders against their limits, outliers, refusals, doubts and actions, if requested'),
});

export type Report = z.output<typeof reportSchema>;
