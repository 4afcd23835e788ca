import type { DatabaseSync } from 'node:sqlite';
import type { Anchor } from '../proof/anchor.ts';
import type { Write } from './appender.ts';
import { reserveDisk } from './disk-reserve.ts';
import { tie } from '../proof/chain.ts';
import type { Head, Line } from '../proof/chain.ts';
import { headMover } from './database.ts';
import { faultOf, isNoRoom } from './sqlite-errors.ts';
import type { SqliteOptions } from './sqlite-options.ts';
import { headOf } from '../proof/verify-file.ts';

/** Writes a journal. */
export interface SqliteWriter {
  readonly write: Write;
  /** Resolves once the disk reserve is held; rejects if the disk has no space for it. */
  readonly reserved: Promise<void>;
  /** The disk is full, and the disk reserve is in use. */
  readonly isSpent: () => boolean;
  /** Reports bytes that others wrote to the write-ahead log. */
  readonly wrote: (bytes: number) => void;
  /** Updates the anchor with the end of the journal. */
  readonly finish: () => void;
}

/** Number of appends between two updates of the anchor. */
const NOTE_EVERY = 1_000;
/** Size of the write-ahead log that triggers a checkpoint, bytes. */
const LOG_BYTES = 4 * 1_048_576;

/** One transaction per append, all or none, with one sync. */
export function sqliteWriterOf(
  db: DatabaseSync,
  file: string,
  {
    commits,
    onStep,
    anchor,
    reserveBytes = 0,
  }: Omit<SqliteOptions, 'anchor'> & { anchor: Anchor | undefined },
): SqliteWriter {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const insert = db.prepare('INSERT INTO records (seq, at, kind, body, hash) VALUES (?, ?, ?, ?, ?)');
  const commit = db.prepare('COMMIT');
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  const moveHead = headMover(db, file);
  const reserve = reserveDisk(`${file}.reserve`, reserveBytes);
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
  /**
   * Retries once, with the disk reserve released, because a full disk rolls a transaction back cleanly. A failed flush
   * is never retried.
   */
  const commitWithReserve = (lines: readonly Line[], end: Head): void => {
    try {
      commitAll(lines, end);
    } catch (error) {
      if (!isNoRoom(error) || !reserve.release()) throw error;
      isSpent = true;
      commitAll(lines, end);
    }
  };
  const note = (): void => {
    noted = head.seq;
    try {
      anchor?.note(head);
    } catch {
      // Durable records stay durable. A disk that cannot store the anchor will soon not store records either.
      reserve.release();
      isSpent = true;
    }
  };
  const wrote = (bytes: number): void => {
    logBytes += bytes;
    if (logBytes <= LOG_BYTES || isSpent) return;
    logBytes = 0;
    checkpoint.get();
  };
  return {
    reserved: reserve.reserved,
    isSpent: () => isSpent,
    wrote,
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
        wrote(tied.reduce((sum, { line }) => sum + 2 * line.body.length, 8_192));
        if (head.seq - noted >= NOTE_EVERY && !isSpent) note();
      } catch (error) {
        throw faultOf(file, head.seq, error);
      }
      commits?.observe(commits.now() - startedAt);
      return tied;
    },
  };
}
