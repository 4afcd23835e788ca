import type { DatabaseSync } from 'node:sqlite';
import { EMPTY, damage, verify } from './chain.ts';
import type { Head, Line, Verdict } from './chain.ts';
import { notedHead, readRecords } from '../sqlite/database.ts';
import { faultOf, isDamage, messageOf } from '../sqlite/sqlite-errors.ts';
import { placeOf } from '../sqlite/filesystem-place.ts';

/** @throws OperatorError `data` when the stored head and the records differ. */
export function headOf(db: DatabaseSync, file: string): Head {
  const noted = notedHead(db);
  if (!noted.ok) throw damage(file, noted.seq, noted.why);
  return noted.head;
}

/** Stored lines, all of them or those of `part`. */
export function* linesOf(
  db: DatabaseSync,
  file: string,
  part?: { readonly after: number; readonly last: number },
): Generator<Line> {
  let seen = 0;
  try {
    for (const line of readRecords(db, part?.last ?? headOf(db, file).seq, part?.after)) {
      yield line;
      seen = line.seq;
    }
  } catch (error) {
    throw faultOf(file, seen + 1, error);
  }
}

/** Checks up to the head at the time of the call, without records that a writer adds meanwhile. */
export function verifyFile(db: DatabaseSync, file: string): Verdict {
  let seen = EMPTY;
  function* counted(last: number): Generator<Line> {
    for (const line of readRecords(db, last)) {
      yield line;
      seen = line;
    }
  }
  const verdict = (): Verdict => {
    try {
      const noted = notedHead(db);
      return noted.ok ? verify(counted(noted.head.seq), noted.head) : noted;
    } catch (error) {
      if (isDamage(error)) return { ok: false, seq: seen.seq + 1, why: messageOf(error) };
      throw faultOf(file, seen.seq + 1, error);
    }
  };
  const found = verdict();
  if (found.ok || seen.seq === 0) return found;
  const near = placeOf(seen.hash, [file, `${file}-wal`]);
  return near === undefined ? found : { ...found, near };
}

/** The error, and the byte after which it occurs. */
export const wordsOf = ({ why, near }: Extract<Verdict, { ok: false }>): string =>
  near === undefined ? why : `${why}; the record before it is at ${near}`;

export const hashAt = (db: DatabaseSync, seq: number): string | undefined => {
  const hash = db.prepare('SELECT hash FROM records WHERE seq = ?').get(seq)?.['hash'];
  return typeof hash === 'string' ? hash : undefined;
};
