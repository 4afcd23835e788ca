import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../core/errors.ts';
import type { OutboxPort } from '../../core/outbox.ts';
import { makeDurable } from './database.ts';
import { createPrivate } from './files.ts';
import { takeLock } from './lock.ts';
import { outboxTable } from './outbox-table.ts';
import { faultOf } from './sqlite-errors.ts';

/**
 * An outbox in a separate file, for a program without a journal. Only one process at a time can use it.
 *
 * @throws OperatorError `again`: another process uses it. `storage`: it cannot be opened.
 */
export function outboxFile(path: string): OutboxPort & { close(): void } {
  const file = resolve(path);
  const cleanup = new DisposableStack();
  try {
    createPrivate(file);
    const lock = takeLock(file);
    if (lock === undefined)
      throw new OperatorError('again', `${file} is in use by another process: stop it, or name another file`);
    cleanup.defer(() => lock.release());
    const db = new DatabaseSync(file);
    cleanup.defer(() => db.close());
    makeDurable(db, file);
    // Automatic checkpoints are acceptable here, because nothing waits for this file.
    db.exec('PRAGMA wal_autocheckpoint=1000');
    let hasFailed = false;
    const table = outboxTable(db, {
      isSpent: () => hasFailed,
      poison: () => (hasFailed = true),
      written: () => undefined,
    });
    return { ...table, close: () => cleanup.dispose() };
  } catch (error) {
    cleanup.dispose();
    throw faultOf(file, 1, error);
  }
}
