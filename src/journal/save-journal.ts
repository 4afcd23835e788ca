import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../core/errors.ts';
import { EMPTY } from './proof/chain.ts';
import type { Line } from './proof/chain.ts';
import { headMover, makeDurable, prepareSchema } from './sqlite/database.ts';
import { faultOf } from './sqlite/sqlite-errors.ts';
import { createPrivate } from './sqlite/files.ts';
import type { Journal } from './journal.ts';

/**
 * Writes an in-memory journal to a new SQLite file, in one transaction, for `tranche journal` and `tranche why`.
 *
 * @throws OperatorError `usage`: the file exists. `storage`: it cannot be written.
 */
export function saveJournal({ lines }: Pick<Journal, 'lines'>, path: string): void {
  const file = resolve(path);
  if (existsSync(file)) throw new OperatorError('usage', `${path} exists: journals are never overwritten`);
  try {
    createPrivate(file);
    const db = new DatabaseSync(file);
    try {
      makeDurable(db, file);
      prepareSchema(db, file);
      db.exec('BEGIN IMMEDIATE');
      const insert = db.prepare('INSERT INTO records (seq, at, kind, body, hash) VALUES (?, ?, ?, ?, ?)');
      let last: Line | undefined;
      for (const line of lines()) {
        insert.run(line.seq, line.at, line.kind, line.body, line.hash);
        last = line;
      }
      if (last !== undefined) headMover(db, file)(EMPTY, { seq: last.seq, hash: last.hash });
      db.exec('COMMIT');
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      db.close();
    }
  } catch (error) {
    throw faultOf(file, 1, error);
  }
}
