import type { Entry } from '../../accounting/subledger.ts';
import { text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';

/** Columns of a posting. Scripts rely on the names and their order. */
export const POSTING_COLUMNS = [
  'entry', 'at', 'what', 'account', 'currency', 'quantity', 'value', 'lot', 'acquired_at', 'record', 'hash', 'transactions', 'description',
  'closing', 'provisional_until',
] as const; // prettier-ignore
export type PostingRow = Readonly<Partial<Record<(typeof POSTING_COLUMNS)[number], string | number>>>;

/** Yields the postings as rows. */
export function* postingRows(entries: Iterable<Entry>): Generator<PostingRow> {
  for (const { id, at, what, description, postings, source, closing, provisionalUntil } of entries)
    for (const { account, currency, quantity, value, lot } of postings)
      yield {
        entry: id,
        at: isoOf(at),
        what,
        account,
        currency,
        quantity: text(quantity),
        value: text(value),
        ...(lot === undefined ? {} : { lot: lot.id, acquired_at: isoOf(lot.acquiredAt) }),
        ...(source === undefined
          ? {}
          : 'seq' in source
            ? { record: source.seq, hash: source.hash }
            : { transactions: source.transactions.join(' ') }),
        description,
        ...(closing === undefined ? {} : { closing }),
        ...(provisionalUntil === undefined ? {} : { provisional_until: isoOf(provisionalUntil) }),
      };
}
