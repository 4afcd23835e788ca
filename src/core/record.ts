import type { Severity } from './alerts.ts';
import type { ApprovalPolicy, Need, RequestKind } from './approvals/approval-policy.ts';
import type { PasskeyAssertion } from './approvals/passkey-assertion.ts';
import type { Reason } from './reasons.ts';
import type { Role } from './roles.ts';
import type { LimitChange, LimitTexts } from './risk/limit-changes.ts';
import type { SettingChange } from './risk/setting-changes.ts';
import type { Tactics } from './risk/tactics.ts';
import type { BootTime, Instant } from './time.ts';
import type { Side } from './venue.ts';
import type { Wait } from './wake.ts';

/**
 * Every kind of journal record. Plain JSON: amounts are canonical text, times are Unix ms. All other state of the
 * engine is a fold of these records. Names are stable: exports and old journals rely on them.
 */
export type RecordBody =
  | StartedRecord
  | StoppedRecord
  | StrategyRecord
  | WakeRecord
  | IntentRecord
  | QuoteRecord
  | AttemptRecord
  | FillRecord
  | SliceRecord
  | BalancesRecord
  | MaximumRecord
  | ResolvedRecord
  | CorrectionRecord
  | ShownRecord
  | ProcessRecord
  | OverrideRecord
  | ReloadRecord
  | SettingsRecord
  | ControlRecord
  | AlertRecord
  | PersonRecord
  | ClosingRecord;

/** A slot that passed without an attempt. */
export interface MissedSlice {
  readonly leg: string;
  readonly slice: number;
  /** Scheduled time and planned size, in the unit of the parent. Omitted if unknown. */
  readonly due?: Instant | undefined;
  readonly size?: string | undefined;
}

/** A process took over the journal. */
export interface StartedRecord {
  readonly kind: 'started';
  readonly version: string;
  readonly mode: string;
  readonly desk: string;
  readonly config_hash: string;
  /** Hash of origin and token: a journal belongs to one account. */
  readonly account: string;
  /** The limits of the desk, by the names of the config. Omitted: not recorded. */
  readonly limits?: LimitTexts | undefined;
  /** Lifting a halt and raising a limit take two people. */
  readonly four_eyes?: boolean | undefined;
  /** Who must approve what, as in `operate.policy`. Omitted: the config has none. */
  readonly policy?: ApprovalPolicy | undefined;
  /** Who started the process, such as `cli:ann`. Omitted by older versions. */
  readonly by?: string | undefined;
  /** Hash of all settings in force: that of the newest `settings` record, which follows if they changed. Omitted: not recorded. */
  readonly settings?: string | undefined;
}

/** A process released the journal cleanly. */
export interface StoppedRecord {
  readonly kind: 'stopped';
  readonly why: string;
  readonly open_doubts: number;
  /** A whole read of the account started after the last fills must have been booked. Omitted: not requested. */
  readonly closing_read?: boolean | undefined;
}

/** The state of a process between its start and its end. */
export interface ProcessRecord {
  readonly kind: 'process';
  /**
   * `running`: a process that follows a crashed one has run for `SOON_AFTER_START_MS`. `failed`: its own error ends it.
   * `refused`: it ends with a message for the operator, for example because the venue refuses its token.
   */
  readonly state: 'running' | 'failed' | 'refused';
  /** The error, or the message. */
  readonly why?: string | undefined;
}

/** A strategy starts a run: the same content never starts twice in one journal. */
export interface StrategyRecord {
  readonly kind: 'strategy';
  readonly strategy: string;
  /** Hash of the content of the YAML document. */
  readonly hash: string;
  readonly type: string;
  /** The default of `start_time`. */
  readonly begun_at: Instant;
  /** The document as written: a running parent keeps it. */
  readonly document: unknown;
}

/** One wake and its result: exactly one record per wake ("why no trade"). */
export interface WakeRecord {
  readonly kind: 'wake';
  readonly strategy: string;
  readonly hash: string;
  readonly on: 'start' | 'at' | 'drift' | 'price' | 'inflow' | 'debt' | 'lifted' | 'run' | 'outcome';
  /**
   * For `at`: when it was due. For `outcome`: which slice. For `drift`: how far. For `price` and `inflow`: the observed value. For
   * `run`: who asked for it, and why.
   */
  readonly detail: Readonly<Record<string, string | number>>;
  /** With `run`. */
  readonly token?: UsedToken | undefined;
  /** Why the strategy trades nothing, or less; omitted if all is as planned. */
  readonly reason?: Reason | undefined;
  readonly note?: string | undefined;
  /** State of the kernel after the step; absent if its first step failed. */
  readonly state?: unknown;
  readonly waits: readonly Wait[];
  readonly intents: readonly IntentText[];
  /** Slots that passed without an attempt. */
  readonly missed: readonly MissedSlice[];
  /** The strategy has nothing more to do. */
  readonly finished?: Reason | undefined;
}

/** An intent as text. */
export interface IntentText {
  readonly leg: string;
  readonly parent: string;
  readonly slice: number;
  readonly pair: string;
  readonly side: Side;
  readonly by: 'quantity' | 'amount';
  readonly size: string;
  readonly limit?: string | undefined;
  readonly tactics?: Tactics | undefined;
  readonly deadline: Instant;
  /** Reference price when the strategy decided, if one was known. */
  readonly decision_price?: string | undefined;
}

/** Durable before the order leaves: from here on the attempt may have traded, until proven otherwise. */
export interface IntentRecord {
  readonly kind: 'intent';
  readonly client_order_id: string;
  readonly strategy: string;
  readonly parent: string;
  readonly slice: number;
  readonly attempt: number;
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly side: Side;
  readonly by: 'quantity' | 'amount';
  readonly size: string;
  /** Worst price at which the order may be sent, quote per base. */
  readonly worst_price: string;
  readonly reference_price: string;
  /** Worst case of the order in the currency of the limits, for limits while the outcome is unknown. */
  readonly notional_usd: string;
  /** Why the size is smaller than wanted. */
  readonly cuts: readonly Reason[];
  /** The figures of each cut, `limit=… value=…`. */
  readonly cut_notes?: readonly string[] | undefined;
  /** The override that this attempt uses. */
  readonly override?: string | undefined;
  /** Boot clock at or after the quote request, if the machine has one. */
  readonly boot?: BootTime | undefined;
}

/**
 * The quote of an order that leaves. Written while the request is in flight, because safety does not depend on it. In
 * a store that several owners reach, it must be durable before the order leaves.
 */
export interface QuoteRecord {
  readonly kind: 'quote';
  readonly client_order_id: string;
  readonly quote_id: string;
  readonly quantity: string;
  readonly price: string;
  readonly amount: string;
  readonly life_ms: number;
  /** The venue's own timestamp of the quote. Rows of its account use the same clock. */
  readonly quoted_at?: Instant | undefined;
  /** From the quote's arrival to the order's first byte, or to the write before it; milliseconds. */
  readonly age_ms: number;
  /**
   * Largest value of the parent in the currency of the limits, or `unknown`; present if the policy covers parents and let
   * this one start without approval.
   */
  readonly parent_amount?: string | undefined;
}

/** Result of an attempt. Only `filled` traded; only `doubt` leaves the attempt open. */
export interface AttemptRecord {
  readonly kind: 'attempt';
  readonly client_order_id: string;
  /**
   * `discarded`: no order was sent. `doubt`: one may have traded. `rejected`: the venue did not fill it, and a read of
   * the account agrees. `absent`: proven not to have traded. `filled`: traded.
   */
  readonly result: 'discarded' | 'doubt' | 'rejected' | 'absent' | 'filled';
  readonly reason?: Reason | undefined;
  readonly detail?: string | undefined;
  /** For a doubt: the progress of its proof. */
  readonly proof?: ProofRecord | undefined;
}

/** Progress of the proof of a doubt: the next process continues from here. */
export interface ProofRecord {
  /** Clean reads of the account that are still needed. */
  readonly reads_left: number;
  /** Shortest time from this record to the start of the next read that counts, milliseconds. */
  readonly wait_ms: number;
  readonly proves: 'rejected' | 'absent' | 'nothing';
  /** Time of this record on the boot clock, if the machine has one. */
  readonly boot?: BootTime | undefined;
}

/** Money moved. Never changed, never removed. */
export interface FillRecord {
  readonly kind: 'fill';
  readonly client_order_id: string;
  readonly order_id: string;
  readonly quote_id: string;
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly side: Side;
  readonly quantity: string;
  readonly price: string;
  readonly amount: string;
  /** In quote currency. */
  readonly fees: string;
  readonly executed_at: Instant;
  readonly strategy: string;
  readonly parent: string;
  readonly slice: number;
  readonly attempt: number;
  /** In the currency of the limits. */
  readonly notional_usd: string;
  /** Reference price when the parent was decided; empty if unknown. */
  readonly decision_price: string;
  /** Where the proof came from. */
  readonly source: 'order' | 'transactions' | 'lookup' | 'dry_run' | 'operator';
  /** The account rows behind these figures. Omitted: the figures come from an answer or a person. */
  readonly rows?: readonly number[] | undefined;
  readonly missing?: Missing | undefined;
  /** The journal did not know its order when the account showed it, so the ordered size is unknown. */
  readonly adopted?: true | undefined;
}

/**
 * The part of a traded order that the account does not show. It counts as filled, at its worst, until rows show it or a person
 * resolves it: the strategy does not trade it again.
 */
export interface Missing {
  readonly quantity: string;
  readonly amount: string;
  /** In the currency of the limits. */
  readonly notional_usd: string;
}

/** A slice ended. */
export interface SliceRecord {
  readonly kind: 'slice';
  readonly strategy: string;
  readonly parent: string;
  readonly leg: string;
  readonly slice: number;
  readonly result: 'filled' | 'skipped' | 'expired';
  readonly reason?: Reason | undefined;
  /** The figures behind the reason, such as `limit=… value=…`. */
  readonly detail?: string | undefined;
  readonly filled: string;
  readonly filled_amount: string;
  /** The missing part of its fills: the strategy counts it as filled. */
  readonly missing?: string | undefined;
  readonly missing_amount?: string | undefined;
}

/** Balances proven by a read of the account. */
export interface BalancesRecord {
  readonly kind: 'balances';
  readonly balances: Readonly<Record<string, string>>;
  /** Id of the newest transaction read; 0 if there was none. */
  readonly newest_id: number;
  readonly read_at: Instant;
}

/** The largest size that the venue quotes in one piece: as it stated, or as its fills suggest. */
export interface MaximumRecord {
  readonly kind: 'maximum';
  readonly pair: string;
  readonly usd: string;
  /** USD per unit of the quote currency, by the venue's figures; omitted if the quote currency is USD. */
  readonly quote_usd?: string | undefined;
  /** Omitted: the venue stated it. */
  readonly why?: 'raised' | undefined;
}

/** The token behind a command. `machine`: the token that a daemon writes beside its journal. */
export interface UsedToken {
  readonly name: string;
  readonly kind: 'person' | 'program' | 'machine';
}

/** A person resolved an order in doubt. The records of its consequences follow it in the same write. */
export interface ResolvedRecord {
  readonly kind: 'resolved';
  readonly client_order_id: string;
  readonly verdict: 'filled' | 'not_executed';
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

/** The account shows other figures of a fill than were booked. The fill record does not change; these figures count. */
export interface CorrectionRecord {
  readonly kind: 'correction';
  readonly client_order_id: string;
  readonly order_id: string;
  readonly quantity: string;
  readonly price: string;
  readonly amount: string;
  /** In quote currency. */
  readonly fees: string;
  readonly was_quantity: string;
  readonly was_amount: string;
  readonly was_fees: string;
  /** As in a fill. Omitted in records of older versions. */
  readonly rows?: readonly number[] | undefined;
  readonly missing?: Missing | undefined;
}

/** The account shows fills exactly as booked: their rows, by client id. Any other row with such an id is a further trade. */
export interface ShownRecord {
  readonly kind: 'shown';
  readonly fills: Readonly<Record<string, readonly number[]>>;
}

/**
 * A request for approval was proposed, approved by one person, or ended. The kind is named after its first use, overrides of a limit
 * for one order.
 */
export interface OverrideRecord {
  readonly kind: 'override';
  readonly override: string;
  /** `agreed`: one of several needed approvals. `approved`: the last of them. `expired`: nobody decided in time. */
  readonly step: 'proposed' | 'agreed' | 'approved' | 'withdrawn' | 'rejected' | 'expired';
  /** A setting of `controls`; for everything else the kind of request, `halt` for a rearm. */
  readonly limit: string;
  /** Kind of request; omitted by older versions. */
  readonly request?: RequestKind | undefined;
  /** The request in words; omitted for the override of a limit. */
  readonly asks?: string | undefined;
  /** What would change, one line each. */
  readonly difference?: readonly string[] | undefined;
  /** Hash of the subject of the approval; it changes when the desk changes. */
  readonly subject?: string | undefined;
  /** Who must approve under the policy in force, and whether with a passkey. */
  readonly needs?: readonly Need[] | undefined;
  readonly passkey?: 'required' | undefined;
  /** Hash of the canonical request: what a passkey signs. In older journals, of the subject. */
  readonly hash?: string | undefined;
  /** Of an approval by a passkey. */
  readonly assertion?: PasskeyAssertion | undefined;
  /** Of a strategy or a parent. */
  readonly strategy?: string | undefined;
  /** The highest value of a parent, in the currency of the limits. Older versions omit it. */
  readonly amount?: string | undefined;
  /** Value of the limit for that order; absent if the limit is lifted entirely. */
  readonly value?: string | undefined;
  /** One order of this parent, or of this slice of it. */
  readonly parent?: string | undefined;
  readonly slice?: number | undefined;
  /** Or one order of this pair and side. */
  readonly pair?: string | undefined;
  readonly side?: Side | undefined;
  readonly expires_at: Instant;
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

/**
 * The strategy documents and the limits of the config were reloaded while the desk ran. The records of the runs that
 * it started follow it in the same write.
 */
export interface ReloadRecord {
  readonly kind: 'reload';
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
  /** `refused`: a file was not usable, and nothing changed. */
  readonly result: 'applied' | 'refused';
  readonly changes: readonly {
    readonly strategy: string;
    readonly what: 'begins' | 'goes_on' | 'replaces' | 'stops' | 'kept' | 'over' | 'waits';
    /** Hashes of the running document, and of the one in the file. */
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly why?: string | undefined;
  }[];
  /** Limits that changed. */
  readonly limit_changes?: readonly LimitChange[] | undefined;
  /** Notification channels that changed, by name. */
  readonly channel_changes?: readonly string[] | undefined;
  /** All limits in force from here on, if one of them changed. */
  readonly limits?: LimitTexts | undefined;
  readonly notes?: readonly string[] | undefined;
  /** Approved requests that this reload carries out. */
  readonly approvals?: readonly string[] | undefined;
  /** The problems of the files. */
  readonly problems?: string | undefined;
}

/**
 * Settings in force changed: limits, config or people, as merged from defaults, files, environment and command line.
 * The first record has all settings; to get the settings at a time, apply the changes of all records up to then.
 * Written together with its cause.
 */
export interface SettingsRecord {
  readonly kind: 'settings';
  /** `start`: the config differs from that of the previous process, or is the first. */
  readonly cause: 'start' | 'reload' | 'person';
  readonly changes: readonly SettingChange[];
  /** SHA-256 over the canonical JSON of all settings from here on, hex. */
  readonly hash: string;
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
  /** Approved requests that allowed the changes. */
  readonly approvals?: readonly string[] | undefined;
}

/** The state of the desk changed, or of one parent, pair or strategy. */
export interface ControlRecord {
  readonly kind: 'control';
  /** Parents, pairs and strategies are `active` or `paused`. */
  readonly state: 'active' | 'paused' | 'reducing' | 'halted';
  /** Only this parent. */
  readonly parent?: string | undefined;
  /** Only this pair. */
  readonly pair?: string | undefined;
  /** Only this strategy. */
  readonly strategy?: string | undefined;
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
  /** Time at which a pause of the desk ends automatically; omitted: an operator must resume it. */
  readonly until?: Instant | undefined;
  /** The pause of a parent ends once quotes agree with the reference price; omitted: an operator must resume it. */
  readonly ends?: 'prices_agree' | undefined;
  /** For a halt that is a kill: no order can leave until another process is armed. */
  readonly transport?: 'closed' | undefined;
  /** Orders with unknown outcome when a person re-armed the desk. */
  readonly doubts?: readonly string[] | undefined;
}

/** Who may sign in changed: a person was invited, enrolled a passkey, signed in with it, or was removed. */
export interface PersonRecord {
  readonly kind: 'person';
  readonly person: string;
  readonly step: 'invited' | 'enrolled' | 'signed_in' | 'removed';
  readonly role: Role;
  /** With `enrolled` and `signed_in`: the passkey. The public key is COSE, base64url, and present only with `enrolled`. */
  readonly passkey?:
    | {
        readonly id: string;
        readonly public_key?: string | undefined;
        /** Number of uses as the authenticator reports it; 0 if it does not count. */
        readonly counter: number;
        /**
         * Page of the desk on which the passkey was used, and the host that it belongs to: only approvals from such
         * pages count. Older versions omit them.
         */
        readonly origin?: string | undefined;
        readonly rp_id?: string | undefined;
      }
    | undefined;
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

/**
 * A period of the books was closed: its entries never change again. docs/accounting.md defines the text that `hash`
 * covers.
 */
export interface ClosingRecord {
  readonly kind: 'closing';
  /** End of the previously closed period. Omitted: the first period, which begins with the opening balances. */
  readonly from?: Instant | undefined;
  /** The first instant after the period. */
  readonly until: Instant;
  /** The currency of the books. */
  readonly currency: string;
  readonly method: string;
  readonly jurisdiction?: string | undefined;
  /** Number of entries in the period. */
  readonly entries: number;
  /** SHA-256 of the text of the period, hex. */
  readonly hash: string;
  /** The newest record that the books include. */
  readonly head: { readonly seq: number; readonly hash: string };
  /**
   * Ids of the transactions from which the entries of the period were booked, if no record of the journal has them:
   * the smallest id, then the difference of each from the previous one.
   */
  readonly transactions: readonly number[];
  /** SHA-256 of the settings file, hex. */
  readonly settings: string;
  /**
   * Why the period was closed although books and account differed, or were not compared, and by how much they
   * differed.
   */
  readonly unreconciled?:
    { readonly why: string; readonly differences: Readonly<Record<string, string>> } | undefined;
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

/** An alert was raised. It has no effect on the state; it only records what a daemon reported. */
export interface AlertRecord {
  readonly kind: 'alert';
  /** An id of `alerts`; ids of earlier versions stay readable. */
  readonly alert: string;
  readonly severity: Severity;
  /** Facts of the alert: plain, bounded and without secrets. */
  readonly facts: Readonly<Record<string, unknown>>;
  /**
   * Number of alerts of the same id since the previous record that have no record of their own, because there were
   * too many.
   */
  readonly others?: number | undefined;
}

/** A record as stored in the journal. */
export interface StoredRecord {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly at: Instant;
  readonly body: RecordBody;
  /** SHA-256 over the previous hash and this record, hex. */
  readonly hash: string;
}
