import type { DatabaseSync } from 'node:sqlite';
import type { OutboxPort } from '../../core/outbox.ts';
import { isBusy, isDiskFault, isNoRoom } from './sqlite-errors.ts';

const SCHEMA =
  'CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL) STRICT';

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
 * What the notifier still has to deliver, in a separate table of the journal's database, which no record refers to and no hash
 * covers. A change is one transaction on the connection that writes the records, between two record transactions, so
 * neither waits for a lock. It never uses the disk reserve.
 */
export function outboxTable(
  db: DatabaseSync,
  { isSpent, prove, poison, written, onStep }: OutboxTable,
): OutboxPort {
  const run = (state: string): void => {
    db.exec('BEGIN IMMEDIATE');
    db.exec(SCHEMA);
    db.prepare('INSERT OR REPLACE INTO outbox (id, state) VALUES (1, ?)').run(state);
    db.exec('COMMIT');
  };
  return {
    load: () => loadOutbox(db),
    save(state) {
      if (isSpent()) return false;
      prove?.();
      try {
        onStep?.('outbox');
        run(state);
        written(2 * state.length + 8_192);
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

/** Returns the saved state, even for a reader. A journal whose desk has never notified anybody has no such table. */
export function loadOutbox(db: DatabaseSync): string | undefined {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'outbox'").get() !== undefined;
  const row = isThere ? db.prepare('SELECT state FROM outbox').get() : undefined;
  return row && String(row['state']);
}
