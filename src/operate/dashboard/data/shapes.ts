import type { z } from 'zod';
import type { approvals } from '../../api/schema-approvals.ts';
import type * as desk from '../../api/schema-desk.ts';
import type * as journal from '../../api/schema-journal.ts';
import type { Report } from '../../../report/json/schema.ts';

export type { Report } from '../../../report/json/schema.ts';

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

type ApiSlice = z.output<typeof journal.slices>;
type ApiAttempt = ApiSlice['attempts'][number];
export type SliceFill = Some<
  NonNullable<ApiAttempt['fill']>,
  'price' | 'quantity' | 'amount' | 'executed_at'
>;
export interface Attempt extends Pick<ApiAttempt, 'client_order_id' | 'attempt' | 'asked_at' | 'reason'> {
  readonly result?: string | undefined;
  readonly quote?: Some<NonNullable<ApiAttempt['quote']>, 'price' | 'quantity'> | undefined;
  readonly fill?: SliceFill | undefined;
}
export interface Slice extends Omit<ApiSlice, 'parent' | 'pair' | 'side' | 'attempts'> {
  readonly parent: string;
  readonly pair: string;
  readonly side: string;
  readonly attempts: readonly Attempt[];
}

/** A journal record as the event stream sends it. */
export interface JournalRecord {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly hash?: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Person = Some<z.output<typeof desk.person>, 'name' | 'role' | 'state'>;

/** Result of a command. */
export interface Done {
  readonly done?: boolean | undefined;
  readonly says?: string | undefined;
}

export type ReportParent = Report['parents'][number];
