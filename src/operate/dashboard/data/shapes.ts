import type { z } from 'zod';
import type { approvals } from '../../api/schema-approvals.ts';
import type * as desk from '../../api/schema-desk.ts';
import type * as journal from '../../api/schema-journal.ts';

/** What the dashboard reads: the answers of the API as its schemas describe them, and what the pages fold from records themselves. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string | number | undefined;
}

/** `T`, of which only the fields `Sure` are certainly known. */
type Some<T, Sure extends keyof T> = Readonly<Pick<T, Sure> & Partial<Omit<T, Sure>>>;

export type Me = z.output<typeof desk.me>;
export type OpenAlert = z.output<typeof desk.openAlert>;
export type Alert = Some<z.output<typeof journal.alerts>, keyof OpenAlert>;
export type Status = Some<
  z.output<typeof desk.status>,
  'desk' | 'mode' | 'version' | 'state' | 'not_ready' | 'open_alerts'
>;
export type LastFill = NonNullable<Status['last_fills']>[number];
export type Strategy = Some<
  z.output<typeof desk.strategies>,
  'id' | 'kind' | 'slices_done' | 'slices_filled' | 'slices_total'
>;
export type WhyLine = z.output<typeof journal.why>;
export type Limit = z.output<typeof desk.limits>;
export type Doubt = z.output<typeof desk.doubts>['doubts'][number];
/** A row of the account that no id ties to an order. */
export type Row = NonNullable<Doubt['unattributed']>[number];
export type Chain = z.output<typeof desk.chain>;
export type Approval = z.output<typeof approvals>['items'][number];
export type Plan = z.output<typeof journal.plan>;
export type PlanSlot = Plan['strategies'][number]['slots'][number];

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

/** A journal record as the event stream sends it. */
export interface JournalRecord {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly hash?: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
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
