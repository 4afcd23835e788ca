import { z } from 'zod';
import { amount, bps, count, list, side, time } from './schema-parts.ts';

const order = z.strictObject({
  at: time.describe('When the order was sent'),
  order: z.string().describe('Client order id'),
  strategy: z.string().optional().describe('Id of the strategy'),
  pair: z.string().describe('Traded pair'),
  side: z.string().describe('Side of the order'),
  notional: amount.describe('Value of the order, currency of the limits'),
  limits_record: count.optional().describe('Number of the record of the limits; omitted: not recorded'),
  verdict: z.enum(['within', 'beyond', 'unknown']).describe('Result against the limits of its time'),
  exceeds: list(z.string()).describe('Limits that it exceeds, with their figures'),
});

const limits = z.strictObject({
  since: time.describe('When they came into force'),
  record: count.describe('Number of their record'),
  by: z.string().describe('Who set them'),
  why: z.string().describe('Reason'),
  approvals: list(z.string()).describe('Requests that allowed it'),
  changes: list(
    z.strictObject({
      limit: z.string().describe('Name of the limit'),
      before: z.string().optional().describe('Value before; omitted: none'),
      after: z.string().optional().describe('Value from then on; omitted: none'),
    }),
  ).describe('Changes; all limits where they are recorded for the first time'),
});

const outlier = z.strictObject({
  strategy: z.string().describe('Id of the strategy'),
  parent: z.string().describe('Id of the parent'),
  slice: count.describe('Number within the parent'),
  pair: z.string().describe('Traded pair'),
  side: side.describe('Side of the slice'),
  decided_at: time.describe('Time of the decision'),
  amount: amount.describe('Value traded; quote currency'),
  cost_bps: bps.describe('Cost against the reference price of the decision, basis points; positive is bad'),
  median_bps: bps.describe('Median cost of its pair and size, basis points; positive is bad'),
  bound_bps: bps.describe('Largest usual distance from the median, basis points; the same on both sides'),
  slices: count.describe('Slices of its pair and size'),
  reasons: list(z.string()).describe('Reasons of its attempts and of its end'),
});

const refusal = z.strictObject({
  reason: z.string().describe('Code of the reason'),
  words: z.string().describe('Reason in words'),
  attempts: count.describe('Attempts that did not trade'),
  cuts: count.describe('Attempts whose size it reduced'),
  slices: count.describe('Slices that traded nothing'),
  looks: count.describe('Evaluations of a schedule or a price that led to no slice'),
  first: time.describe('First occurrence'),
  last: time.describe('Last occurrence'),
});

const doubt = z.strictObject({
  order: z.string().describe('Client order id'),
  strategy: z.string().optional().describe('Id of the strategy'),
  pair: z.string().optional().describe('Traded pair'),
  since: time.describe('When the outcome became unknown'),
  until: time.optional().describe('When it was proven'),
  proof: z.enum(['traded', 'rejected', 'absent', 'open']).describe('What was proven; `open`: nothing yet'),
  source: z.string().optional().describe('Source of the trade'),
  detail: z.string().optional().describe('Text of the record that proved it'),
  by: z.string().optional().describe('Person who resolved it'),
  records: list(count).describe('Numbers of its records'),
});

const action = z.strictObject({
  at: time.describe('Time of the record'),
  what: z.string().describe('What was done'),
  by: z.string().describe('Who did it'),
  why: z.string().describe('Reason'),
  record: count.describe('Number of the record'),
});

export const oversight = z
  .strictObject({
    orders: z
      .strictObject({
        within: count.describe('Orders within all limits'),
        beyond: count.describe('Orders beyond a limit'),
        unknown: count.describe('Orders of a time whose limits the journal does not contain'),
      })
      .describe('Orders sent, by the result against the limits of their time'),
    judged_by: z.string().describe('Limits for which the records of an order suffice'),
    judged: list(order).describe('Orders: first those that were not within, at most 5 000'),
    judged_left_out: count.describe('Orders not listed'),
    limits: list(limits).describe('Limits in force at any time of the period'),
    outlier_rule: z.string().describe('Definition of an outlier'),
    outliers: list(outlier).describe('Slices of unusual cost, the furthest first, at most 100'),
    outliers_left_out: count.describe('Outliers not listed'),
    refusals: list(refusal).describe('What prevented or reduced a trade, most frequent first'),
    doubts: list(doubt).describe('Orders whose outcome was unknown'),
    actions: list(action).describe('Who did what, of the whole desk'),
  })
  .meta({ id: 'oversight' });
