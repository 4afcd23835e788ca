import { z } from 'zod';
import { amount, count, facts, list, seq, severity, side, time } from './schema-parts.ts';

/** Schemas of the journal's records. */

export const alerts = z.strictObject({
  seq,
  at: time,
  alert: z.string().describe('Kind of the alert'),
  severity,
  says: z.string(),
  facts,
  others: count.optional().describe('Further alerts of the same kind since the last record'),
  is_open: z.boolean().describe('true: the condition still holds'),
  does: z.string().optional().describe('What to do'),
  on_dashboard: z
    .string()
    .optional()
    .describe('What to do in the dashboard, if it has a screen for the command in `does`'),
  runbook: z.string().optional().describe('Its entry in docs/runbook.md'),
});

const otherFees = z
  .record(z.string(), amount)
  .optional()
  .describe('Fees in other currencies, by currency; omitted if there are none');
const attempt = z.strictObject({
  client_order_id: z.string(),
  attempt: count,
  asked_at: time,
  quote: z
    .strictObject({ price: amount, quantity: amount, amount, life_ms: z.number(), age_ms: z.number() })
    .optional(),
  result: z.string().describe('`open`, `discarded`, `doubt`, `rejected`, `absent` or `filled`'),
  reason: z.string().optional(),
  detail: z.string().optional(),
  fill: z
    .strictObject({
      price: amount,
      quantity: amount,
      amount,
      fees: amount,
      other_fees: otherFees,
      executed_at: time,
    })
    .optional()
    .describe('Fill, with the figures of the last correction'),
});

export const slices = z.strictObject({
  seq: seq
    .optional()
    .describe('Number of the record that ended the slice or, while the slice is open, decided it'),
  strategy: z.string(),
  parent: z.string().optional(),
  leg: z.string().optional(),
  slice: count,
  pair: z.string().optional(),
  side: side.optional(),
  due_at: time.optional().describe('Time in the schedule'),
  decided_at: time.optional(),
  deadline: time.optional(),
  planned: amount.optional().describe('Size that was decided, or planned'),
  by: z.enum(['quantity', 'amount']).optional().describe('Whether `planned` is in base or quote currency'),
  currency: z.string().optional(),
  limit: amount.optional(),
  decision_price: amount.optional(),
  state: z.enum(['planned', 'open', 'filled', 'skipped', 'expired', 'missed']),
  reason: z.string().optional(),
  detail: z.string().optional(),
  words: z.string().optional().describe('The reason in words'),
  filled: amount.optional(),
  filled_amount: amount.optional(),
  attempts: list(attempt),
  ended_at: time.optional(),
});

export const wakes = z.strictObject({
  seq,
  at: time,
  strategy: z.string(),
  on: z.string(),
  detail: z.record(z.string(), z.unknown()),
  reason: z.string().optional(),
  note: z.string().optional(),
  words: z.string().describe('Its result, in the words of `tranche why`'),
  intents: list(
    z.strictObject({
      parent: z.string(),
      leg: z.string(),
      slice: count,
      pair: z.string(),
      side,
      by: z.enum(['quantity', 'amount']),
      size: amount,
      limit: amount.optional(),
      deadline: time,
    }),
  ),
  missed: list(
    z.strictObject({ leg: z.string(), slice: count, due: time.optional(), size: amount.optional() }),
  ),
  next_at: time.optional(),
  finished: z.string().optional(),
});

export const why = z.strictObject({
  seq: seq.optional().describe('Omitted while it is in progress'),
  at: time,
  local: z.string().describe('Local time in `zone`'),
  zone: z.string(),
  strategy: z.string().optional(),
  event: z.enum(['traded', 'not_traded', 'noted', 'begun', 'ended', 'open', 'desk']),
  leg: z.string().optional(),
  slices: list(count).optional(),
  pair: z.string().optional(),
  side: side.optional(),
  wanted: z.string().optional(),
  filled: z.string().optional(),
  amount: z.string().optional(),
  attempts: count.optional(),
  reason: z.string().optional(),
  figures: z.string().optional(),
  next: time.optional(),
  says: z.string(),
  words: z.string().describe('The line of `tranche why` without its time'),
});

export const fills = z.strictObject({
  seq,
  client_order_id: z.string(),
  order_id: z.string(),
  quote_id: z.string(),
  pair: z.string(),
  base: z.string(),
  quote: z.string(),
  side,
  quantity: amount,
  price: amount,
  amount,
  fees: amount.describe('Fees, in quote currency'),
  other_fees: otherFees,
  executed_at: time,
  strategy: z.string(),
  parent: z.string(),
  slice: count,
  attempt: count,
  source: z.string().describe('Source of the proof'),
  missing: z
    .strictObject({ quantity: amount, amount, notional_usd: amount })
    .optional()
    .describe('The part of the order that the account did not show when the fill was written'),
});

export const records = z.strictObject({
  seq,
  at: time,
  hash: z.string(),
  body: z.looseObject({ kind: z.string() }).describe('Kind of the record, as listed in docs/journal.md'),
});

export const event = z.strictObject({
  seq,
  at: time,
  kind: z.string(),
  body: z.looseObject({ kind: z.string() }),
});

const planSlot = z.strictObject({
  at: time,
  local: z.string(),
  until: time,
  leg: z.string().optional(),
  slice: count,
  pair: z.string(),
  side,
  quantity: amount.optional(),
  amount: amount.optional(),
  currency: z.string().optional(),
  limit_price: amount.optional(),
  orders: count.describe('Number of its orders'),
  traded: amount.describe('In the unit of its size'),
  cuts: list(z.string()).optional().describe('Reasons why its orders are smaller than its size'),
  reason: z.string().optional().describe('Why it trades less than its size'),
  detail: z.string().optional(),
});

export const plan = z.strictObject({
  feasible: z.boolean(),
  from: time,
  until: time,
  where: z.string(),
  strategies: list(
    z.strictObject({
      id: z.string(),
      kind: z.string(),
      zone: z.string(),
      pairs: list(z.string()),
      notes: list(z.string()),
      slots: list(planSlot),
      times: list(
        z.strictObject({
          at: time,
          local: z.string(),
          why: z.string().optional().describe('Why the strategy trades nothing then'),
          closed: z.string().optional(),
        }),
      ),
      standing: z.string().optional(),
      slots_passed: count,
      slots_beyond: count,
    }),
  ),
  costs: list(
    z.strictObject({
      strategy: z.string(),
      bps: z.unknown(),
      risk_bps: z.unknown().optional(),
      notional: amount.optional(),
      cost: amount.optional(),
      currency: z.string(),
      by: z.string(),
    }),
  ),
  checks: list(
    z.strictObject({
      check: z.string(),
      verdict: z.string(),
      strategy: z.string().optional(),
      reason: z.string().optional(),
      says: z.string(),
      fix: z.string().optional(),
    }),
  ),
});
