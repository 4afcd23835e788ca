import { chmodSync, closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { makeFolders } from '../../files/folders.ts';
import { folderChangeableByOthers } from '../../files/rights.ts';

/** The absolute path of a SQLite journal's file; other journals have none. */
export function journalFileOf(url: string): string | undefined {
  const path = /^sqlite:(?:\/\/(?=\/))?(?<path>.+)$/u.exec(url)?.groups?.['path'];
  return path === undefined ? undefined : resolve(path);
}

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Ensures that `file` exists and that only its owner can read it. Does not open an existing file, because closing it
 * again would free locks that this process has on it. An existing folder keeps its mode.
 *
 * @throws OperatorError `storage` when others could replace the file because they may change its folder,
 * or when it is not a file. A link that the owner created is followed.
 */
export function createPrivate(file: string): void {
  const folder = dirname(file);
  const created = makeFolders(folder, FOLDER_MODE);
  refuseForeign(folder);
  try {
    closeSync(openSync(file, 'wx', FILE_MODE));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    refuseNoFile(file);
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, FILE_MODE);
    return;
  }
  // A new name is durable once its folder is.
  syncFolder(folder);
  if (created !== undefined) syncFolder(dirname(created));
}

/** @throws OperatorError `storage` when a folder or a device has this name. */
export function refuseNoFile(file: string): void {
  const there = statSync(file, { throwIfNoEntry: false });
  if (there === undefined || there.isFile()) return;
  throw new OperatorError(
    'storage',
    `${file} is ${there.isDirectory() ? 'a folder' : 'no file'}: name a file`,
  );
}

/** Refuses a folder that others may change, because they could replace the files in it. */
function refuseForeign(folder: string): void {
  const problem = folderChangeableByOthers(folder);
  if (problem !== undefined) throw new OperatorError('storage', `${problem}, or use a folder of your own`);
}

/** Makes the names in the folder of `file` durable. */
export const syncFolderOf = (file: string): void => {
  syncFolder(dirname(file));
};

export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return; // Windows cannot open folders
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
