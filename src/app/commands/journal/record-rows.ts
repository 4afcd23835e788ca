import { isoOf } from '../../../core/time.ts';
import type { StoredRecord } from '../../../core/record.ts';
import { wordsFor } from '../../../journal/format-record.ts';
import type { Journal } from '../../../journal/journal.ts';
import type { RecordRow } from '../../../report/html/record-anchors.ts';

/** These records, in their order. Ones that the journal does not have are left out. */
export function recordsAt(journal: Journal, seqs: Iterable<number>): readonly StoredRecord[] {
  const wanted = new Set(seqs);
  return Iterator.from(journal.read())
    .filter(({ seq }) => wanted.has(seq))
    .toArray();
}

/** These records as a page shows them. */
export const recordRows = (journal: Journal, seqs: Iterable<number>): readonly RecordRow[] =>
  recordsAt(journal, seqs).map(({ seq, at, body, hash }) => ({
    seq,
    at: isoOf(at),
    kind: body.kind,
    words: wordsFor(body),
    hash,
  }));
