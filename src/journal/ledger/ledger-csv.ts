import { text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import { csvRow } from '../export.ts';
import type { Entry } from './entries.ts';

/** Columns of a posting. Scripts rely on the names and their order. */
const COLUMNS = ['entry', 'at', 'account', 'currency', 'quantity', 'total', 'total_currency', 'record', 'correction', 'transactions', 'description']; // prettier-ignore

/** Yields each posting as a line of CSV. */
export function* ledgerCsv(entries: Iterable<Entry>): Generator<string> {
  yield csvRow(COLUMNS);
  for (const { id, at, description, postings, tags } of entries) {
    const { record, correction, transactions } = tags;
    for (const { account, currency, quantity, total } of postings)
      yield csvRow([id, isoOf(at), account, currency, text(quantity), total && text(total.quantity), total?.currency, record, correction, transactions, description]); // prettier-ignore
  }
}
