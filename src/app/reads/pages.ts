import type { StoredRecord } from '../../core/record.ts';
import type { Journal } from '../../journal/journal.ts';
import type { RecordQuery } from '../../journal/record-query.ts';
import type { HistoryPage } from './history-requests.ts';

/** Journal from which history is read. */
export type Source = Pick<Journal, 'select' | 'read' | 'head'>;

/** Time after which a page ends early and states its last record. */
const PAGE_MS = 2_000;
/** Maximum number of records examined for one page. */
const LOOKED_AT_MAX = 200_000;

export interface PageOptions {
  readonly limit: number;
  readonly order: 'oldest' | 'newest';
  readonly after?: number | undefined;
}

/** Returns the part of a query that sets the start of a page. */
export const behind = ({ order, after }: PageOptions): Pick<RecordQuery, 'order' | 'after' | 'before'> =>
  order === 'oldest' ? { order, after } : { order, before: after };

/**
 * Returns a page of items. All items of a record are on one page, so a page may be a little longer than its limit. It
 * may be shorter if only a few of many records have items.
 */
export function pageOf<Item>(
  records: Iterable<StoredRecord>,
  { limit }: PageOptions,
  itemsOf: (record: StoredRecord) => readonly Item[],
): HistoryPage<Item> {
  const items: Item[] = [];
  const until = performance.now() + PAGE_MS;
  let last: number | undefined;
  let seen = 0;
  for (const record of records) {
    const isFull = items.length >= limit || seen >= LOOKED_AT_MAX || performance.now() > until;
    if (isFull && last !== undefined) return { items, next: last };
    items.push(...itemsOf(record));
    last = record.seq;
    seen += 1;
  }
  return { items };
}
