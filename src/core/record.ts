import type { Severity } from './alerts.ts';
import type { ApprovalSettings, RequestKind } from './approvals/approval-settings.ts';
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
  | ApprovalRecord
  | ReloadRecord
  | SettingsRecord
  | ControlRecord
  | AlertRecord
  | PersonRecord;

/** A slot that passed without an attempt. */
export interface MissedSlice {
  readonly leg: string;
  readonly slice: number;
  /** Scheduled time and planned size, in the parent's unit. Omitted if unknown. */
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
  /** Hash of origin and token, because a journal belongs to one account. */
  readonly account: string;
  /** The desk's limits, under their names in the config. Omitted: not recorded. */
  readonly limits?: LimitTexts | undefined;
  /** `operate.approvals`, recorded with the limits. Omitted: nothing needs approval. */
  readonly approvals?: ApprovalSettings | undefined;
  /** Who started the process, such as `cli:ann`. Omitted by older versions. */
  readonly by?: string | undefined;
  /**
   * Hash of all settings in force, which is also in the newest `settings` record. If the settings changed, that record
   * follows this one. Omitted: not recorded.
   */
  readonly settings?: string | undefined;
}

/** A process released the journal cleanly. */
export interface StoppedRecord {
  readonly kind: 'stopped';
  readonly why: string;
  readonly open_doubts: number;
  /** A whole read of the account started after the time by which the last fills must have been booked. Omitted: not requested. */
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

/** A strategy starts a run. The same content never starts twice in one journal. */
export interface StrategyRecord {
  readonly kind: 'strategy';
  readonly strategy: string;
  /** Hash of the content of the YAML document. */
  readonly hash: string;
  readonly type: string;
  /** The default of `start_time`. */
  readonly begun_at: Instant;
  /** The document as written, because a running parent keeps it. */
  readonly document: unknown;
}

/** One wake and its result. Each wake has exactly one record, which explains why there was no trade. */
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

/** Durable before the order leaves. From this record on, the attempt may have traded until proven otherwise. */
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
  /** Worst case of the order in the currency of the limits. It counts in the limits while the outcome is unknown. */
  readonly notional_usd: string;
  /** Why the size is smaller than wanted. */
  readonly cuts: readonly Reason[];
  /** The figures of each cut, `limit=… value=…`. */
  readonly cut_notes?: readonly string[] | undefined;
  /** Time on the boot clock at or after the quote request, if the machine has a boot clock. */
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
  /** The longest that the quote can live after its arrival, milliseconds. */
  readonly life_ms: number;
  /** The venue's own timestamp of the quote. */
  readonly quoted_at?: Instant | undefined;
  /** From the quote's arrival to the order's first byte, or to the write before it; milliseconds. */
  readonly age_ms: number;
  /**
   * Largest value of the parent in the currency of the limits, or `unknown`; present if parents above an amount need
   * approval and this one started without.
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
  /** For a doubt: order ids that a response or a row ties to it. */
  readonly order_ids?: readonly string[] | undefined;
}

/** Progress of the proof of a doubt. The next process continues from here. */
export interface ProofRecord {
  /** Clean reads of the account that are still needed. */
  readonly reads_left: number;
  /** Shortest time from this record to the start of the next read that counts, milliseconds. */
  readonly wait_ms: number;
  readonly proves: 'rejected' | 'absent' | 'nothing';
  /** Time of this record on the boot clock, if the machine has a boot clock. */
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
  /** Fees in other currencies than the quote currency. Omitted: none. */
  readonly other_fees?: OtherFees | undefined;
  /** The account rows behind these figures. Omitted: the figures come from a response or a person. */
  readonly rows?: readonly RowText[] | undefined;
  readonly missing?: Missing | undefined;
  /** The order asked for an amount, and its figures come from its proof. Omitted: it asked for a quantity, or a response has them. */
  readonly by?: 'amount' | undefined;
  /** The journal did not know its order when the account showed it, so the ordered size is unknown. */
  readonly adopted?: true | undefined;
}

/** Fees by currency; negative for a rebate. */
export type OtherFees = Readonly<Record<string, string>>;

/** One row of the account that belongs to an order, with the figures that it showed. */
export interface RowText {
  readonly id: string;
  readonly currency: string;
  /** Signed, in `currency`. */
  readonly amount: string;
  /** In `currency`. Omitted: none. */
  readonly fees?: string | undefined;
  readonly order_id?: string | undefined;
  readonly trade_id?: string | undefined;
  /** The row is a fee or a rebate, not a leg. */
  readonly is_fee?: true | undefined;
  /** The row shows our client id exactly. */
  readonly is_named?: true | undefined;
}

/**
 * The part of a traded order that the account does not show. It counts as filled, at its worst price, until rows show
 * it or a person resolves it, so the strategy does not trade it again.
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
  /** The missing part of its fills, which the strategy counts as filled. */
  readonly missing?: string | undefined;
  readonly missing_amount?: string | undefined;
}

/** The newest row of each currency, and the balance after it. */
export type Tails = Readonly<Record<string, { readonly id: string; readonly balance: string }>>;

/** Balances proven by a read of the account. */
export interface BalancesRecord {
  readonly kind: 'balances';
  readonly balances: Readonly<Record<string, string>>;
  /** Id of the newest transaction read; empty if there was none, or if its ids cannot be ordered. */
  readonly newest_id: string;
  /** Omitted if balances do not follow from rows. */
  readonly tails?: Tails | undefined;
  readonly read_at: Instant;
}

/** The largest size that the venue quotes in one piece, as the venue stated it or as its fills suggest. */
export interface MaximumRecord {
  readonly kind: 'maximum';
  readonly pair: string;
  readonly usd: string;
  /** USD per unit of the quote currency, according to the venue's figures; omitted if the quote currency is USD. */
  readonly quote_usd?: string | undefined;
  /** Omitted: the venue stated it. */
  readonly why?: 'raised' | undefined;
}

/** The token behind a command. `machine`: the token that a daemon writes beside its journal. */
export interface UsedToken {
  readonly name: string;
  readonly kind: 'person' | 'program' | 'machine';
}

/** A person resolved an order in doubt, or rows that could be its trade. The consequences follow in the same write. */
export interface ResolvedRecord {
  readonly kind: 'resolved';
  readonly client_order_id: string;
  /** `ours`: `rows` belong to the order. `not_ours`: they belong to none of our orders. */
  readonly verdict: 'filled' | 'not_executed' | 'ours' | 'not_ours';
  readonly rows?: readonly string[] | undefined;
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

/** The account shows figures for a fill that differ from the booked ones. The fill record stays, but these figures count. */
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
  readonly other_fees?: OtherFees | undefined;
  readonly rows: readonly RowText[];
  /** Rows that changed or came under new ids, in words. Omitted: there are only more rows. */
  readonly changes?: readonly string[] | undefined;
  readonly missing?: Missing | undefined;
}

/** What a whole read of the account showed for the first time. */
export interface ShownRecord {
  readonly kind: 'shown';
  /** Fills exactly as booked: their rows, by client id. */
  readonly fills: Readonly<Record<string, readonly RowText[]>>;
  /**
   * Rows of trades that are not ours, or that no id ties to an order. They cannot belong to an order whose intent follows
   * this record.
   */
  readonly others?: readonly RowText[] | undefined;
}

/** A request for approval was proposed, approved by one person, or ended. Every step repeats the request. */
export interface ApprovalRecord {
  readonly kind: 'approval';
  /** Id of the request, unique in the journal. */
  readonly request: string;
  /** `approved`: by one person. `expired`: nobody decided in time. One rejection ends a request. */
  readonly step: 'proposed' | 'approved' | 'rejected' | 'expired';
  readonly for: RequestKind;
  /** The request in words. */
  readonly asks: string;
  /** What would change, one line each. */
  readonly difference?: readonly string[] | undefined;
  /** Hash of the approval's subject; it changes when the desk changes. */
  readonly subject: string;
  /** Number of different people who must approve, and whether with a passkey. */
  readonly count: number;
  readonly passkey?: 'required' | undefined;
  /** For a strategy or a parent. */
  readonly strategy?: string | undefined;
  readonly parent?: string | undefined;
  /** The highest value of a parent, in the currency of the limits, or `unknown`. */
  readonly amount?: string | undefined;
  /** Hash of the canonical request, which a passkey signs. */
  readonly hash: string;
  /** For an approval by a passkey. */
  readonly assertion?: PasskeyAssertion | undefined;
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

/** The state of the desk or of one parent, pair or strategy changed. */
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
  /** For a halt that is a kill, after which no order can leave until another process is armed. */
  readonly transport?: 'closed' | undefined;
  /** Orders whose outcome was unknown when a person re-armed the desk. */
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
         * Page of the desk on which the passkey was used, and the host that the passkey belongs to. Only approvals from
         * such pages count. Older versions omit them.
         */
        readonly origin?: string | undefined;
        readonly rp_id?: string | undefined;
      }
    | undefined;
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
  /** Number of alerts with the same id since the previous record for which no record was written, because there were too many. */
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
