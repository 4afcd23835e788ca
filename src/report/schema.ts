import { z } from 'zod';

/**
 * The shape of `report.json`. Amounts are text, so that every digit arrives; basis points and ratios are stated to the
 * decimals that `docs/report.md` tells; times are ISO 8601 in UTC. What is not known is left out.
 */

/** Number of the shape: it grows when a field goes or changes its meaning. New fields may come without. */
export const REPORT_FORMAT = 1;

const amount = z.string().describe('Plain decimal, exact');
const bps = z.string().describe('Basis points, four decimals, rounded to even');
const time = z.string().describe('ISO 8601, UTC');
const count = z.int().min(0);
const ratio = z.number().describe('A fraction, six decimals');
const side = z.enum(['buy', 'sell']);
const list = <T extends z.ZodType>(of: T): z.ZodReadonly<z.ZodArray<T>> => z.array(of).readonly();

const spread = z
  .strictObject({ count, mean: z.number(), median: z.number(), p95: z.number(), max: z.number() })
  .describe('Nearest rank');

const costs = z.strictObject({
  paper: amount.describe('Q·P_d, what the basis points of the shortfall are of; quote currency'),
  delay: amount.describe('s·Q·(P_a − P_d)'),
  trading: amount.describe('s·(Σ amount − F·P_a); timing + execution'),
  timing: amount.describe('s·Σ F_k·(d_k − P_a)'),
  execution: amount.describe('s·Σ (amount_k − F_k·d_k)'),
  opportunity: amount.describe('s·(Q − F)·(P_end − P_a)'),
  fees: amount,
  total: amount.describe('Implementation shortfall: delay + trading + opportunity + fees, exactly'),
  bps: z
    .strictObject({
      delay: bps,
      trading: bps,
      timing: bps,
      execution: bps,
      opportunity: bps,
      fees: bps,
      total: bps,
    })
    .optional()
    .describe('Each of them of `paper`; left out when that is 0'),
  arrival_slippage_bps: bps.optional().describe('s·(P̄ − P_a)/P_a, fees not counted'),
  all_in_bps: bps.optional().describe('Arrival slippage with the fees'),
});

const sums = costs.extend({
  parents: count,
  without_price: count.describe('Parents that are not in these sums: no price at their arrival'),
  missed_slices: count.describe('Slices that ended with something untraded'),
  missed_cost: amount.describe('What that came to cost later: inside trading and opportunity, not besides'),
});

const markOut = z.strictObject({ minutes: count, fills: count, bps: bps.optional() });

const fills = z.strictObject({
  fills: count,
  spread_bps: bps
    .optional()
    .describe('Half spread paid against the reference price of the attempt, weighted by notional'),
  spread_bps_of_fills: spread.optional(),
  mark_outs: list(markOut).describe(
    's·(m(t+τ) − p)/p weighted by notional: POSITIVE IS GOOD; bps left out without prices',
  ),
});

const quoting = z.strictObject({
  requests: count,
  quotes: count,
  orders: count,
  fills: count,
  rejected: count,
  doubts: count,
  open: count,
  expired: count,
  response_ratio: ratio.optional().describe('quotes / requests'),
  hit_ratio: ratio.optional().describe('orders / quotes'),
  fill_ratio: ratio.optional().describe('fills / orders whose outcome is known'),
  expiry_miss_ratio: ratio.optional().describe('expired / (expired + orders)'),
  attempts_per_fill: ratio.optional().describe('requests / fills'),
  quote_age_ms: spread.optional().describe('From the arrival of the quote to the first byte of the order'),
  quote_life_ms: spread.optional(),
  refusals: list(z.strictObject({ reason: z.string(), attempts: count })),
});

const slice = z.strictObject({
  slice: count,
  slot: time,
  decided_at: time,
  ended_at: time.optional(),
  result: z.enum(['filled', 'skipped', 'expired', 'open']),
  reason: z.string().optional(),
  detail: z.string().optional(),
  by: z.enum(['quantity', 'amount']),
  wanted: amount,
  traded: amount,
  amount,
  average_price: amount.optional(),
  decision_price: amount.optional(),
  attempts: count,
  cost: amount.optional().describe('s·(amount_k − F_k·P_a), quote currency'),
  cost_bps: bps.optional().describe('Of F_k·P_a'),
  timing: amount.optional(),
  execution: amount.optional(),
  untraded: amount.describe('Base currency'),
  missed_cost: amount.optional(),
});

const seen = z.strictObject({ price: amount, at: time, from: z.enum(['prices', 'journal']) });

const benchmark = z.strictObject({ price: amount, slippage_bps: bps.optional() });

const parent = z.strictObject({
  parent: z.string(),
  strategy: z.string(),
  leg: z.string(),
  pair: z.string(),
  side,
  base: z.string(),
  quote: z.string(),
  due_at: time,
  begun_at: time,
  ended_at: time,
  open: z.boolean(),
  planned: amount.optional().describe('Q, base currency'),
  traded: amount.describe('F, base currency'),
  amount,
  fees: amount,
  average_price: amount.optional().describe('Twelve decimals'),
  decision: seen.optional().describe('P_d: when it was due'),
  arrival_price: amount.optional().describe('P_a: reference price when its first slice was decided'),
  end: seen.optional().describe('P_end'),
  costs: costs.optional().describe('Left out without a price at arrival'),
  twap: benchmark.optional(),
  vwap: benchmark.optional(),
  missed: count.describe('Slices that passed without a try'),
  slices: list(slice),
  slices_left_out: count,
});

const group = z.strictObject({
  strategy: z.string(),
  pair: z.string(),
  base: z.string(),
  quote: z.string(),
  side,
  traded: amount,
  amount,
  average_price: amount.optional(),
  costs: sums,
  twap_slippage_bps: bps.optional(),
  vwap_slippage_bps: bps.optional(),
  fills,
  quoting,
});

const valuation = z.strictObject({
  at: time,
  value: amount,
  weights: z.record(z.string(), z.string()),
  drift: z.string().describe('Largest drift of any currency'),
});

const course = z.strictObject({
  step_ms: count,
  mean_value: z.number(),
  turnover: z.number().describe('One-way: traded value / 2 / mean value'),
  return: z.number(),
  target_return: z.number().describe('Of the target weights, restored at every point free of cost'),
  tracking_error: z.number().optional().describe('A year'),
  drawdown: z.number(),
  drawdown_at: time.optional(),
  drift_mean: z.number(),
  drift_max: z.number(),
  outside: z.number().describe('Share of the points outside the band'),
  flows: z.number().describe('Value of changes that no fill explains'),
  points: list(
    z.strictObject({
      at: time,
      value: z.number(),
      index: z.number(),
      drawdown: z.number(),
      weights: z.record(z.string(), z.number()),
    }),
  ),
});

const portfolio = z.strictObject({
  strategy: z.string(),
  cash: z.string(),
  drift_type: z.enum(['absolute', 'relative']),
  drift_threshold: z.string(),
  targets: z.record(z.string(), z.string()),
  decisions: count,
  traded: amount.describe('Bought and sold, in cash'),
  start: valuation.optional(),
  end: valuation.optional(),
  course: course.optional().describe('Left out without prices of every currency'),
});

const backtest = z
  .strictObject({
    from: time,
    until: time.describe('Not itself'),
    seed: z.string(),
    model: z.string().describe('Name of the execution model'),
    settings: z
      .record(z.string(), z.unknown())
      .describe('Every setting of the model, in the names of its file'),
    files: z.record(z.string(), z.string()).describe('Prices of each pair, as they were named'),
    holdings: z.record(z.string(), amount).describe('What the account held at the end'),
    value_usd: amount.describe('Of all that it held, at the last prices'),
    open_doubts: count,
    control: z.string().describe('State of the desk at the end: active unless a control stopped it'),
    alerts: z.record(z.string(), count).describe('What an operator would have been told, and how often'),
  })
  .describe('How the records were made, where that was a backtest');
export type BacktestFacts = z.output<typeof backtest>;

export const reportSchema = z.strictObject({
  format: z.literal(REPORT_FORMAT),
  version: z.string().describe('Version of the program that made the report'),
  signs: z.strictObject({ costs: z.string(), mark_outs: z.string() }),
  period: z.strictObject({ from: time, until: time }).optional(),
  made_from: z.strictObject({
    records: count,
    head: z.string().optional().describe('Hash of the newest record: it stands for the whole journal'),
    desks: list(z.string()),
    modes: list(z.string()),
    versions: list(z.string()),
    config_hashes: list(z.string()),
    corrections: count,
  }),
  prices: list(
    z.strictObject({
      pair: z.string(),
      bar_ms: count,
      rows: count,
      from: time,
      until: time,
      hash: z.string(),
    }),
  ),
  assumptions: list(z.string()),
  warnings: list(z.string()),
  strategies: list(
    z.strictObject({
      strategy: z.string(),
      kind: z.string(),
      hash: z.string(),
      begun_at: time,
      finished_at: time.optional(),
      finished: z.string().optional(),
    }),
  ),
  totals: list(z.strictObject({ quote: z.string(), amount, fees: amount, costs: sums })),
  carry: list(z.strictObject({ currency: z.string(), amount })).optional(),
  quoting,
  groups: list(group),
  parents: list(parent),
  parents_left_out: count.describe('The ones that cost least, when there are too many to list'),
  fills: count,
  untraded: list(
    z.strictObject({
      strategy: z.string(),
      reason: z.string(),
      words: z.string(),
      slices: count,
      looks: count.describe('Looks at a schedule or a price that led to nothing'),
      first: time,
      last: time,
      detail: z.string().optional().describe('Figures of the last one'),
    }),
  ),
  portfolios: list(portfolio),
  backtest: backtest.optional(),
});

export type Report = z.output<typeof reportSchema>;
