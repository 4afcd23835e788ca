import type { DatabaseSync } from 'node:sqlite';
import { startOf } from '../format/canonical.ts';
import { link } from './link.ts';
import type { Head, Verdict } from './link.ts';

/** Records after `after` up to `last`. The part is valid when the chain leads from the first hash to the last. */
export interface Part {
  readonly file: string;
  readonly after: Head;
  readonly last: Head;
}

const PAGE = 1_000;

/**
 * Checks part of a chain with few steps per record, because this check takes most of a start. It only determines
 * whether the part is valid; `verifyFile` finds the first invalid record. `undefined`: the part could not be read.
 */
export function verifyPart(db: DatabaseSync, { after, last }: Part): Verdict | undefined {
  const select = db.prepare(
    'SELECT seq, at, kind, body, hash FROM records WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
  );
  select.setReturnArrays(true);
  const starts = new Map<string, string>();
  let { seq, hash } = after;
  const refused = (why: string): Verdict => ({ ok: false, seq: seq + 1, why });
  try {
    while (seq < last.seq) {
      // The first part also detects numbers that no record may have.
      const rows = select.all(seq === 0 ? Number.MIN_SAFE_INTEGER : seq, last.seq, PAGE);
      if (rows.length === 0) return refused('records are missing');
      for (const row of rows) {
        // Node types rows as objects although they are arrays here; copying each would double the time of the
        // check.
        const [own, at, kind, body, stored] = row as unknown as readonly unknown[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- all five are checked below
        if (own !== seq + 1) return refused('records are missing or moved');
        if (typeof at !== 'number' || typeof kind !== 'string' || typeof body !== 'string')
          return refused('its columns have wrong types');
        let start = starts.get(kind);
        if (start === undefined) {
          if (starts.size > 1_000) return refused('there are too many kinds of records');
          start = startOf(kind);
          starts.set(kind, start);
        }
        if (!body.startsWith(start)) return refused('its stored kind differs from its text');
        hash = link(hash, own, at, body);
        if (hash !== stored) return refused('its hash does not match its content');
        seq = own;
      }
    }
  } catch {
    return undefined; // `verifyFile` distinguishes the errors of SQLite
  }
  return hash === last.hash
    ? { ok: true, count: seq - after.seq, head: hash }
    : refused('the chain does not end at the stored head');
}
