import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { OperatorError } from '../../core/errors.ts';
import type { StoredRecord } from '../../core/record.ts';
import type { Oddity, StatePort } from '../../engine/ports.ts';
import { anchorAt, compare } from '../proof/anchor.ts';
import { appender } from './appender.ts';
import type { Write } from './appender.ts';
import { readLines } from '../proof/chain.ts';
import type { Line } from '../proof/chain.ts';
import { checkSchema, makeDurable, prepareSchema, readMeta, writeOwner } from './database.ts';
import { faultOf } from './sqlite-errors.ts';
import { createPrivate, refuseNoFile } from './files.ts';
import type { Journal } from '../journal.ts';
import { isFree, takeLock } from './lock.ts';
import { sqliteWriterOf } from './sqlite-writer.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import { outboxTable } from './outbox-table.ts';
import { networkUnder } from './filesystem-place.ts';
import { replayOf } from '../replay.ts';
import { stateFile } from '../sidecar/snapshot-file.ts';
import { hashAt, headOf, linesOf, verifyFile } from '../proof/verify-file.ts';
import { selectRecords } from './select-records.ts';
import { walDamage } from './wal.ts';
import type { SqliteOptions } from './sqlite-options.ts';

const TIMEOUT_MS = 5_000;

/**
 * A journal in a SQLite file; records are durable when `append` emits. There is one writer, which holds a kernel lock;
 * readers work beside it. The whole chain is checked before the first append.
 *
 * @throws OperatorError `again`: another process writes. `storage`: the file cannot be opened. `data`: it is damaged,
 * or is not a journal of this version.
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
  const file = realpathSync(named); // resolved, so that a link to the file does not get a separate lock
  const network = networkUnder(dirname(file));
  if (network !== undefined)
    throw new OperatorError(
      'storage',
      `journal ${file} is on ${network}, where locks and flushes are unreliable. Put it on a local disk.`,
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
    const replay = replayOf(db, file, options.apartFrom);
    writeOwner(db);
    const anchor = options.anchor === undefined ? undefined : anchorAt(resolve(options.anchor));
    const oddity = anchor && compare(anchor.read(), headOf(db, file), (seq) => hashAt(db, seq));
    const states = options.states && stateFile(`${file}.state`, options.states, (seq) => hashAt(db, seq));
    cleanup.defer(() => states?.close());
    const sqliteWriter = sqliteWriterOf(db, file, { ...options, anchor });
    const write: Write = (bodies, at) => {
      replay.prove();
      return sqliteWriter.write(bodies, at);
    };
    return journalOf({
      db,
      file,
      sqliteWriter: { ...sqliteWriter, write },
      oddity,
      read: (after) => replay.read(after),
      states: states && { ...states, read: () => (replay.isOurs ? states.read() : undefined) },
      prove: () => replay.prove(),
      release: () => cleanup.dispose(),
      onStep: options.onStep,
    });
  } catch (error) {
    cleanup.dispose();
    throw error;
  }
}

/** @throws OperatorError `data` when SQLite would silently drop durable records from the write-ahead log. */
function refuseDamagedLog(file: string): void {
  const why = walDamage(file);
  if (why === undefined) return;
  throw new OperatorError(
    'data',
    `journal ${file} is damaged: ${why}. The damage precedes durable records. Nothing was changed. Keep ${file} and ${file}-wal as ` +
      'evidence and restore a backup; on start the desk compares the journal with the account at the venue.',
  );
}

function reader(file: string, options: SqliteOptions): Journal {
  if (!existsSync(file))
    throw new OperatorError(
      'storage',
      `there is no journal at ${file}. Check the path, or run "tranche run" first.`,
    );
  refuseNoFile(file);
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
  const sqliteWriter: SqliteWriter = {
    write: refuse,
    reserved: Promise.resolve(),
    isSpent: () => false,
    finish: () => undefined,
    wrote: refuse,
  };
  const read = (after = 0): Iterable<StoredRecord> =>
    readLines(file, linesOf(db, file)).filter(({ seq }) => seq > after);
  return journalOf({ db, file, sqliteWriter, oddity: undefined, read, release: () => db.close() });
}

/**
 * Opens a file that nobody writes, and that has no write-ahead log, as immutable. SQLite then creates no files beside
 * it, and the medium may be read-only.
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
  readonly sqliteWriter: SqliteWriter;
  readonly oddity: Oddity | undefined;
  readonly read: (after?: number) => Iterable<StoredRecord>;
  readonly states?: StatePort | undefined;
  readonly prove?: () => void;
  readonly release: () => void;
  readonly onStep?: SqliteOptions['onStep'];
}

function journalOf({ db, file, sqliteWriter, oddity, read, states, prove, release, onStep }: Open): Journal {
  const appends = appender(file, sqliteWriter.write);
  const lines = (): Iterable<Line> => linesOf(db, file);
  const outbox = outboxTable(db, {
    isSpent: () => sqliteWriter.isSpent() || appends.isPoisoned(),
    prove: () => prove?.(),
    poison: (error) => appends.poison(error),
    written: (bytes) => sqliteWriter.wrote(bytes),
    onStep,
  });
  return {
    outbox,
    oddity,
    reserved: sqliteWriter.reserved,
    get isSpent() {
      return sqliteWriter.isSpent();
    },
    append: (bodies, at) => appends.run(bodies, at),
    read,
    states,
    prove,
    head: () => headOf(db, file),
    lines,
    select: (query) => selectRecords(db, file, query),
    verify: () => verifyFile(db, file),
    close() {
      if (!db.isOpen) return;
      if (!appends.isPoisoned()) sqliteWriter.finish();
      appends.close();
      release();
    },
  };
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
    return 'another process'; // the writer has just started
  }
}
