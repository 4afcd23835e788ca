import { z } from 'zod';
import { amount, count, list, side, time } from './schema-parts.ts';

/**
 * The comparison of a desk with its twin; `twin.json` contains all slices. Differences are live minus twin: a positive
 * difference means that live trading did better.
 */

const bpsText = amount.optional().describe('Basis points of the value that live traded');
const outcome = z.strictObject({
  decision: z.string().describe('`filled`, `not_decided`, or the reason why the slice did not fill'),
  quantity: amount,
  cost_bps: amount.optional().describe("Cost beyond live's reference price, fees included"),
});

const sums = z
  .strictObject({
    filled: count,
    expired: count,
    attempts: count,
    refusals: count.describe('Orders that the venue rejected'),
    doubts: count,
    median_delay_ms: z
      .number()
      .optional()
      .describe(
        'Median time from the decision of a slice to its first fill, ms; omitted if no slice was filled',
      ),
  })
  .describe('All slices of one side');

const report = z.strictObject({
  from: time,
  until: time,
  head: z.string().describe('Hash of the newest record that was read'),
  model: z.string(),
  verdict: z.enum(['within', 'beyond', 'empty']).describe('`empty`: live traded nothing'),
  bound_bps: amount,
  traded_usd: amount,
  difference_usd: amount,
  difference_bps: bpsText,
  causes: list(z.strictObject({ cause: z.string(), says: z.string(), usd: amount, bps: bpsText })).describe(
    'Shares of the causes; they sum exactly to the difference',
  ),
  cost_bps: z
    .strictObject({ mean: amount, low: amount, high: amount, slices: count })
    .optional()
    .describe(
      "Live's cost less the twin's cost, for slices that both traded; 95 % of the resamples lie between `low` and `high`",
    ),
  live: sums,
  twin: sums,
  decisions: list(z.strictObject({ live: z.string(), twin: z.string(), slices: count })),
  modelled: count.describe('Slices with quotes from the model, because live requested none for them'),
  slices: count,
  differing: count.describe('Slices with a difference'),
  largest: list(
    z.strictObject({
      strategy: z.string(),
      parent: z.string(),
      slice: count,
      pair: z.string(),
      side,
      decided_at: time,
      live: outcome,
      twin: outcome,
      difference_usd: amount,
      causes: z.record(z.string(), amount).describe('Causes with a share other than zero, in USD'),
      modelled: z.boolean(),
    }),
  ).describe('The largest differences, at most 10'),
  notes: list(z.string()),
});

/** The comparison of one day. */
export const dayResult = z.strictObject({
  day: z.string().describe('Day, in the time zone of `operate.twin`'),
  compared_at: time,
  days_beyond: count.describe(
    'Consecutive days beyond the bound, including this one; days without trades are skipped',
  ),
  report,
});

export const twin = z.strictObject({
  on: z.boolean().describe('true: `operate.twin` is set, and each day is compared after its end'),
  problem: z.string().optional().describe('Why the last attempt produced no comparison'),
  last: dayResult.optional().describe('Omitted if no day has been compared yet'),
});
