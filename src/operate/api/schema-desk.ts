import { z } from 'zod';
import { roles } from '../../core/roles.ts';
import { amount, control, count, facts, list, seconds, severity, side, time } from './schema-parts.ts';

/** The current state of a desk. */

const progress = z
  .strictObject({ amount, of: amount.describe('The total'), currency: z.string() })
  .describe('The traded part of a total');

export const openAlert = z.strictObject({
  alert: z.string().describe('Kind of the alert'),
  severity,
  at: time,
  says: z.string(),
  facts,
});

const residual = z.strictObject({
  strategy: z.string(),
  parent: z.string(),
  slice: count,
  pair: z.string(),
  side,
  by: z.enum(['quantity', 'amount']),
  left: amount,
});

/** Part of the status and of the response to every command: trades that may still happen, regardless of the command. */
export const openWork = {
  state: control,
  is_noted: z.boolean().describe('true: the journal contains this state'),
  note_fault: z.string().optional().describe('Why the halt file could not be written'),
  orders_in_flight: list(z.string()).describe('Client order ids of orders that have had no response yet'),
  quotes_in_flight: list(z.string()),
  open_doubts: list(z.string()).describe('Client order ids of orders whose outcome is unknown'),
  residuals: list(residual).describe('The remainder of each open slice'),
};

const usedOf = { used: amount, max: amount.optional(), currency: z.string() };

/** A row of the account that no id ties to an order. */
const row = z.strictObject({
  id: z.string(),
  at: time.describe('Time that the row shows'),
  order_id: z.string().optional(),
  client_order_id: z.string().optional().describe('As the row shows it; it need not be an id of this desk'),
  trade_id: z.string().optional(),
  action: z.string().describe('`buy`, `sell`, or `other` if the action cannot be read'),
  currency: z.string(),
  amount,
  equals_quote: z
    .literal(true)
    .optional()
    .describe('This row and another of the same order equal the quote of the doubt to the last digit'),
  unreadable: z.string().optional().describe('Fields that cannot be read'),
});
const unattributed = list(row).describe(
  'Rows that could be the trade of the doubt and hold it open until a person attributes them; at most 20',
);

export const status = z.strictObject({
  desk: z.string(),
  mode: z.string(),
  version: z.string(),
  ...openWork,
  level: z.string().optional().describe('`kill`: this process can no longer send orders'),
  since: time.optional(),
  by: z.string().optional(),
  why: z.string(),
  is_stopping: z.boolean(),
  not_ready: list(z.string()).describe('Why the desk cannot trade now; empty when it can'),
  holdings: z.record(z.string(), amount),
  credit: list(z.string()).describe(
    'Post-trade settlement as the venue stated it, and at which prices it settles, in words',
  ),
  prices: list(
    z.strictObject({
      pair: z.string(),
      mid: amount.optional(),
      source: z.string().optional(),
      age_s: seconds.optional(),
    }),
  ),
  open_alerts: list(openAlert).describe('Active alerts, the most severe first'),
  alerts_last_day: z.strictObject({ critical: count, warning: count, info: count }),
  strategies: list(
    z.strictObject({
      id: z.string(),
      kind: z.string(),
      slices_done: count,
      slices_filled: count,
      slices_total: count.describe('0: not known in advance'),
      traded: progress.optional(),
      finished: z.string().optional(),
      last_reason: z.string().optional(),
      next_at: time.optional(),
      waits_for_approval: z.string().optional().describe('Request for approval that the strategy waits for'),
    }),
  ),
  fills: count.describe('Number of fills in the journal'),
  last_fills: list(
    z.strictObject({
      at: time,
      strategy: z.string(),
      pair: z.string(),
      side,
      quantity: amount,
      base: z.string(),
      price: amount,
      amount,
      quote: z.string(),
    }),
  ),
  limits: z.strictObject({
    day_notional: z.strictObject(usedOf),
    open_doubts: z.strictObject({ used: count, max: count }),
  }),
  paused: z
    .record(z.string(), z.string())
    .describe('Reasons of pauses, by `parent:…`, `pair:…` and `strategy:…`'),
  waiting: list(z.string()).describe('Strategies that wait, and for how long, in words'),
  open_approvals: list(z.string()).describe('Requests that wait for people, in words'),
  unattributed: list(
    z.strictObject({ doubt: z.string().describe('Client order id'), rows: unattributed }),
  ).describe('Doubts that rows hold open until a person attributes them'),
  account_read_age_s: seconds.optional(),
  last_record_age_s: seconds.optional(),
});

export const me = z.strictObject({
  name: z.string(),
  role: z.enum(roles),
  kind: z.enum(['person', 'program', 'machine']),
  via: z.enum(['token', 'session']),
  csrf: z.string().optional().describe('Token of the session: send it with each command as `X-Tranche-CSRF`'),
  desk: z.string(),
  mode: z.string(),
  version: z.string(),
});

export const person = z.strictObject({
  name: z.string(),
  role: z.enum(roles),
  state: z.enum(['invited', 'active', 'removed']),
  passkeys: list(z.strictObject({ id: z.string(), enrolled_at: time })),
  invited_by: z.string(),
});

export const doubts = z.strictObject({
  doubts: list(
    z.strictObject({
      client_order_id: z.string(),
      pair: z.string(),
      side,
      notional: z.string().describe('Worst-case value, which is reserved in the limits, with its currency'),
      since: time,
      why: z.string(),
      earliest_answer_at: time
        .optional()
        .describe(
          'Earliest time at which the account can prove that the order did not trade; omitted if it certainly traded',
        ),
      unattributed: unattributed.optional(),
      size: z.string().describe('Size with its currency'),
      strategy: z.string(),
      parent: z.string(),
      slice: count,
      attempt: count,
      age_s: seconds,
      clean_reads_left: count.optional().describe('Number of clean account reads that the proof still needs'),
      quote_id: z.string().optional(),
      reserves: z
        .strictObject({ currency: z.string(), amount })
        .optional()
        .describe('The most that the order may take from the balance of a currency'),
    }),
  ),
});

export const strategies = z.strictObject({
  id: z.string(),
  kind: z.string(),
  state: z
    .enum(['waits', 'begins', 'paused', 'finished'])
    .describe('`begins`: the strategy has not taken its first step'),
  hash: z.string().describe('Hash of its document; another document counts as another strategy'),
  pairs: list(z.string()),
  traded: progress.optional(),
  slices_done: count,
  slices_filled: count,
  slices_open: count,
  slices_total: count.describe('0: not known in advance'),
  next_at: time.optional(),
  last_reason: z.string().optional(),
  says: z.string().optional().describe('The last reason in words'),
  paused_why: z.string().optional(),
  finished: z.string().optional(),
  begun_at: time.optional(),
  waits_for_approval: z.string().optional(),
});

export const parents = z.strictObject({
  parent: z.string(),
  strategy: z.string(),
  kind: z.string(),
  leg: z.string().optional(),
  pair: z.string().optional(),
  side: side.optional(),
  total: amount.optional(),
  left: amount.optional(),
  currency: z.string().optional(),
  begun_at: time,
  ends_at: time.optional(),
  finished: z.string().optional(),
});

export const prices = z.strictObject({ pair: z.string(), at: time, mid: amount });

export const limits = z.strictObject({
  limit: z.string().describe('Name of the limit in `controls`'),
  scope: z.string().optional().describe('The pair or currency that it applies to'),
  used: amount
    .optional()
    .describe('Current use of the limit; every unknown outcome counts at its worst case'),
  in_doubt: amount.optional().describe('The part of `used` that is uncertain'),
  max: z.string().describe('The limit'),
  is_floor: z.boolean().optional().describe('`used` must not fall below `max`'),
  currency: z.string().optional(),
  since: time.optional().describe('Start of the period that the limit covers'),
});

export const chain = z.strictObject({
  seq: z.int().describe('Number of the newest record'),
  hash: z.string().describe('Hash of the newest record; it covers the whole journal'),
  verified_to: z.int().describe('Last record whose hash this process has recomputed from the file'),
  verified_at: time.optional(),
  problem: z.string().optional().describe('Record at which the chain breaks'),
  head: z
    .strictObject({ seq: z.int(), hash: z.string(), signed_at: time })
    .optional()
    .describe('Newest head that was published elsewhere'),
});
