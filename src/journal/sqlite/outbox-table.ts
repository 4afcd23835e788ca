import type { DatabaseSync } from 'node:sqlite';
import type { OutboxChange, OutboxPort, OutboxRow } from '../../core/outbox.ts';
import { instant } from '../../core/time.ts';
import { isBusy, isDiskFault, isNoRoom } from './sqlite-errors.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    at INTEGER NOT NULL, -- Unix ms
    notice TEXT NOT NULL -- JSON
  ) STRICT;
  CREATE TABLE IF NOT EXISTS outbox_notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

export interface OutboxTable {
  /** Whether the disk is full and the disk reserve is in use. Only records may then be written. */
  readonly isSpent: () => boolean;
  /** Called before the first change, which requires a valid chain. */
  readonly prove?: () => void;
  /** Called when a write has failed in a way that leaves the state of the disk unknown. */
  readonly poison: (error: unknown) => void;
  /** Called with the number of bytes written to the write-ahead log. */
  readonly written: (bytes: number) => void;
  readonly onStep?: ((step: 'outbox') => void) | undefined;
}

/**
 * Notices that wait for delivery, in separate tables of the journal's database, which no record refers to and no hash
 * covers. A change is one transaction on the connection that writes the records, between two record transactions, so
 * neither waits for a lock. It never uses the disk reserve.
 */
export function outboxTable(
  db: DatabaseSync,
  { isSpent, prove, poison, written, onStep }: OutboxTable,
): OutboxPort {
  let isMade = false;
  const run = ({ put, remove, notes }: OutboxChange): void => {
    db.exec('BEGIN IMMEDIATE');
    if (!isMade) db.exec(SCHEMA);
    const insert = db.prepare('INSERT OR REPLACE INTO outbox (id, channel, at, notice) VALUES (?, ?, ?, ?)');
    for (const { id, channel, at, notice } of put) insert.run(id, channel, at, notice);
    const leave = db.prepare('DELETE FROM outbox WHERE id = ?');
    for (const id of remove) leave.run(id);
    const note = db.prepare('INSERT OR REPLACE INTO outbox_notes (name, value) VALUES (?, ?)');
    for (const [name, value] of Object.entries(notes)) note.run(name, value);
    db.exec('COMMIT');
    isMade = true;
  };
  return {
    load: () => loadOutbox(db),
    save(change) {
      if (isSpent()) return false;
      prove?.();
      try {
        onStep?.('outbox');
        run(change);
        written(change.put.reduce((sum, { notice }) => sum + 2 * notice.length + 500, 8_192));
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK');
        if (isNoRoom(error) || isBusy(error)) return false;
        if (isDiskFault(error)) poison(error);
        throw error;
      }
      return true;
    },
  };
}

/** Returns the waiting notices, even for a reader. A journal whose desk has never notified anybody has no such tables. */
export function loadOutbox(db: DatabaseSync): ReturnType<OutboxPort['load']> {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'outbox'").get() !== undefined;
  if (!isThere) return { rows: [], notes: new Map() };
  const rows = db.prepare('SELECT * FROM outbox ORDER BY id').all();
  const notes = db.prepare('SELECT name, value FROM outbox_notes').all();
  return {
    rows: rows.map(rowOf),
    notes: new Map(notes.map(({ name, value }) => [String(name), String(value)])),
  };
}

const rowOf = (row: Readonly<Record<string, unknown>>): OutboxRow => ({
  id: Number(row['id']),
  channel: String(row['channel']),
  at: instant(Number(row['at'])),
  notice: String(row['notice']),
});
