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

/** Above this number of records, a separate thread checks the journal. */
const APART_FROM = 50_000;
const PAGE = 1_000;

/** A writer's view of its journal, verified before anything is written. */
export interface Replay {
  /** @throws OperatorError `data` when the chain is broken. */
  prove(): void;
  /** Whether all records were checked against exactly this version's schemas. */
  readonly isOurs: boolean;
  /** The records after number `after`. @throws as `prove`, at the last verified record or at the end. */
  read(after?: number): Generator<StoredRecord>;
}

export function replayOf(db: DatabaseSync, file: string, apartFrom = APART_FROM): Replay {
  const head = headOf(db, file);
  const begun = head.seq < apartFrom ? undefined : beginProof(db, file, head);
  let isProven = false;
  const prove = (): void => {
    if (isProven) return;
    const apart = begun?.();
    // The threads determine only whether the chain is valid. To find the first break, the whole chain is checked once
    // more.
    if (apart?.ok !== true) {
      const whole = verifyFile(db, file);
      // If two checks disagree, the disk or the memory is damaged.
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
        prove(); // a broken chain is more informative than the read error it caused
        throw faultOf(file, 1, error);
      }
      prove();
      speech.understood();
      const added = readLines(file, linesOf(db, file, { after: head.seq, last }), head);
      yield* after > head.seq ? added.filter(({ seq }) => seq > after) : added;
    },
  };
}

/** The records up to `head`, read in few calls. Their order, which the proof covers, determines their numbers. */
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
      // Node types rows as objects although they are arrays here; copying each would double the time.
      const [at, body, hash] = row as unknown as readonly unknown[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- all three are checked below
      if (typeof at !== 'number' || typeof body !== 'string' || typeof hash !== 'string')
        throw new RangeError('its columns have wrong types');
      seq++;
      yield { seq, at: instant(at), body: read(seq, body), hash };
    }
  }
}

/**
 * Whether all records were checked against exactly the schemas of this version, when they were written or when this
 * version read them before. Only then may they be used without checking.
 */
function hearSpeech(db: DatabaseSync, head: Head): { readonly isOurs: boolean; understood(): void } {
  const ours = vocabulary();
  const isOurs = readMeta(db, 'vocabulary') === ours;
  const isNew = head.seq === 0;
  // From now on, records of this version may follow, so no other version may assume that it has checked all records.
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
