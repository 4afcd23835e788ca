import { z } from 'zod';
import { amount, bps, costs, count, fills, list, quoting, side, sums, time } from './schema-parts.ts';

/** Groups, parents and slices in `report.json`. */

const slice = z
  .strictObject({
    slice: count.describe('Number within the parent, from 0'),
    slot: time.describe('Time of the slot, or of the event that triggered the slice'),
    decided_at: time.describe('Time of the decision'),
    ended_at: time.optional().describe('Time at which the slice ended; omitted while it is open'),
    result: z.enum(['filled', 'skipped', 'expired', 'open']).describe('Result; `open`: not ended yet'),
    reason: z.string().optional().describe('Reason code, if the slice traded nothing or less than its size'),
    detail: z.string().optional().describe('Figures behind the reason, for people'),
    by: z
      .enum(['quantity', 'amount'])
      .describe('Unit of `wanted`: a quantity of base currency, or an amount of quote currency'),
    wanted: amount.describe('Size to trade, in the currency that `by` selects'),
    traded: amount.describe('F_k, quantity traded; base currency'),
    amount: amount.describe('amount_k, value traded; quote currency'),
    average_price: amount
      .optional()
      .describe('amount_k / F_k, quote per base; twelve decimals, halves to even'),
    decision_price: amount.optional().describe('d_k, reference price at the decision, quote per base; exact'),
    attempts: count.describe('Quote requests'),
    cost: amount
      .optional()
      .describe(
        's·(amount_k − F_k·P_a), quote currency; positive is bad. Over all slices it sums to `trading` of the parent',
      ),
    cost_bps: bps.optional().describe('cost / (F_k·P_a), basis points; positive is bad'),
    timing: amount.optional().describe('s·F_k·(d_k − P_a), quote currency; positive is bad'),
    execution: amount.optional().describe('s·(amount_k − F_k·d_k), quote currency; positive is bad'),
    untraded: amount.describe(
      'u, the remainder, base currency; an amount is converted at d_k and truncated to 18 decimals',
    ),
    missed_cost: amount
      .optional()
      .describe(
        's·u·(P_later − d_k), quote currency, positive is bad; P_later is the price of the next fill of the parent, else P_end',
      ),
  })
  .meta({ id: 'slice' });

const seen = (what: string): z.ZodType<{ price: string; at: string; from: 'prices' | 'journal' }> =>
  z.strictObject({
    price: amount.describe(`${what}, quote per base; exact`),
    at: time.describe('Time of that price'),
    from: z.enum(['prices', 'journal']).describe("Source: market history, or the desk's journal"),
  });

const benchmark = z.strictObject({
  price: amount.describe('B, quote per base; twelve significant digits'),
  slippage_bps: bps
    .optional()
    .describe('s·(Σ amount_i − F·B) / (F·B), basis points; positive is bad. Omitted if nothing was traded'),
});

export const parent = z
  .strictObject({
    parent: z.string().describe('Id of the parent'),
    strategy: z.string().describe('Id of the strategy'),
    leg: z.string().describe('Leg of the strategy'),
    pair: z.string().describe('Traded pair'),
    side: side.describe('s is +1 for a buy, −1 for a sell'),
    base: z.string().describe('Base currency'),
    quote: z.string().describe('Quote currency'),
    due_at: time.describe('Time at which the parent was due, or at which its trigger fired'),
    begun_at: time.describe('Time of the decision of the first slice; `due_at` if it never began'),
    never_began: z
      .literal(true)
      .optional()
      .describe('True if the desk attempted nothing: the whole cost is opportunity cost'),
    ended_at: time.describe(
      'Last fill of a complete parent; else the end of its strategy or last slice, or when the desk saw that its slots had passed',
    ),
    window: z
      .strictObject({ from: time.describe('Its start'), until: time.describe('Its end') })
      .describe(
        'Window in which the document allows it to trade, up to the end of the period; if the document has none, from `begun_at` to `ended_at`',
      ),
    open: z.boolean().describe('true: the parent is still running, and `ended_at` is the end of the records'),
    planned: amount.optional().describe('Q, planned quantity; base currency'),
    traded: amount.describe('F = Σ q_i, quantity traded; base currency'),
    amount: amount.describe('Σ amount_i, value traded; quote currency'),
    fees: amount.describe('Σ fees, quote currency'),
    average_price: amount
      .optional()
      .describe('Σ amount_i / F, quote per base; twelve decimals, halves to even'),
    decision: seen('P_d').optional().describe('Price when the parent was due'),
    arrival_price: amount
      .optional()
      .describe('P_a, reference price at the decision of the first slice, quote per base; exact'),
    end: seen('P_end').optional().describe('Price at the end of its window; omitted while it is open'),
    costs: costs.optional().describe('Shortfall. Omitted without an arrival price'),
    twap: benchmark
      .optional()
      .describe('Benchmark (1/T) ∫ m(t) dt over its window. Omitted without market history'),
    vwap: benchmark
      .optional()
      .describe('Benchmark Σ v·p / Σ v of the bars that ended within its window. Omitted without volumes'),
    missed: count.describe('Slots that passed without an attempt'),
    passed_cost: amount
      .optional()
      .describe(
        'Σ s·u·(P_later − m(slot)) over those slots, quote currency, positive is bad; u is the planned size of the slot, P_later the price of the next fill of the parent, else P_end. Omitted if one of them is unknown',
      ),
    slices: list(slice).describe('Slices in order of decision'),
    slices_left_out: count.describe('Slices not listed: a report lists at most 5 000'),
  })
  .meta({ id: 'parent' });

export const group = z
  .strictObject({
    strategy: z.string().describe('Id of the strategy'),
    pair: z.string().describe('Traded pair'),
    base: z.string().describe('Base currency'),
    quote: z.string().describe('Quote currency'),
    side: side.describe('s is +1 for a buy, −1 for a sell'),
    traded: amount.describe('Σ F, base currency'),
    amount: amount.describe('Σ amount, quote currency'),
    average_price: amount
      .optional()
      .describe('Σ amount / Σ F, quote per base; twelve decimals, halves to even'),
    costs: sums.describe('Sums over the parents'),
    twap_slippage_bps: bps
      .optional()
      .describe('Σ s·(amount − F·B) / Σ F·B over the parents with a TWAP, basis points; positive is bad'),
    vwap_slippage_bps: bps
      .optional()
      .describe('Σ s·(amount − F·B) / Σ F·B over the parents with a VWAP, basis points; positive is bad'),
    fills: fills.describe('Spread and mark-outs of the fills'),
    quoting: quoting.describe('Quotes and orders'),
  })
  .meta({ id: 'group' });
