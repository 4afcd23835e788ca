import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { defer, of } from 'rxjs';
import { OperatorError } from '../core/errors.ts';
import { appender } from './append.ts';
import type { Write } from './append.ts';
import { damage, readLines, tie, verify } from './chain.ts';
import type { Head, Line, Verdict } from './chain.ts';
import {
  checkSchema,
  makeDurable,
  prepareSchema,
  notedHead,
  readMeta,
  readRecords,
  headMover,
  writeOwner,
} from './database.ts';
import { faultOf, isDamage, messageOf } from './fault.ts';
import { createPrivate } from './files.ts';
import type { Journal } from './journal.ts';
import { takeLock } from './lock.ts';

export interface SqliteOptions {
  /** Opens for show, export and verify: takes no lock, checks nothing before it is read, refuses to append. */
  readonly readOnly?: boolean | undefined;
  /** How long another connection may hold the file before a call fails, milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Told how long each commit took, milliseconds of `now`. */
  readonly commits?: { now(): number; observe(ms: number): void } | undefined;
}

const TIMEOUT_MS = 5_000;

/**
 * A journal in a SQLite file, the records durable when `append` emits. One writer, held by a lock of the kernel; readers
 * work beside it. The whole chain is checked before the first append.
 *
 * @throws OperatorError `again`: another process writes. `storage`: the file cannot be opened. `data`: it is damaged, or no
 * journal of this version.
 */
export function sqliteJournal(path: string, options: SqliteOptions = {}): Journal {
  const file = resolve(path);
  try {
    return options.readOnly === true ? reader(file, options) : writer(file, options);
  } catch (error) {
    throw faultOf(file, 1, error);
  }
}

function writer(named: string, options: SqliteOptions): Journal {
  createPrivate(named);
  const file = realpathSync(named); // a link beside the file must not get a lock of its own
  const lock = takeLock(file);
  if (lock === undefined)
    throw new OperatorError('again', `journal ${file} is in use by ${ownerOf(file)}. Stop it first.`);
  const cleanup = new DisposableStack();
  cleanup.defer(() => lock.release());
  try {
    const db = new DatabaseSync(file, { timeout: options.timeoutMs ?? TIMEOUT_MS });
    cleanup.defer(() => db.close());
    makeDurable(db, file);
    prepareSchema(db, file);
    const verdict = verifyFile(db, file);
    if (!verdict.ok) throw damage(file, verdict.seq, verdict.why);
    writeOwner(db);
    return journalOf({ db, file, write: writeTo(db, file, options), release: () => cleanup.dispose() });
  } catch (error) {
    cleanup.dispose();
    throw error;
  }
}

function reader(file: string, options: SqliteOptions): Journal {
  if (!existsSync(file))
    throw new OperatorError(
      'storage',
      `there is no journal at ${file}. Check the path, or run "tranche run" first.`,
    );
  const db = new DatabaseSync(file, { readOnly: true, timeout: options.timeoutMs ?? TIMEOUT_MS });
  try {
    checkSchema(db, file);
  } catch (error) {
    db.close();
    throw error;
  }
  const write: Write = () => {
    throw new OperatorError('storage', `journal ${file} is open for reading only`);
  };
  return journalOf({ db, file, write, release: () => db.close() });
}

interface Open {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly write: Write;
  readonly release: () => void;
}

function journalOf({ db, file, write, release }: Open): Journal {
  const appends = appender(file, write);
  const lines = (): Iterable<Line> => linesOf(db, file);
  return {
    append: (bodies, at) => defer(() => of(appends.run(bodies, at))),
    read: () => readLines(file, lines()),
    head: () => headOf(db, file),
    lines,
    verify: () => verifyFile(db, file),
    close() {
      appends.close();
      if (db.isOpen) release();
    },
  };
}

/** One transaction an append: all or none, and synced once. */
function writeTo(db: DatabaseSync, file: string, { commits }: SqliteOptions): Write {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const insert = db.prepare('INSERT INTO records (seq, at, kind, body, hash) VALUES (?, ?, ?, ?, ?)');
  const commit = db.prepare('COMMIT');
  const moveHead = headMover(db);
  let head: Head = headOf(db, file);
  return (bodies, at) => {
    const tied = tie(head, bodies, at);
    const end = tied.at(-1)?.line ?? head;
    const startedAt = commits?.now() ?? 0;
    try {
      begin.run();
      moveHead(head, end);
      for (const { line } of tied) insert.run(line.seq, line.at, line.kind, line.body, line.hash);
      commit.run();
      head = end;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw faultOf(file, head.seq, error);
    }
    commits?.observe(commits.now() - startedAt);
    return tied;
  };
}

/** @throws OperatorError `data` when the noted head and the records differ. */
function headOf(db: DatabaseSync, file: string): Head {
  const noted = notedHead(db);
  if (!noted.ok) throw damage(file, noted.seq, noted.why);
  return noted.head;
}

function* linesOf(db: DatabaseSync, file: string): Generator<Line> {
  let seen = 0;
  try {
    for (const line of readRecords(db, headOf(db, file).seq)) {
      yield line;
      seen = line.seq;
    }
  } catch (error) {
    throw faultOf(file, seen + 1, error);
  }
}

/** Checks up to the head as it is at first: what a writer adds meanwhile is not looked at. */
function verifyFile(db: DatabaseSync, file: string): Verdict {
  let seen = 0;
  function* counted(last: number): Generator<Line> {
    for (const line of readRecords(db, last)) {
      yield line;
      seen = line.seq;
    }
  }
  try {
    const noted = notedHead(db);
    return noted.ok ? verify(counted(noted.head.seq), noted.head) : noted;
  } catch (error) {
    if (isDamage(error)) return { ok: false, seq: seen + 1, why: messageOf(error) };
    throw faultOf(file, seen + 1, error);
  }
}

function ownerOf(file: string): string {
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      return readMeta(db, 'owner') ?? 'another process';
    } finally {
      db.close();
    }
  } catch {
    return 'another process'; // it has only just begun
  }
}
