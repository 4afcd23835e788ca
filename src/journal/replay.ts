import type { DatabaseSync } from 'node:sqlite';
import type { RecordBody, StoredRecord } from '../core/record.ts';
import { instant } from '../core/time.ts';
import { bodyOf, damage, readLines, vocabulary } from './proof/chain.ts';
import type { Head } from './proof/chain.ts';
import { readMeta, writeMeta } from './sqlite/database.ts';
import { faultOf } from './sqlite/sqlite-errors.ts';
import { beginProof } from './proof/proof.ts';
import { kindOf, trusted } from './format/record-schema.ts';
import { headOf, linesOf, verifyFile, wordsOf } from './proof/verify-file.ts';

/** A journal is checked once and read once. Above this number of records the check runs in a separate thread. */
const APART_FROM = 50_000;
const PAGE = 1_000;

/** All that a writer reads of its journal: proven before anything is written, whatever was read by then. */
export interface Replay {
  /** @throws OperatorError `data` when the chain does not hold. */
  prove(): void;
  /** All records were checked against the very shapes and words of this version. */
  readonly isOurs: boolean;
  /** The records behind number `after`. @throws as `prove`, at the last record proven or the end. */
  read(after?: number): Generator<StoredRecord>;
}

export function replayOf(db: DatabaseSync, file: string, apartFrom = APART_FROM): Replay {
  const head = headOf(db, file);
  const begun = head.seq < apartFrom ? undefined : beginProof(db, file, head);
  let isProven = false;
  const prove = (): void => {
    if (isProven) return;
    const apart = begun?.();
    // The threads say whether the chain holds. Where it breaks first is said by the one way of looking that needs no parts.
    if (apart?.ok !== true) {
      const whole = verifyFile(db, file);
      // What one look found and another did not is damage as well: of the disk or the memory.
      const verdict = whole.ok ? (apart ?? whole) : whole;
      if (!verdict.ok) throw damage(file, verdict.seq, wordsOf(verdict));
    }
    isProven = true;
  };
  if (begun === undefined) prove();
  const speech = hearSpeech(db, head);
  return {
    prove,
    isOurs: speech.isOurs,
    *read(after = 0) {
      const last = headOf(db, file).seq;
      try {
        yield* inPages(db, { after, head }, (seq, body) =>
          speech.isOurs ? trusted(body) : bodyOf(file, { seq, kind: kindOf(body), body }),
        );
      } catch (error) {
        prove(); // that the chain is broken says more than what could not be read for it
        throw faultOf(file, 1, error);
      }
      prove();
      speech.understood();
      const added = readLines(file, linesOf(db, file, { after: head.seq, last }), head);
      yield* after > head.seq ? added.filter(({ seq }) => seq > after) : added;
    },
  };
}

/** The records up to `head`, in few calls. Their places follow from their order, which the proof covers. */
function* inPages(
  db: DatabaseSync,
  { after, head }: { readonly after: number; readonly head: Head },
  read: (seq: number, body: string) => RecordBody,
): Generator<StoredRecord> {
  const select = db.prepare(
    'SELECT at, body, hash FROM records WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
  );
  select.setReturnArrays(true);
  for (let seq = after; seq < head.seq;) {
    const rows = select.all(seq, head.seq, PAGE);
    if (rows.length === 0) throw new RangeError('records are missing');
    for (const row of rows) {
      // Node types rows as objects although they are arrays here; to copy each would double the time.
      const [at, body, hash] = row as unknown as readonly unknown[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- all three are checked below
      if (typeof at !== 'number' || typeof body !== 'string' || typeof hash !== 'string')
        throw new RangeError('its columns have wrong types');
      seq++;
      yield { seq, at: instant(at), body: read(seq, body), hash };
    }
  }
}

/**
 * Whether all records were checked against the very shapes and words of this version: when they were written, or when it
 * read them before. Only then may they be taken as they are.
 */
function hearSpeech(db: DatabaseSync, head: Head): { readonly isOurs: boolean; understood(): void } {
  const ours = vocabulary();
  const isOurs = readMeta(db, 'vocabulary') === ours;
  const isNew = head.seq === 0;
  // From now on records of this version may follow: no other may take all of them for its own.
  if (!isOurs) writeMeta(db, 'vocabulary', isNew ? ours : '');
  let isToldYet = isOurs || isNew;
  return {
    isOurs: isOurs && !isNew,
    understood() {
      if (isToldYet) return;
      isToldYet = true;
      writeMeta(db, 'vocabulary', ours);
    },
  };
}
