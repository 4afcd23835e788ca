import { z } from 'zod';
import { requestKinds } from './approvals/approval-settings.ts';
import {
  amount,
  approvals,
  at,
  boot,
  count,
  intentText,
  list,
  missing,
  otherFees,
  reason,
  rows,
  side,
  sizedBy,
  token,
  wait,
} from './record-fields.ts';
import { roles } from './roles.ts';
import type { Instant } from './time.ts';

/**
 * Every kind of journal record: the schema that each line is checked with, on writing and on reading, and from which its
 * type follows. Plain JSON: amounts are canonical text, times are Unix ms. All other state of the engine is a fold of
 * these records. Names are stable: exports and old journals rely on them. Each schema is built on first use of its
 * kind, because most journals have only a few kinds.
 */
export const recordShapes = {
  /** A process took over the journal. */
  started: () =>
    z.strictObject({
      kind: z.literal('started'),
      version: z.string(),
      mode: z.string(),
      desk: z.string(),
      config_hash: z.string(),
      /** Hash of origin and token, because a journal belongs to one account. */
      account: z.string(),
      /** The desk's limits, under their names in the config. Omitted: not recorded. */
      limits: z.record(z.string(), z.string()).optional(),
      /** `operate.approvals`, recorded with the limits. Omitted: nothing needs approval. */
      approvals: approvals().optional(),
      /** Who started the process, such as `cli:ann`. Omitted by older versions. */
      by: z.string().optional(),
      /**
       * Hash of all settings in force, which is also in the newest `settings` record. If the settings changed, that record
       * follows this one. Omitted: not recorded.
       */
      settings: z.string().optional(),
    }),
  /** A process released the journal cleanly. */
  stopped: () =>
    z.strictObject({
      kind: z.literal('stopped'),
      why: z.string(),
      open_doubts: count,
      /** A whole read of the account started after the time by which the last fills must have been booked. Omitted: not requested. */
      closing_read: z.boolean().optional(),
    }),
  /** A strategy starts a run. The same content never starts twice in one journal. */
  strategy: () =>
    z.strictObject({
      kind: z.literal('strategy'),
      strategy: z.string(),
      /** Hash of the content of the YAML document. */
      hash: z.string(),
      type: z.string(),
      /** The default of `start_time`. */
      begun_at: at,
      /** The document as written, because a running parent keeps it. */
      document: z.unknown(),
    }),
  /** One wake and its result. Each wake has exactly one record, which explains why there was no trade. */
  wake: () =>
    z.strictObject({
      kind: z.literal('wake'),
      strategy: z.string(),
      hash: z.string(),
      on: z.enum(['start', 'at', 'drift', 'price', 'inflow', 'debt', 'lifted', 'run', 'outcome']),
      /**
       * For `at`: when it was due. For `outcome`: which slice. For `drift`: how far. For `price` and `inflow`: the observed value. For
       * `run`: who asked for it, and why.
       */
      detail: z.record(z.string(), z.union([z.string(), z.number()])),
      /** With `run`. */
      token: token().optional(),
      /** Why the strategy trades nothing, or less; omitted if all is as planned. */
      reason: reason.optional(),
      note: z.string().optional(),
      /** State of the kernel after the step; absent if its first step failed. */
      state: z.unknown().optional(),
      waits: list(wait()),
      intents: list(intentText()),
      /** Slots that passed without an attempt. */
      missed: list(
        z.strictObject({
          leg: z.string(),
          slice: count,
          /** Scheduled time and planned size, in the parent's unit. Omitted if unknown. */
          due: at.optional(),
          size: amount.optional(),
        }),
      ),
      /** The strategy has nothing more to do. */
      finished: reason.optional(),
    }),
  /** Durable before the order leaves. From this record on, the attempt may have traded until proven otherwise. */
  intent: () =>
    z.strictObject({
      kind: z.literal('intent'),
      client_order_id: z.string(),
      strategy: z.string(),
      parent: z.string(),
      slice: count,
      attempt: count,
      pair: z.string(),
      base: z.string(),
      quote: z.string(),
      side,
      by: sizedBy,
      size: amount,
      /** Worst price at which the order may be sent, quote per base. */
      worst_price: amount,
      reference_price: amount,
      /** Worst case of the order in the currency of the limits. It counts in the limits while the outcome is unknown. */
      notional_usd: amount,
      /** Why the size is smaller than wanted. */
      cuts: list(reason),
      /** The figures of each cut, `limit=… value=…`. */
      cut_notes: list(z.string()).optional(),
      /** Time on the boot clock at or after the quote request, if the machine has a boot clock. */
      boot: boot().optional(),
    }),
  /**
   * The quote of an order that leaves. Written while the request is in flight, because safety does not depend on it. In
   * a store that several owners reach, it must be durable before the order leaves.
   */
  quote: () =>
    z.strictObject({
      kind: z.literal('quote'),
      client_order_id: z.string(),
      quote_id: z.string(),
      quantity: amount,
      price: amount,
      amount,
      /** The longest that the quote can live after its arrival, milliseconds. */
      life_ms: z.number(),
      /** The venue's own timestamp of the quote. */
      quoted_at: at.optional(),
      /** From the quote's arrival to the order's first byte, or to the write before it; milliseconds. */
      age_ms: z.number(),
      /**
       * Largest value of the parent in the currency of the limits, or `unknown`; present if parents above an amount need
       * approval and this one started without.
       */
      parent_amount: z.union([amount, z.literal('unknown')]).optional(),
    }),
  /** Result of an attempt. Only `filled` traded; only `doubt` leaves the attempt open. */
  attempt: () =>
    z.strictObject({
      kind: z.literal('attempt'),
      client_order_id: z.string(),
      /**
       * `discarded`: no order was sent. `doubt`: one may have traded. `rejected`: the venue did not fill it, and a read of
       * the account agrees. `absent`: proven not to have traded. `filled`: traded.
       */
      result: z.enum(['discarded', 'doubt', 'rejected', 'absent', 'filled']),
      reason: reason.optional(),
      detail: z.string().optional(),
      /** For a doubt: the progress of its proof. */
      proof: z
        .strictObject({
          /** Clean reads of the account that are still needed. */
          reads_left: count,
          /** Shortest time from this record to the start of the next read that counts, milliseconds. */
          wait_ms: count,
          proves: z.enum(['rejected', 'absent', 'nothing']),
          /** Time of this record on the boot clock, if the machine has a boot clock. */
          boot: boot().optional(),
        })
        .optional(),
      /** For a doubt: order ids that a response or a row ties to it. */
      order_ids: list(z.string()).optional(),
    }),
  /** Money moved. Never changed, never removed. */
  fill: () =>
    z.strictObject({
      kind: z.literal('fill'),
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
      /** In quote currency. */
      fees: amount,
      executed_at: at,
      strategy: z.string(),
      parent: z.string(),
      slice: count,
      attempt: count,
      /** In the currency of the limits. */
      notional_usd: amount,
      /** Reference price when the parent was decided; empty if unknown. */
      decision_price: amount.or(z.literal('')),
      /** The order asked for an amount, and its figures come from its proof. Omitted: it asked for a quantity, or a response has them. */
      by: z.literal('amount').optional(),
      /** Where the proof came from. */
      source: z.enum(['order', 'transactions', 'lookup', 'dry_run', 'operator']),
      /** Fees in other currencies than the quote currency. Omitted: none. */
      other_fees: otherFees().optional(),
      /** The account rows behind these figures. Omitted: the figures come from a response or a person. */
      rows: rows().optional(),
      missing: missing().optional(),
      /** The journal did not know its order when the account showed it, so the ordered size is unknown. */
      adopted: z.literal(true).optional(),
    }),
  /** A slice ended. */
  slice: () =>
    z.strictObject({
      kind: z.literal('slice'),
      strategy: z.string(),
      parent: z.string(),
      leg: z.string(),
      slice: count,
      result: z.enum(['filled', 'skipped', 'expired']),
      reason: reason.optional(),
      /** The figures behind the reason, such as `limit=… value=…`. */
      detail: z.string().optional(),
      filled: amount,
      filled_amount: amount,
      /** The missing part of its fills, which the strategy counts as filled. */
      missing: amount.optional(),
      missing_amount: amount.optional(),
    }),
  /** Balances proven by a read of the account. */
  balances: () =>
    z.strictObject({
      kind: z.literal('balances'),
      balances: z.record(z.string(), amount),
      /** Id of the newest transaction read; empty if there was none, or if its ids cannot be ordered. */
      newest_id: z.string(),
      /** Omitted if balances do not follow from rows. */
      tails: z.record(z.string(), z.strictObject({ id: z.string(), balance: amount })).optional(),
      /** Deposits that cannot be spent yet, by their rows. `balances` excludes them. */
      holds: list(z.strictObject({ id: z.string(), currency: z.string(), amount, until: at })).optional(),
      read_at: at,
    }),
  /** The largest size that the venue quotes in one piece, as the venue stated it or as its fills suggest. */
  maximum: () =>
    z.strictObject({
      kind: z.literal('maximum'),
      pair: z.string(),
      usd: amount,
      /** USD per unit of the quote currency, according to the venue's figures; omitted if the quote currency is USD. */
      quote_usd: amount.optional(),
      /** Omitted: the venue stated it. */
      why: z.literal('raised').optional(),
    }),
  /** A person resolved an order in doubt, or rows that could be its trade. The consequences follow in the same write. */
  resolved: () =>
    z.strictObject({
      kind: z.literal('resolved'),
      client_order_id: z.string(),
      /** `ours`: `rows` belong to the order. `not_ours`: they belong to none of our orders. */
      verdict: z.enum(['filled', 'not_executed', 'ours', 'not_ours']),
      rows: list(z.string()).optional(),
      by: z.string(),
      why: z.string(),
      token: token().optional(),
    }),
  /** The account shows figures for a fill that differ from the booked ones. The fill record stays, but these figures count. */
  correction: () =>
    z.strictObject({
      kind: z.literal('correction'),
      client_order_id: z.string(),
      order_id: z.string(),
      quantity: amount,
      price: amount,
      amount,
      /** In quote currency. */
      fees: amount,
      was_quantity: amount,
      was_amount: amount,
      was_fees: amount,
      other_fees: otherFees().optional(),
      rows: rows(),
      /** Rows that changed or came under new ids, in words. Omitted: there are only more rows. */
      changes: list(z.string()).optional(),
      missing: missing().optional(),
    }),
  /** The state of a process between its start and its end. */
  process: () =>
    z.strictObject({
      kind: z.literal('process'),
      /**
       * `running`: a process that follows a crashed one has run for `SOON_AFTER_START_MS`. `failed`: its own error ends it.
       * `refused`: it ends with a message for the operator, for example because the venue refuses its token.
       */
      state: z.enum(['running', 'failed', 'refused']),
      /** The error, or the message. */
      why: z.string().optional(),
    }),
  /** What a whole read of the account showed for the first time. */
  shown: () =>
    z.strictObject({
      kind: z.literal('shown'),
      /** Fills exactly as booked: their rows, by client id. */
      fills: z.record(z.string(), rows()),
      /**
       * Rows of trades that are not ours, or that no id ties to an order. They cannot belong to an order whose intent follows
       * this record.
       */
      others: rows().optional(),
    }),
  /** A request for approval was proposed, approved by one person, or ended. Every step repeats the request. */
  approval: () =>
    z.strictObject({
      kind: z.literal('approval'),
      /** Id of the request, unique in the journal. */
      request: z.string(),
      /** `approved`: by one person. `expired`: nobody decided in time. One rejection ends a request. */
      step: z.enum(['proposed', 'approved', 'rejected', 'expired']),
      for: z.enum(requestKinds),
      /** The request in words. */
      asks: z.string(),
      /** What would change, one line each. */
      difference: list(z.string()).optional(),
      /** Hash of the approval's subject; it changes when the desk changes. */
      subject: z.string(),
      /** Number of different people who must approve, and whether with a passkey. */
      count: z.int().positive(),
      passkey: z.literal('required').optional(),
      /** For a strategy or a parent. */
      strategy: z.string().optional(),
      parent: z.string().optional(),
      /** The highest value of a parent, in the currency of the limits, or `unknown`. */
      amount: z.union([amount, z.literal('unknown')]).optional(),
      /** Hash of the canonical request, which a passkey signs. */
      hash: z.string(),
      /** For an approval by a passkey. */
      assertion: z
        .strictObject({
          credential_id: z.string(),
          authenticator_data: z.string(),
          client_data_json: z.string(),
          signature: z.string(),
        })
        .optional(),
      expires_at: at,
      by: z.string(),
      why: z.string(),
      token: token().optional(),
    }),
  /**
   * The strategy documents and the limits of the config were reloaded while the desk ran. The records of the runs that
   * it started follow it in the same write.
   */
  reload: () =>
    z.strictObject({
      kind: z.literal('reload'),
      by: z.string(),
      why: z.string(),
      /** `refused`: a file was not usable, and nothing changed. */
      result: z.enum(['applied', 'refused']),
      changes: list(
        z.strictObject({
          strategy: z.string(),
          what: z.enum(['begins', 'goes_on', 'replaces', 'stops', 'kept', 'over', 'waits']),
          /** Hashes of the running document, and of the one in the file. */
          /** Hashes of the running document, and of the one in the file. */
          from: z.string().optional(),
          to: z.string().optional(),
          why: z.string().optional(),
        }),
      ),
      /** Limits that changed. */
      limit_changes: list(
        z.strictObject({
          limit: z.string(),
          before: z.string().optional(),
          after: z.string().optional(),
        }),
      ).optional(),
      /** All limits in force from here on, if one of them changed. */
      limits: z.record(z.string(), z.string()).optional(),
      /** Notification channels that changed, by name. */
      channel_changes: list(z.string()).optional(),
      notes: list(z.string()).optional(),
      /** The problems of the files. */
      problems: z.string().optional(),
      /** Approved requests that this reload carries out. */
      approvals: list(z.string()).optional(),
      token: token().optional(),
    }),
  /**
   * Settings in force changed: limits, config or people, as merged from defaults, files, environment and command line.
   * The first record has all settings; to get the settings at a time, apply the changes of all records up to then.
   * Written together with its cause.
   */
  settings: () =>
    z.strictObject({
      kind: z.literal('settings'),
      /** `start`: the config differs from that of the previous process, or is the first. */
      cause: z.enum(['start', 'reload', 'person']),
      changes: list(
        z.strictObject({ path: z.string(), before: z.string().optional(), after: z.string().optional() }),
      ),
      /** SHA-256 over the canonical JSON of all settings from here on, hex. */
      hash: z.string(),
      by: z.string(),
      why: z.string(),
      /** Approved requests that allowed the changes. */
      approvals: list(z.string()).optional(),
      token: token().optional(),
    }),
  /** The state of the desk or of one parent, pair or strategy changed. */
  control: () =>
    z.strictObject({
      kind: z.literal('control'),
      /** Parents, pairs and strategies are `active` or `paused`. */
      state: z.enum(['active', 'paused', 'reducing', 'halted']),
      /** Only this parent. */
      parent: z.string().optional(),
      /** Only this pair. */
      pair: z.string().optional(),
      /** Only this strategy. */
      strategy: z.string().optional(),
      by: z.string(),
      why: z.string(),
      /** Time at which a pause of the desk ends automatically; omitted: an operator must resume it. */
      until: at.optional(),
      /** The pause of a parent ends once quotes agree with the reference price; omitted: an operator must resume it. */
      ends: z.literal('prices_agree').optional(),
      /** For a halt that is a kill, after which no order can leave until another process is armed. */
      transport: z.literal('closed').optional(),
      /** Orders whose outcome was unknown when a person re-armed the desk. */
      doubts: list(z.string()).optional(),
      token: token().optional(),
    }),
  /** An alert was raised. It has no effect on the state; it only records what a daemon reported. */
  alert: () =>
    z.strictObject({
      kind: z.literal('alert'),
      /** An id of `alerts`; ids of earlier versions stay readable. */
      alert: z.string(),
      severity: z.enum(['info', 'warning', 'critical']),
      /** Facts of the alert: plain, bounded and without secrets. */
      facts: z.record(z.string(), z.unknown()),
      /** Number of alerts with the same id since the previous record for which no record was written, because there were too many. */
      others: count.optional(),
    }),
  /** Who may sign in changed: a person was invited, enrolled a passkey, signed in with it, or was removed. */
  person: () =>
    z.strictObject({
      kind: z.literal('person'),
      person: z.string(),
      step: z.enum(['invited', 'enrolled', 'signed_in', 'removed']),
      role: z.enum(roles),
      /** With `enrolled` and `signed_in`: the passkey. The public key is COSE, base64url, and present only with `enrolled`. */
      passkey: z
        .strictObject({
          id: z.string(),
          public_key: z.string().optional(),
          /** Number of uses as the authenticator reports it; 0 if it does not count. */
          counter: count,
          /**
           * Page of the desk on which the passkey was used, and the host that the passkey belongs to. Only approvals from
           * such pages count. Older versions omit them.
           */
          origin: z.string().optional(),
          rp_id: z.string().optional(),
        })
        .optional(),
      by: z.string(),
      why: z.string(),
      token: token().optional(),
    }),
} as const;

type Shapes = typeof recordShapes;
export type RecordKind = keyof Shapes;
export type RecordOf<K extends RecordKind> = Readonly<z.output<ReturnType<Shapes[K]>>>;
export type RecordBody = { readonly [K in RecordKind]: RecordOf<K> }[RecordKind];

export type StartedRecord = RecordOf<'started'>;
export type StoppedRecord = RecordOf<'stopped'>;
export type StrategyRecord = RecordOf<'strategy'>;
export type WakeRecord = RecordOf<'wake'>;
export type IntentRecord = RecordOf<'intent'>;
export type QuoteRecord = RecordOf<'quote'>;
export type AttemptRecord = RecordOf<'attempt'>;
export type FillRecord = RecordOf<'fill'>;
export type SliceRecord = RecordOf<'slice'>;
export type BalancesRecord = RecordOf<'balances'>;
export type MaximumRecord = RecordOf<'maximum'>;
export type ResolvedRecord = RecordOf<'resolved'>;
export type CorrectionRecord = RecordOf<'correction'>;
export type ShownRecord = RecordOf<'shown'>;
export type ApprovalRecord = RecordOf<'approval'>;
export type ReloadRecord = RecordOf<'reload'>;
export type SettingsRecord = RecordOf<'settings'>;
export type ControlRecord = RecordOf<'control'>;
export type AlertRecord = RecordOf<'alert'>;
export type PersonRecord = RecordOf<'person'>;

export type UsedToken = Readonly<z.output<ReturnType<typeof token>>>;
export type IntentText = Readonly<z.output<ReturnType<typeof intentText>>>;
export type RowText = Readonly<z.output<ReturnType<typeof rows>>[number]>;
export type OtherFees = Readonly<z.output<ReturnType<typeof otherFees>>>;
export type Missing = Readonly<z.output<ReturnType<typeof missing>>>;
export type MissedSlice = WakeRecord['missed'][number];
export type Tails = NonNullable<BalancesRecord['tails']>;
export type Hold = NonNullable<BalancesRecord['holds']>[number];
/** Progress of the proof of a doubt. The next process continues from here. */
export type ProofRecord = NonNullable<AttemptRecord['proof']>;

/** A record as stored in the journal. */
export interface StoredRecord {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly at: Instant;
  readonly body: RecordBody;
  /** SHA-256 over the previous hash and this record, hex. */
  readonly hash: string;
}
