import { z } from 'zod';
import { amount, bps, costs, count, fills, list, quoting, side, sums, time } from './schema-parts.ts';

/** Groups, parents and slices in `report.json`. */

const slice = z
  .strictObject({
    slice: count.describe('Its number in the parent, from 0'),
    slot: time.describe('When it was due: its slot, or what began it'),
    decided_at: time.describe('When it was decided'),
    ended_at: time.optional().describe('When it ended; left out while it is under way'),
    result: z.enum(['filled', 'skipped', 'expired', 'open']).describe('How it ended; open: it has not'),
    reason: z.string().optional().describe('Code of why it did not trade, or traded less than it wanted'),
    detail: z.string().optional().describe('Figures behind the reason, for people'),
    by: z
      .enum(['quantity', 'amount'])
      .describe('What `wanted` counts: base currency, or quote currency to spend'),
    wanted: amount.describe('What it should trade, in the currency that `by` tells'),
    traded: amount.describe('F_k, base currency'),
    amount: amount.describe('amount_k, what that came to; quote currency'),
    average_price: amount
      .optional()
      .describe('amount_k / F_k, quote per base; twelve decimals, halves to even'),
    decision_price: amount
      .optional()
      .describe('d_k, reference price when it was decided, quote per base; exact'),
    attempts: count.describe('Times that a price was asked for it'),
    cost: amount
      .optional()
      .describe(
        's·(amount_k − F_k·P_a), quote currency; positive is bad. They sum to `trading` of the parent',
      ),
    cost_bps: bps.optional().describe('cost / (F_k·P_a), basis points; positive is bad'),
    timing: amount.optional().describe('s·F_k·(d_k − P_a), quote currency; positive is bad'),
    execution: amount.optional().describe('s·(amount_k − F_k·d_k), quote currency; positive is bad'),
    untraded: amount.describe(
      'u, what it wanted and did not get, base currency; of an amount at d_k, cut down to 18 decimals',
    ),
    missed_cost: amount
      .optional()
      .describe(
        's·u·(P_later − d_k), quote currency, positive is bad: P_later is the price of the next fill of the parent, else P_end',
      ),
  })
  .meta({ id: 'slice' });

const seen = (what: string): z.ZodType<{ price: string; at: string; from: 'prices' | 'journal' }> =>
  z.strictObject({
    price: amount.describe(`${what}, quote per base; exact`),
    at: time.describe('When that price was known'),
    from: z.enum(['prices', 'journal']).describe('Who knew it: market history, or the desk'),
  });

const benchmark = z.strictObject({
  price: amount.describe('B, quote per base; twelve significant digits'),
  slippage_bps: bps
    .optional()
    .describe(
      's·(Σ amount_i − F·B) / (F·B), basis points; positive is bad. Left out when nothing was traded',
    ),
});

export const parent = z
  .strictObject({
    parent: z.string().describe('Its id'),
    strategy: z.string().describe('Id of its strategy'),
    leg: z.string().describe('Which of the instructions of its strategy it is'),
    pair: z.string().describe('What it trades'),
    side: side.describe('s is +1 for a buy, −1 for a sell'),
    base: z.string().describe('Base currency'),
    quote: z.string().describe('Quote currency'),
    due_at: time.describe('When it was due, or what began it happened'),
    begun_at: time.describe('When its first slice was decided; when it was due, where it never began'),
    never_began: z
      .literal(true)
      .optional()
      .describe('Nothing of it was ever tried: all of it is opportunity'),
    ended_at: time.describe(
      'With its last fill when it is whole, else when its strategy or its last slice ended, or its slots were seen to have passed',
    ),
    open: z.boolean().describe('Whether it is still under way: then `ended_at` is the end of the records'),
    planned: amount.optional().describe('Q, what it should trade in all; base currency'),
    traded: amount.describe('F = Σ q_i, base currency'),
    amount: amount.describe('Σ amount_i, quote currency'),
    fees: amount.describe('Σ fees, quote currency'),
    average_price: amount
      .optional()
      .describe('Σ amount_i / F, quote per base; twelve decimals, halves to even'),
    decision: seen('P_d').optional().describe('The price when it was due'),
    arrival_price: amount
      .optional()
      .describe('P_a, reference price when its first slice was decided, quote per base; exact'),
    end: seen('P_end').optional().describe('The price when it ended'),
    costs: costs.optional().describe('Its shortfall. Left out without a price at arrival'),
    twap: benchmark
      .optional()
      .describe('Against (1/T) ∫ m(t) dt from its first slice to its end. Left out without market history'),
    vwap: benchmark
      .optional()
      .describe('Against Σ v·p / Σ v of the bars that ended within. Left out without volumes'),
    missed: count.describe('Slices that passed without a try'),
    passed_cost: amount
      .optional()
      .describe(
        'Σ s·u·(P_later − m(slot)) of those, quote currency, positive is bad: u is what the slot was planned to trade, P_later the price of the next fill of the parent, else P_end. Left out where one of them is not known',
      ),
    slices: list(slice).describe('In the order in which they were decided'),
    slices_left_out: count.describe('Slices that are in no list here: a report lists at most 5 000'),
  })
  .meta({ id: 'parent' });

export const group = z
  .strictObject({
    strategy: z.string().describe('Id of the strategy'),
    pair: z.string().describe('What was traded'),
    base: z.string().describe('Base currency'),
    quote: z.string().describe('Quote currency'),
    side: side.describe('s is +1 for a buy, −1 for a sell'),
    traded: amount.describe('Σ F, base currency'),
    amount: amount.describe('Σ amount, quote currency'),
    average_price: amount
      .optional()
      .describe('Σ amount / Σ F, quote per base; twelve decimals, halves to even'),
    costs: sums.describe('Sums of the parents'),
    twap_slippage_bps: bps
      .optional()
      .describe('Σ s·(amount − F·B) / Σ F·B over the parents with a TWAP, basis points; positive is bad'),
    vwap_slippage_bps: bps
      .optional()
      .describe('The same over those with a VWAP, basis points; positive is bad'),
    fills: fills.describe('What the fills say of the venue'),
    quoting: quoting.describe('How asking for quotes went'),
  })
  .meta({ id: 'group' });
