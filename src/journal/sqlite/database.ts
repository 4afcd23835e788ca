import { hostname } from 'node:os';
import type { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../core/errors.ts';
import { EMPTY } from '../proof/chain.ts';
import type { Head, Line, Verdict } from '../proof/chain.ts';

/** Layout of the file. A higher number is refused, because an older program would not know what it fails to read. */
export const SCHEMA_VERSION = 1;
/** "TrJn", which distinguishes the file from databases of other programs. */
const APPLICATION_ID = 0x54_72_4a_6e;

const SCHEMA = `
  CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,   -- Unix ms
    kind TEXT NOT NULL,
    body TEXT NOT NULL,    -- canonical JSON
    hash TEXT NOT NULL     -- SHA-256, hex: chain.ts
  ) STRICT;
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TRIGGER records_stay BEFORE DELETE ON records BEGIN SELECT raise(ABORT, 'records are never removed'); END;
  CREATE TRIGGER records_rest BEFORE UPDATE ON records BEGIN SELECT raise(ABORT, 'records are never changed'); END;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Applies the durability settings and reads them back, because SQLite ignores a pragma that it cannot apply. */
export function makeDurable(db: DatabaseSync, where: string): void {
  db.exec(
    'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA journal_size_limit=67108864; ' +
      // This program runs checkpoints itself, because SQLite hides failures of its automatic checkpoints, and retries a
      // failed flush.
      'PRAGMA wal_autocheckpoint=0',
  );
  const wanted = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1, wal_autocheckpoint: 0 };
  for (const [name, value] of Object.entries(wanted)) {
    const found = pragma(db, name);
    if (found !== value) {
      throw new OperatorError(
        'storage',
        `journal ${where}: SQLite keeps ${name} at ${String(found)} instead of ${value}, so records would not be durable. ` +
          'Put the journal on a local disk.',
      );
    }
  }
}

/** Creates the tables in an empty file; refuses a file that is not a journal of this version. */
export function prepareSchema(db: DatabaseSync, where: string): void {
  if (isEmpty(db)) {
    db.exec('BEGIN IMMEDIATE');
    db.exec(SCHEMA);
    db.prepare('INSERT INTO meta (key, value) VALUES (?, ?)').run('schema_version', String(SCHEMA_VERSION));
    db.prepare(UPSERT).run('head', noteOf(EMPTY));
    db.exec('COMMIT');
  }
  checkSchema(db, where);
}

/** @throws OperatorError `data` if the file is not a journal, or is a journal of a newer version. */
export function checkSchema(db: DatabaseSync, where: string): void {
  if (pragma(db, 'application_id') !== APPLICATION_ID) {
    throw new OperatorError(
      'data',
      `${where} is a database, but not a journal of tranche. Name another file as journal.`,
    );
  }
  const version = Number(pragma(db, 'user_version'));
  if (version > SCHEMA_VERSION || readMeta(db, 'schema_version') !== String(version)) {
    throw new OperatorError(
      'data',
      `journal ${where} has layout ${version}, but this version of tranche reads layout ${SCHEMA_VERSION}. Run the version that wrote it.`,
    );
  }
}

export function readMeta(db: DatabaseSync, key: string): string | undefined {
  const value = db.prepare('SELECT value FROM meta WHERE key = ?').get(key)?.['value'];
  return typeof value === 'string' ? value : undefined;
}

const UPSERT =
  'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value';

/** Stores a value beside the records. */
export const writeMeta = (db: DatabaseSync, key: string, value: string): void => {
  db.prepare(UPSERT).run(key, value);
};

/** Stores who writes, for the error message of a second writer. Only the lock shows whether that process is still alive. */
export const writeOwner = (db: DatabaseSync): void => {
  writeMeta(db, 'owner', `process ${process.pid} on ${hostname()}`);
};

/**
 * Updates the stored head in the transaction that adds records, so that truncated records are detected. The stored head
 * must be that of this writer, so that a second writer is detected even if the lock failed (somebody removed its file,
 * or the file system has no locks).
 */
export function headMover(db: DatabaseSync, where: string): (from: Head, to: Head) => void {
  const move = db.prepare("UPDATE meta SET value = ? WHERE key = 'head' AND value = ?");
  return (from, to) => {
    if (move.run(noteOf(to), noteOf(from)).changes !== 1)
      throw new OperatorError(
        'storage',
        `journal ${where}: another process has written to it and bypassed the lock: was ${where}.lock removed, or the journal replaced? ` +
          'Find the other desk and keep only one of them; this one sends no more requests.',
      );
  };
}

const noteOf = ({ seq, hash }: Head): string => `${seq} ${hash}`;

const HEAD = `SELECT (SELECT value FROM meta WHERE key = 'head') AS value, (SELECT max(seq) FROM records) AS last`;

/** The stored head, compared in one snapshot with the existing records. */
export function notedHead(db: DatabaseSync): NotedHead {
  const row = db.prepare(HEAD).get();
  const last = Number(row?.['last'] ?? 0);
  const groups = /^(?<seq>\d{1,15}) (?<hash>[0-9a-f]{64})$/u.exec(String(row?.['value']))?.groups;
  if (groups === undefined)
    return { ok: false, seq: last + 1, why: 'the stored head of the journal is unreadable' };
  const head = { seq: Number(groups['seq']), hash: groups['hash'] ?? '' };
  if (head.seq === last) return { ok: true, head };
  const why = `the journal states that it ends with record ${head.seq}, but its last record is ${last}`;
  return { ok: false, seq: Math.min(last, head.seq) + 1, why };
}

export type NotedHead = { readonly ok: true; readonly head: Head } | Extract<Verdict, { ok: false }>;

/**
 * Records per page. Readers use pages, not one long statement, because a reader must not keep a snapshot open.
 * Otherwise, the write-ahead log would grow without bound.
 */
const PAGE = 1_000;

/** Records in the order of `seq`, after `after` (default: from the first) up to `last`. Throws the errors of SQLite. */
export function* readRecords(db: DatabaseSync, last: number, after?: number): Generator<Line> {
  const select = db.prepare(
    'SELECT seq, at, kind, body, hash FROM records WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
  );
  select.setReturnArrays(true);
  let seen = after ?? Number.MIN_SAFE_INTEGER;
  let page = PAGE;
  for (;;) {
    let rows;
    try {
      rows = select.all(seen, last, page);
    } catch (error) {
      if (page === 1) throw error;
      page = 1; // again, one by one, up to the invalid record
      continue;
    }
    for (const row of rows) {
      // Node types rows as objects although they are arrays here.
      const line = lineOf(row as unknown as readonly unknown[]); // oxlint-disable-line typescript/no-unsafe-type-assertion -- `lineOf` checks all of it
      yield line;
      seen = line.seq;
    }
    if (rows.length < page) return;
  }
}

/** A damaged page can contain types other than those that the table declares. */
function lineOf(row: readonly unknown[]): Line {
  const [seq, at, kind, body, hash] = row;
  if (
    typeof seq !== 'number' ||
    typeof at !== 'number' ||
    typeof kind !== 'string' ||
    typeof body !== 'string' ||
    typeof hash !== 'string'
  ) {
    throw new RangeError('its columns have wrong types');
  }
  return { seq, at, kind, body, hash };
}

const isEmpty = (db: DatabaseSync): boolean =>
  db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;

const pragma = (db: DatabaseSync, name: string): unknown => db.prepare(`PRAGMA ${name}`).get()?.[name];
