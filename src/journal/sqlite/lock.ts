import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './sqlite-errors.ts';
import { createPrivate } from './files.ts';

/** Locked until `release`, or until the process dies in any way. */
export interface Lock {
  readonly release: () => void;
}

/**
 * Takes the lock of the single writer of `file`; returns `undefined` when another journal has it.
 *
 * The lock is an exclusive transaction on an empty database beside the journal, so the kernel releases it with the
 * process; readers can still open the journal. POSIX releases such locks as soon as the process closes *any* descriptor
 * of the file, so only SQLite may open the lock file. It is never removed: with a removed file, two writers could lock
 * two files of one name.
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

/** Whether no process writes `file` now. Does not create the lock file, because if it cannot be created, no process can write. */
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
