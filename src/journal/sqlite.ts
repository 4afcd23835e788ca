import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { defer, of } from 'rxjs';
import { OperatorError } from '../core/errors.ts';
import type { Oddity } from '../engine/ports.ts';
import { anchorAt, compare } from './anchor.ts';
import type { Anchor } from './anchor.ts';
import { appender } from './append.ts';
import type { Write } from './append.ts';
import { takeBallast } from './ballast.ts';
import { EMPTY, damage, readLines, tie, verify } from './chain.ts';
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
import { faultOf, isDamage, isNoRoom, messageOf } from './fault.ts';
import { createPrivate } from './files.ts';
import type { Journal } from './journal.ts';
import { isFree, takeLock } from './lock.ts';
import { networkUnder, placeOf } from './place.ts';
import { walDamage } from './wal.ts';

export interface SqliteOptions {
  /** Opens for show, export and verify: takes no lock, checks nothing before it is read, refuses to append. */
  readonly readOnly?: boolean | undefined;
  /** How long another connection may hold the file before a call fails, milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Where a second note of how far the journal has come is kept. Left out: nowhere. */
  readonly anchor?: string | undefined;
  /** Bytes to set aside beside the journal for the results of orders that are under way when the disk is full; 0 when left out. */
  readonly reserveBytes?: number | undefined;
  /** Called before each step of an append, for drills and tests: throws what the disk would. */
  readonly onStep?: ((step: 'begin' | 'insert' | 'commit') => void) | undefined;
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
  const network = networkUnder(dirname(file));
  if (network !== undefined)
    throw new OperatorError(
      'storage',
      `journal ${file} lies on ${network}, where locks and flushes cannot be relied on. Put it on a local disk.`,
    );
  const lock = takeLock(file);
  if (lock === undefined)
    throw new OperatorError('again', `journal ${file} is in use by ${ownerOf(file)}. Stop it first.`);
  const cleanup = new DisposableStack();
  cleanup.defer(() => lock.release());
  try {
    refuseDamagedLog(file);
    const db = new DatabaseSync(file, { timeout: options.timeoutMs ?? TIMEOUT_MS });
    cleanup.defer(() => db.close());
    makeDurable(db, file);
    prepareSchema(db, file);
    const verdict = verifyFile(db, file);
    if (!verdict.ok) throw damage(file, verdict.seq, wordsOf(verdict));
    writeOwner(db);
    const anchor = options.anchor === undefined ? undefined : anchorAt(resolve(options.anchor));
    const oddity = anchor && compare(anchor.read(), headOf(db, file), (seq) => hashAt(db, seq));
    const pen = penOf(db, file, { ...options, anchor });
    return journalOf({ db, file, pen, oddity, release: () => cleanup.dispose() });
  } catch (error) {
    cleanup.dispose();
    throw error;
  }
}

/** @throws OperatorError `data` when records that were durable would be dropped from the write-ahead log in silence. */
function refuseDamagedLog(file: string): void {
  const why = walDamage(file);
  if (why === undefined) return;
  throw new OperatorError(
    'data',
    `journal ${file} is damaged: ${why}, before records that were durable. Nothing was changed. Keep ${file} and ${file}-wal as ` +
      'evidence and restore a backup; on start the desk compares the journal with the account of the venue.',
  );
}

function reader(file: string, options: SqliteOptions): Journal {
  if (!existsSync(file))
    throw new OperatorError(
      'storage',
      `there is no journal at ${file}. Check the path, or run "tranche run" first.`,
    );
  const db = openToRead(file, options);
  try {
    checkSchema(db, file);
  } catch (error) {
    db.close();
    throw error;
  }
  const refuse = (): never => {
    throw new OperatorError('storage', `journal ${file} is open for reading only`);
  };
  const pen: Pen = { write: refuse, isSpent: () => false, finish: () => undefined };
  return journalOf({ db, file, pen, oddity: undefined, release: () => db.close() });
}

/**
 * A file that nobody writes, and that holds all of itself, is opened as what it is: SQLite then makes no files beside it,
 * and it may lie on a medium that cannot be written.
 */
function openToRead(file: string, { timeoutMs = TIMEOUT_MS }: SqliteOptions): DatabaseSync {
  const isAlone = statSync(`${file}-wal`, { throwIfNoEntry: false }) === undefined && isFree(file);
  if (!isAlone) {
    refuseDamagedLog(file);
    return new DatabaseSync(file, { readOnly: true, timeout: timeoutMs });
  }
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true, timeout: timeoutMs });
}

interface Open {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly pen: Pen;
  readonly oddity: Oddity | undefined;
  readonly release: () => void;
}

function journalOf({ db, file, pen, oddity, release }: Open): Journal {
  const appends = appender(file, pen.write);
  const lines = (): Iterable<Line> => linesOf(db, file);
  return {
    oddity,
    get isSpent() {
      return pen.isSpent();
    },
    append: (bodies, at) => defer(() => of(appends.run(bodies, at))),
    read: () => readLines(file, lines()),
    head: () => headOf(db, file),
    lines,
    verify: () => verifyFile(db, file),
    close() {
      if (!db.isOpen) return;
      if (!appends.isPoisoned()) pen.finish();
      appends.close();
      release();
    },
  };
}

interface Pen {
  readonly write: Write;
  /** The disk is full, and what was set aside is in use. */
  readonly isSpent: () => boolean;
  /** Notes where the journal ends. */
  readonly finish: () => void;
}

/** Appends between two notes in the second place. */
const NOTE_EVERY = 1_000;
/** Size of the write-ahead log at which it is written back. */
const LOG_BYTES = 4 * 1_048_576;

/** One transaction an append: all or none, and synced once. */
function penOf(
  db: DatabaseSync,
  file: string,
  {
    commits,
    onStep,
    anchor,
    reserveBytes = 0,
  }: Omit<SqliteOptions, 'anchor'> & { anchor: Anchor | undefined },
): Pen {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const insert = db.prepare('INSERT INTO records (seq, at, kind, body, hash) VALUES (?, ?, ?, ?, ?)');
  const commit = db.prepare('COMMIT');
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  const moveHead = headMover(db);
  const ballast = takeBallast(`${file}.reserve`, reserveBytes);
  let head: Head = headOf(db, file);
  let noted = -NOTE_EVERY;
  let logBytes = 0;
  let isSpent = false;
  const commitAll = (lines: readonly Line[], end: Head): void => {
    try {
      onStep?.('begin');
      begin.run();
      moveHead(head, end);
      onStep?.('insert');
      for (const line of lines) insert.run(line.seq, line.at, line.kind, line.body, line.hash);
      onStep?.('commit');
      commit.run();
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
  /** With the room that was set aside, once: a full disk undoes a transaction cleanly. A failed flush is never repeated. */
  const commitWithReserve = (lines: readonly Line[], end: Head): void => {
    try {
      commitAll(lines, end);
    } catch (error) {
      if (!isNoRoom(error) || !ballast.release()) throw error;
      isSpent = true;
      commitAll(lines, end);
    }
  };
  const note = (): void => {
    noted = head.seq;
    try {
      anchor?.note(head);
    } catch {
      // What is durable stays so. A disk that takes no note takes no records for long.
      ballast.release();
      isSpent = true;
    }
  };
  return {
    isSpent: () => isSpent,
    finish() {
      if (head.seq > noted && noted >= 0 && !isSpent) note();
    },
    write(bodies, at) {
      const tied = tie(head, bodies, at);
      const end = tied.at(-1)?.line ?? head;
      const startedAt = commits?.now() ?? 0;
      try {
        commitWithReserve(
          tied.map(({ line }) => line),
          end,
        );
        head = { seq: end.seq, hash: end.hash };
        logBytes += tied.reduce((sum, { line }) => sum + 2 * line.body.length, 8_192);
        if (logBytes > LOG_BYTES && !isSpent) {
          logBytes = 0;
          checkpoint.get();
        }
        if (head.seq - noted >= NOTE_EVERY && !isSpent) note();
      } catch (error) {
        throw faultOf(file, head.seq, error);
      }
      commits?.observe(commits.now() - startedAt);
      return tied;
    },
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

/** What is wrong, and behind which byte. */
export const wordsOf = ({ why, near }: Extract<Verdict, { ok: false }>): string =>
  near === undefined ? why : `${why}; the record before it is at ${near}`;

const hashAt = (db: DatabaseSync, seq: number): string | undefined => {
  const hash = db.prepare('SELECT hash FROM records WHERE seq = ?').get(seq)?.['hash'];
  return typeof hash === 'string' ? hash : undefined;
};

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
