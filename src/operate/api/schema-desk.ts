import { z } from 'zod';
import { amount, control, count, facts, list, name, seconds, severity, side, time } from './schema-parts.ts';

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

const override = z.strictObject({
  id: z.string(),
  state: z.enum(['proposed', 'approved', 'used', 'expired', 'withdrawn', 'rejected']),
  ended_by: z.string().optional(),
  limit: z.string(),
  asks: z.string().optional(),
  hash: z.string().optional(),
  value: z.string().optional(),
  parent: z.string().optional(),
  slice: count.optional(),
  pair: z.string().optional(),
  side: side.optional(),
  expires_at: time,
  proposed_by: z.string(),
  approved_by: z.string().optional(),
  used_by: z.string().optional(),
  why: z.string(),
});

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
  overrides: list(override),
  account_read_age_s: seconds.optional(),
  last_record_age_s: seconds.optional(),
});

export const me = z.strictObject({
  name: z.string(),
  role: z.enum(['viewer', 'operator', 'approver', 'admin']),
  kind: z.enum(['person', 'program', 'machine']),
  via: z.enum(['token', 'session']),
  groups: list(z.string()),
  csrf: z.string().optional().describe('Token of the session: send it with each command as `X-Tranche-CSRF`'),
  desk: z.string(),
  mode: z.string(),
  version: z.string(),
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

export const fleet = z.strictObject({
  name,
  desk: z.string().optional(),
  url: z
    .string()
    .optional()
    .describe("URL of the desk's pages; omitted for this desk, and for desks without pages"),
  mode: z.string().optional(),
  state: control.optional(),
  version: z.string().optional(),
  not_ready: list(z.string()),
  open_alerts: list(openAlert),
  open_doubts: count.optional(),
  fills: count.optional(),
  holdings: z.record(z.string(), amount).optional(),
  day_notional: z.strictObject(usedOf).optional(),
  data_age_s: seconds.optional().describe('Time since the account was last read'),
  error: z.string().optional().describe('Why the desk could not be queried'),
  silent_s: seconds
    .optional()
    .describe('Time since its last report; omitted if it never reported, or responds now'),
  groups: list(z.string()).optional().describe('Groups of desks that the desk belongs to'),
  daemon: z.string().optional().describe('Daemon that starts the desk; omitted: none'),
  owner: z
    .string()
    .optional()
    .describe('Process that holds the lease of the desk; omitted: no process may trade'),
  epoch: count.optional().describe('Number of the owner; each takeover raises it'),
  hibernates_until: z
    .string()
    .optional()
    .describe(
      'The desk has nothing to do: its daemon starts it at this time, or earlier for a command; omitted: the desk is to run',
    ),
  lease_s: seconds.optional().describe('Time until the lease expires unless the owner renews it'),
  head: z.int().optional().describe('Number of the newest record in the database'),
  last_record_age_s: seconds.optional(),
});

/** Sums over the desks of one mode, by currency. */
export const fleetTotals = z.strictObject({
  desks: count,
  owned: count.describe('Desks with an owner'),
  ready: count.describe('Desks that can trade now'),
  open_doubts: count,
  open_alerts: count,
  fills: count,
  day_notional: z.record(z.string(), amount),
  holdings: z.record(z.string(), amount),
});

/** One limit over all desks of a mode, with its current use and who set it. */
export const firmLimit = z.strictObject({
  mode: z.string().describe('Mode; all desks of this mode count together'),
  limit: z.enum(['max_day_notional', 'max_open_doubts', 'max_position']),
  scope: z.string().optional().describe('Currency of the amount; for a position, the currency held'),
  used: amount.describe(
    'For a position: bought less sold, negative if short; the limit applies to both sides',
  ),
  max: amount,
  person: z.string().describe('Name that the person who set the limit gave'),
  author: z.string().describe('Database role that set the limit'),
  why: z.string(),
  at: time.describe('Time at which the limit was set'),
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
