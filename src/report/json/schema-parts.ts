import { z } from 'zod';
import type { Spread } from '../figures/quoting.ts';

/**
 * Pieces of the shape of `report.json`. Every field says what it is: its unit, its sign, its formula. `docs/report.md` and
 * `config/schema/report.schema.json` are made of these words.
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

export const spreadOf = (unit: string): z.ZodType<Spread> =>
  z.strictObject({
    count: count.describe('Measurements'),
    mean: z.number().describe(`Mean, ${unit}; to the nearest of three decimals`),
    median: z.number().describe(`The ⌈n/2⌉-th smallest, ${unit}`),
    p95: z.number().describe(`The ⌈0.95·n⌉-th smallest, ${unit}`),
    max: z.number().describe(`Largest, ${unit}`),
  });
const partBps = (part: string): typeof bps => bps.describe(`${part} / paper, basis points; positive is bad`);

/** Named parts: the schema and the documentation tell each of them once. */
const costFields = z.strictObject({
  paper: amount.describe('Q·P_d, what the basis points of the shortfall are of; quote currency'),
  delay: amount.describe('s·Q·(P_a − P_d); quote currency, positive is bad'),
  trading: amount.describe(
    's·(Σ amount_i − F·P_a) = timing + execution, exactly; quote currency, positive is bad',
  ),
  timing: amount.describe('s·Σ F_k·(d_k − P_a); quote currency, positive is bad'),
  execution: amount.describe('s·Σ (amount_k − F_k·d_k); quote currency, positive is bad'),
  opportunity: amount.describe('s·(Q − F)·(P_end − P_a); quote currency, positive is bad'),
  fees: amount.describe('Σ fees; quote currency'),
  total: amount.describe(
    'Implementation shortfall: delay + trading + opportunity + fees, exactly; quote currency, positive is bad',
  ),
  bps: z
    .strictObject({
      delay: partBps('delay'),
      trading: partBps('trading'),
      timing: partBps('timing'),
      execution: partBps('execution'),
      opportunity: partBps('opportunity'),
      fees: partBps('fees'),
      total: partBps('total'),
    })
    .optional()
    .describe('Each of them of `paper`; left out when that is 0'),
  arrival_slippage_bps: bps
    .optional()
    .describe('trading / (F·P_a), basis points; positive is bad, fees not counted'),
  all_in_bps: bps.optional().describe('(trading + fees) / (F·P_a), basis points; positive is bad'),
});

export const costs = costFields.meta({ id: 'costs' });

export const sums = costFields
  .extend({
    parents: count.describe('Parents in all'),
    without_price: count.describe('Parents that are not in these sums: no price at their arrival'),
    missed_slices: count.describe('Slices that ended with something untraded'),
    passed_slots: count.optional().describe('Slots that passed without a try'),
    passed_without_price: count
      .optional()
      .describe('Those of them that are not in `passed_cost`: their time, size or price is not known'),
    passed_cost: amount
      .optional()
      .describe(
        'Σ s·u·(P_later − m(slot)), what they were planned to trade and came to cost later; quote currency, positive is bad. Inside trading and opportunity, not besides',
      ),
    missed_cost: amount.describe(
      'Σ s·u·(P_later − d_k), what was untraded then and came to cost later; quote currency, positive is bad. Inside trading and opportunity, not besides',
    ),
  })
  .meta({ id: 'sums' });

const markOut = z.strictObject({
  minutes: count.describe('τ, minutes after the fill'),
  fills: count.describe(
    'Fills with a price that long after them, newer than the fill, of bars no longer than τ',
  ),
  bps: bps
    .optional()
    .describe(
      'Σ s·(q_i·m(t_i + τ) − amount_i) / Σ amount_i, basis points: POSITIVE IS GOOD. Left out without prices',
    ),
});

export const fills = z
  .strictObject({
    fills: count.describe('Fills in all'),
    spread_bps: bps
      .optional()
      .describe(
        'Σ s·(amount_i − q_i·m_i) / Σ q_i·m_i: half of the spread paid, basis points; positive is bad',
      ),
    spread_bps_of_fills: spreadOf('basis points, four decimals')
      .optional()
      .describe('The same of each fill, each counted once'),
    mark_outs: list(markOut).describe('Where the price went after the fills'),
  })
  .meta({ id: 'fills' });

export const quoting = z
  .strictObject({
    requests: count.describe('Times that a price was asked for a slice'),
    quotes: count.describe('Firm quotes that came and were what was asked for'),
    orders: count.describe('Orders that left'),
    fills: count.describe('Orders that traded'),
    rejected: count.describe('Orders that the venue did not fill'),
    doubts: count.describe('Orders whose outcome was unknown for a while'),
    open: count.describe('Orders whose outcome is still unknown'),
    expired: count.describe('Quotes that were wanted and had no time left for an order'),
    response_ratio: ratio.optional().describe('quotes / requests, a fraction of six decimals'),
    hit_ratio: ratio.optional().describe('orders / quotes, a fraction of six decimals'),
    fill_ratio: ratio.optional().describe('fills / (orders − open), a fraction of six decimals'),
    expiry_miss_ratio: ratio.optional().describe('expired / (expired + orders), a fraction of six decimals'),
    attempts_per_fill: ratio.optional().describe('requests / fills, six decimals'),
    quote_age_ms: spreadOf('ms')
      .optional()
      .describe('From the arrival of the quote to the first byte of the order, ms'),
    quote_life_ms: spreadOf('ms').optional().describe('From the making of these quotes to their end, ms'),
    refusals: list(
      z.strictObject({
        reason: z.string().describe('Code of the reason'),
        attempts: count.describe('Attempts that it ended'),
      }),
    ).describe('Attempts that did not trade, by reason, most first'),
  })
  .meta({ id: 'quoting' });
