import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Makes sure that `file` is there and that nobody but its owner reads it. A file that is there already is not opened:
 * closing it again would free locks that this process holds on it. A folder that is there already keeps its mode.
 */
export function createPrivate(file: string): void {
  const folder = dirname(file);
  const created = mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  try {
    closeSync(openSync(file, 'wx', FILE_MODE));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, FILE_MODE);
    return;
  }
  // A new name is durable once its folder is.
  syncFolder(folder);
  if (created !== undefined) syncFolder(dirname(created));
}

/** Makes the names in the folder of `file` durable. */
export const syncFolderOf = (file: string): void => {
  syncFolder(dirname(file));
};

export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return; // folders cannot be opened there
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
