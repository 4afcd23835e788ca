import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './sqlite-errors.ts';
import { createPrivate } from './files.ts';

/** Held until `release`, or until the process dies, however it dies. */
export interface Lock {
  readonly release: () => void;
}

/**
 * Takes the one writer's place of `file`, or gives `undefined` when another journal holds it.
 *
 * The lock is an exclusive transaction on an empty database beside the journal, so the kernel holds it and frees it with
 * the process; the journal itself stays open to readers. POSIX frees such locks as soon as the process closes *any*
 * descriptor of the file, so the lock file must never be opened by other means than SQLite. It is never removed: a
 * removed file would let two writers lock two files of one name.
 */
export function takeLock(file: string): Lock | undefined {
  const path = `${file}.lock`;
  createPrivate(path);
  const holder = new DatabaseSync(path, { timeout: 0 });
  try {
    holder.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    holder.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  return { release: () => holder.close() };
}

/** Whether no process writes `file` now. Does not create the lock file: where it cannot be created, no process can write. */
export function isFree(file: string): boolean {
  const path = `${file}.lock`;
  if (!existsSync(path)) return true;
  try {
    const probe = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    try {
      probe.exec('SELECT 1 FROM sqlite_schema');
      return true;
    } finally {
      probe.close();
    }
  } catch (error) {
    return !isBusy(error);
  }
}
