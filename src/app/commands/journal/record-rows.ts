import { isoOf } from '../../../core/time.ts';
import type { StoredRecord } from '../../../core/record.ts';
import { wordsFor } from '../../../journal/format-record.ts';
import type { Journal } from '../../../journal/journal.ts';
import type { RecordRow } from '../../../report/html/record-anchors.ts';

/** Returns the records with these numbers, in the journal's order. Ignores numbers that the journal does not have. */
export function recordsAt(journal: Journal, seqs: Iterable<number>): readonly StoredRecord[] {
  const wanted = new Set(seqs);
  return Iterator.from(journal.read())
    .filter(({ seq }) => wanted.has(seq))
    .toArray();
}

/** Returns these records as a page shows them. */
export const recordRows = (journal: Journal, seqs: Iterable<number>): readonly RecordRow[] =>
  recordsAt(journal, seqs).map(({ seq, at, body, hash }) => ({
    seq,
    at: isoOf(at),
    kind: body.kind,
    words: wordsFor(body),
    hash,
  }));
