import { z } from 'zod';
import { mapped } from '../figures/rows.ts';

/**
 * Parts of the schema of `report.json`. Every description states unit, sign and formula. `docs/report.md` and
 * `config/schema/report.schema.json` are generated from these descriptions.
 */

export const amount = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/u)
  .describe('Plain decimal, exact');
export const bps = z
  .string()
  .regex(/^-?\d+\.\d{4}$/u)
  .describe('Basis points, four decimals, halves to even');
export const time = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u)
  .describe('ISO 8601, UTC, milliseconds');
export const count = z.int().min(0);
export const ratio = z.number().describe('A fraction, six decimals');
export const side = z.enum(['buy', 'sell']);
export const list = <T extends z.ZodType>(of: T): z.ZodReadonly<z.ZodArray<T>> => z.array(of).readonly();

/** Statistics of measurements, by nearest rank. */
export interface Spread {
  readonly count: number;
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

export const spreadOf = (unit: string): z.ZodType<Spread> =>
  z.strictObject({
    count: count.describe('Measurements'),
    mean: z.number().describe(`Mean, ${unit}; to the nearest of three decimals`),
    median: z.number().describe(`The ⌈n/2⌉-th smallest, ${unit}`),
    p95: z.number().describe(`The ⌈0.95·n⌉-th smallest, ${unit}`),
    max: z.number().describe(`Largest, ${unit}`),
  });
/** The parts of a cost, in the order of a report. */
export const COST_PARTS = [
  'delay',
  'trading',
  'timing',
  'execution',
  'opportunity',
  'fees',
  'total',
] as const;

/** Named parts: the schema and the documentation describe each of them once. */
const costFields = z.strictObject({
  paper: amount.describe(
    'Q·P_d, the base of the shortfall in basis points; quote currency. Q is F while the parent is open',
  ),
  delay: amount.describe('s·Q·(P_a − P_d); quote currency, positive is bad'),
  trading: amount.describe(
    's·(Σ amount_i − F·P_a) = timing + execution, exactly; quote currency, positive is bad',
  ),
  timing: amount.describe('s·Σ F_k·(d_k − P_a); quote currency, positive is bad'),
  execution: amount.describe('s·Σ (amount_k − F_k·d_k); quote currency, positive is bad'),
  opportunity: amount.describe(
    's·(Q − F)·(P_end − P_a); quote currency, positive is bad. 0 while the parent is open, because Q is F until then',
  ),
  fees: amount.describe('Σ fees; quote currency, positive is bad'),
  total: amount.describe(
    'Implementation shortfall: delay + trading + opportunity + fees, exactly; quote currency, positive is bad',
  ),
  bps: z
    .strictObject(
      mapped(COST_PARTS, (part) => bps.describe(`${part} / paper, basis points; positive is bad`)),
    )
    .optional()
    .describe('Each cost as a fraction of `paper`; omitted if `paper` is 0'),
  arrival_slippage_bps: bps
    .optional()
    .describe('trading / (F·P_a), basis points, without fees; positive is bad'),
  all_in_bps: bps.optional().describe('(trading + fees) / (F·P_a), basis points; positive is bad'),
});

export const costs = costFields.meta({ id: 'costs' });
export type Costs = z.output<typeof costs>;

export const sums = costFields
  .extend({
    parents: count.describe('Number of parents'),
    without_price: count.describe('Parents excluded from the sums because they have no arrival price'),
    missed_slices: count.describe('Slices that ended with a remainder'),
    passed_slots: count.optional().describe('Slots that passed without an attempt'),
    passed_without_price: count
      .optional()
      .describe('Slots excluded from `passed_cost` because their time, size or price is unknown'),
    passed_cost: amount
      .optional()
      .describe(
        'Σ s·u·(P_later − m(slot)), the later cost of what these slots planned to trade; quote currency, positive is bad. Part of trading and opportunity',
      ),
    missed_cost: amount.describe(
      'Σ s·u·(P_later − d_k), the later cost of the remainders; quote currency, positive is bad. Part of trading and opportunity',
    ),
  })
  .meta({ id: 'sums' });

export const atCosts = z
  .strictObject({
    times: count.describe('Factor applied to the cost of trading'),
    sum: amount.describe(
      'The figure for the same fills at that cost; exact, cash or quote currency as that figure. Different costs would have led to different decisions',
    ),
  })
  .meta({ id: 'at_costs' });

const markOut = z.strictObject({
  minutes: count.describe('τ, minutes after the fill'),
  fills: count.describe(
    'Fills with a price at τ that is newer than the fill and from a bar no longer than τ',
  ),
  bps: bps
    .optional()
    .describe(
      'Σ s·(q_i·m(t_i + τ) − amount_i) / Σ amount_i, basis points: POSITIVE IS GOOD. Omitted without prices',
    ),
});

export const fills = z
  .strictObject({
    fills: count.describe('Number of fills'),
    spread_bps: bps
      .optional()
      .describe(
        'Σ s·(amount_i − q_i·m_i) / Σ q_i·m_i: effective half spread, which includes spread and impact, weighted by notional; basis points, positive is bad',
      ),
    spread_bps_of_fills: spreadOf('basis points, four decimals')
      .optional()
      .describe('Distribution over the fills, each counted once; basis points, four decimals'),
    mark_outs: list(markOut).describe('Price moves after the fills'),
  })
  .meta({ id: 'fills' });

export const quoting = z
  .strictObject({
    requests: count.describe('Quote requests'),
    quotes: count.describe('Firm quotes received that matched their request'),
    orders: count.describe('Orders sent'),
    fills: count.describe('Orders filled'),
    rejected: count.describe('Orders that the venue rejected'),
    doubts: count.describe('Orders that were in doubt for a time'),
    open: count.describe('Orders still in doubt'),
    expired: count.describe('Acceptable quotes with too little time left to send an order'),
    response_ratio: ratio.optional().describe('quotes / requests, a fraction, six decimals'),
    hit_ratio: ratio.optional().describe('fills / quotes, a fraction, six decimals'),
    accept_ratio: ratio.optional().describe('orders / quotes; a fraction, 0 or more, six decimals'),
    fill_ratio: ratio.optional().describe('fills / (orders − open); a fraction, 0 or more, six decimals'),
    expiry_miss_ratio: ratio.optional().describe('expired / (expired + orders), a fraction, six decimals'),
    attempts_per_fill: ratio.optional().describe('requests / fills, six decimals'),
    quote_age_ms: spreadOf('ms').optional().describe('Age of the quote at the first byte of the order, ms'),
    quote_life_ms: spreadOf('ms').optional().describe('Validity of these quotes, from issue to expiry, ms'),
    refusals: list(
      z.strictObject({
        reason: z.string().describe('Reason code'),
        attempts: count.describe('Attempts that ended for it'),
      }),
    ).describe('Attempts that did not trade, by reason, most frequent first'),
  })
  .meta({ id: 'quoting' });
