import type { Instant } from '../../core/time.ts';

/** Requests to a journal as plain data, for another thread. */

interface Paged {
  readonly limit: number;
  readonly order: 'oldest' | 'newest';
  /** Number of the last record of the previous page. */
  readonly after?: number | undefined;
  readonly since?: Instant | undefined;
  readonly until?: Instant | undefined;
}

/** One slice of a parent. */
export interface SliceName {
  readonly parent: string;
  readonly slice: number;
}

export type HistoryRequest =
  | (Paged & { readonly what: 'records'; readonly kind?: string | undefined })
  | (Paged & { readonly what: 'alerts'; readonly severity?: string | undefined })
  | (Paged & { readonly what: 'fills'; readonly strategy?: string | undefined })
  | (Paged & { readonly what: 'wakes'; readonly strategy?: string | undefined; readonly reason?: string | undefined }) // prettier-ignore
  | (Paged & { readonly what: 'ended_slices'; readonly strategy?: string | undefined; readonly parent?: string | undefined }) // prettier-ignore
  | { readonly what: 'open_slices'; readonly slices: readonly SliceName[] }
  | (Paged & {
      readonly what: 'why';
      readonly strategy?: string | undefined;
      /** Slices in progress, listed in addition to the records. */
      readonly open: readonly SliceName[];
      /** Time zones of the strategies; `zone` is the zone of this machine. */
      readonly zones: Readonly<Record<string, string>>;
      readonly zone: string;
      readonly now: Instant;
    })
  | {
      readonly what: 'costs';
      readonly since?: Instant | undefined;
      readonly until?: Instant | undefined;
      readonly strategy?: string | undefined;
      readonly version: string;
    }
  | { readonly what: 'verify'; readonly from: { readonly seq: number; readonly hash: string } };

/** One page; `next`: number of its last record if there may be more. */
export interface HistoryPage<Item> {
  readonly items: readonly Item[];
  readonly next?: number | undefined;
}
