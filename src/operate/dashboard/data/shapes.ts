/** The API fields that the dashboard reads. Amounts are decimal text, times are ISO 8601 UTC text. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string | number | undefined;
}

export interface Me {
  readonly name: string;
  readonly role: 'viewer' | 'operator' | 'approver' | 'admin';
  readonly kind: 'person' | 'program' | 'machine';
  readonly via: 'session' | 'token';
  readonly desk: string;
  readonly mode: string;
  readonly version: string;
  readonly csrf?: string | undefined;
}

export interface OpenAlert {
  readonly alert: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly at: string;
  readonly says?: string | undefined;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface Alert extends OpenAlert {
  readonly seq?: number | undefined;
  readonly is_open?: boolean | undefined;
  /** The recommended action. */
  readonly does?: string | undefined;
  /** The action in the words of this page; `does` names a command. */
  readonly on_dashboard?: string | undefined;
  readonly runbook?: string | undefined;
}

export interface LastFill {
  readonly at: string;
  readonly strategy: string;
  readonly pair: string;
  readonly side: string;
  readonly quantity: string;
  readonly base: string;
  readonly price: string;
  readonly amount: string;
  readonly quote: string;
}

export interface Price {
  readonly pair: string;
  readonly mid?: string | undefined;
  readonly source?: string | undefined;
  readonly age_s?: number | undefined;
}

export interface Status {
  readonly desk: string;
  readonly mode: string;
  readonly version: string;
  readonly state: 'active' | 'paused' | 'reducing' | 'halted';
  readonly level?: string | undefined;
  readonly since?: string | undefined;
  readonly by?: string | undefined;
  readonly why?: string | undefined;
  readonly is_stopping?: boolean | undefined;
  readonly not_ready: readonly string[];
  readonly holdings?: Readonly<Record<string, string>> | undefined;
  readonly prices?: readonly Price[] | undefined;
  readonly open_alerts: readonly OpenAlert[];
  readonly alerts_last_day?: Readonly<Record<string, number>> | undefined;
  readonly fills?: number | undefined;
  readonly last_fills?: readonly LastFill[] | undefined;
  readonly paused?: Readonly<Record<string, unknown>> | undefined;
  readonly waiting?: readonly string[] | undefined;
  readonly open_doubts?: readonly string[] | undefined;
  readonly orders_in_flight?: readonly string[] | undefined;
  readonly account_read_age_s?: number | undefined;
  readonly last_record_age_s?: number | undefined;
}

export interface Traded {
  readonly amount: string;
  readonly of: string;
  readonly currency: string;
}

export interface Strategy {
  readonly id: string;
  readonly kind: string;
  readonly state?: string | undefined;
  readonly hash?: string | undefined;
  readonly traded?: Traded | undefined;
  readonly slices_done: number;
  readonly slices_filled: number;
  readonly slices_total: number;
  readonly next_at?: string | undefined;
  readonly last_reason?: string | undefined;
  readonly waits_for_approval?: string | undefined;
}

export interface SliceFill {
  readonly price: string;
  readonly quantity: string;
  readonly amount: string;
  readonly fees?: string | undefined;
  readonly other_fees?: Readonly<Record<string, string>> | undefined;
  readonly executed_at: string;
}

export interface Attempt {
  readonly client_order_id: string;
  readonly attempt: number;
  readonly asked_at: string;
  readonly quote?:
    { readonly price: string; readonly quantity: string; readonly life_ms?: number | undefined } | undefined;
  readonly result?: string | undefined;
  readonly reason?: string | undefined;
  readonly fill?: SliceFill | undefined;
}

export interface Slice {
  readonly strategy: string;
  readonly parent: string;
  readonly leg?: string | undefined;
  readonly slice: number;
  readonly pair: string;
  readonly side: string;
  readonly due_at?: string | undefined;
  readonly planned?: string | undefined;
  readonly state: 'planned' | 'open' | 'filled' | 'skipped' | 'expired' | 'missed';
  readonly reason?: string | undefined;
  readonly detail?: string | undefined;
  readonly filled?: string | undefined;
  readonly filled_amount?: string | undefined;
  readonly attempts: readonly Attempt[];
  readonly ended_at?: string | undefined;
  readonly seq?: number | undefined;
}

export interface WhyLine {
  readonly at: string;
  readonly event?: string | undefined;
  readonly says: string;
  /** The line of `tranche why` without its time. */
  readonly words?: string | undefined;
  readonly strategy?: string | undefined;
  readonly seq?: number | undefined;
  readonly reason?: string | undefined;
}

export interface Limit {
  readonly limit: string;
  readonly scope?: string | undefined;
  readonly used?: string | number | undefined;
  readonly in_doubt?: string | number | undefined;
  readonly max?: string | number | undefined;
  readonly currency?: string | undefined;
  readonly since?: string | undefined;
  /** `used` must not fall below `max`. */
  readonly is_floor?: boolean | undefined;
}

/** A row of the account that no id ties to an order. */
export interface Row {
  readonly id: string;
  readonly at: string;
  readonly order_id?: string | undefined;
  readonly client_order_id?: string | undefined;
  readonly trade_id?: string | undefined;
  readonly action: string;
  readonly currency: string;
  readonly amount: string;
  readonly equals_quote?: true | undefined;
  readonly unreadable?: string | undefined;
}

export interface Doubt {
  readonly client_order_id: string;
  readonly strategy?: string | undefined;
  readonly parent?: string | undefined;
  readonly slice?: number | undefined;
  readonly attempt?: number | undefined;
  readonly pair?: string | undefined;
  readonly side?: string | undefined;
  readonly size?: string | undefined;
  readonly age_s?: number | undefined;
  readonly clean_reads_left?: number | undefined;
  readonly quote_id?: string | undefined;
  readonly notional?: string | undefined;
  readonly since?: string | undefined;
  readonly why?: string | undefined;
  /** Earliest time of proof that it did not trade; omitted if it certainly traded. */
  readonly earliest_answer_at?: string | undefined;
  readonly reserves?: { readonly currency: string; readonly amount: string } | undefined;
  /** Rows that hold it open until a person attributes them. */
  readonly unattributed?: readonly Row[] | undefined;
}

/** A journal record as the event stream sends it. */
export interface JournalRecord {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly hash?: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Chain {
  readonly seq: number;
  readonly hash: string;
  readonly verified_to?: number | undefined;
  readonly verified_at?: string | undefined;
  /** The first break of the chain. */
  readonly problem?: string | undefined;
  readonly head?: { readonly seq: number; readonly hash: string; readonly signed_at: string } | undefined;
}

export interface Approval {
  readonly id: string;
  readonly hash: string;
  readonly kind: string;
  readonly asks: string;
  /** What would change, one line each: `slices: 4 → 6`. */
  readonly difference?: readonly string[] | undefined;
  /** Whether an approval needs a passkey signature. */
  readonly passkey?: 'required' | undefined;
  readonly proposed_by: string;
  readonly proposed_at: string;
  readonly expires_at?: string | undefined;
  readonly why?: string | undefined;
  /** Number of other people who must approve. */
  readonly count: number;
  readonly approved_by: readonly string[];
  readonly ended_by?: string | undefined;
  readonly ended_why?: string | undefined;
  /** `yes`, or `no:` and the reason; for approving and rejecting. */
  readonly may_i: string;
  readonly may_reject: string;
  readonly state: string;
}

export interface Person {
  readonly name: string;
  readonly role: string;
  readonly passkeys?:
    readonly { readonly id: string; readonly enrolled_at?: string | undefined }[] | undefined;
  readonly state: 'invited' | 'active' | 'removed';
  readonly invited_by?: string | undefined;
}

/** Result of a command. */
export interface Done {
  readonly done?: boolean | undefined;
  readonly says?: string | undefined;
}

export interface PlanSlot {
  readonly at: string;
  readonly slice: number;
  readonly leg?: string | undefined;
  readonly pair: string;
  readonly side: string;
  readonly quantity?: string | undefined;
  readonly amount?: string | undefined;
  readonly currency?: string | undefined;
  readonly limit_price?: string | undefined;
  /** Why it cannot trade. */
  readonly closed?: string | undefined;
}

export interface Plan {
  readonly feasible: boolean;
  readonly from: string;
  readonly until: string;
  readonly strategies: readonly {
    readonly id: string;
    readonly notes: readonly string[];
    readonly slots: readonly PlanSlot[];
    readonly estimate?: { readonly slots?: readonly PlanSlot[] | undefined } | undefined;
    readonly standing?: string | undefined;
  }[];
  readonly checks: readonly {
    readonly check: string;
    readonly verdict: string;
    readonly strategy?: string | undefined;
    readonly says: string;
    readonly fix?: string | undefined;
  }[];
}

export interface Costs {
  readonly total: string;
  readonly parents?: number | undefined;
  readonly bps?:
    Readonly<Record<'delay' | 'timing' | 'execution' | 'opportunity' | 'fees' | 'total', string>> | undefined;
}

export interface ReportParent {
  readonly parent: string;
  readonly strategy: string;
  readonly leg: string;
  readonly pair: string;
  readonly side: string;
  readonly base: string;
  readonly begun_at: string;
  readonly traded: string;
  readonly planned?: string | undefined;
  readonly average_price?: string | undefined;
  readonly arrival_price?: string | undefined;
  readonly costs: Costs;
}

/** The fields of `report.json` that the screen shows. */
export interface Report {
  readonly warnings: readonly string[];
  readonly totals: readonly {
    readonly quote: string;
    readonly amount: string;
    readonly fees: string;
    readonly costs: Costs;
  }[];
  readonly fills: number;
  readonly quoting: Readonly<
    Record<'requests' | 'quotes' | 'orders' | 'fills' | 'rejected' | 'doubts' | 'expired', number>
  >;
  readonly parents: readonly ReportParent[];
  readonly untraded: readonly {
    readonly strategy: string;
    readonly reason: string;
    readonly words: string;
    readonly slices: number;
  }[];
}
