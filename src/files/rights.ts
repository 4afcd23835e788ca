import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const GROUP_OR_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * Returns why other users of this machine could change the file or folder at `path`; `undefined` if only its owner or root can, if
 * it does not exist, and on Windows, where modes mean nothing.
 */
export function changeableByOthers(path: string): string | undefined {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (process.getuid === undefined || facts === undefined) return undefined;
  if (facts.uid !== 0 && facts.uid !== process.getuid())
    return `${path} belongs to another user: change its owner with "chown"`;
  return (facts.mode & GROUP_OR_OTHERS_WRITE) === 0
    ? undefined
    : `other users can change ${path}: run "chmod go-w ${path}"`;
}

/**
 * Does the same as `changeableByOthers` for a file and every folder above it, because a user who can change one of them
 * can replace the file.
 */
export function replaceableByOthers(file: string): string | undefined {
  const found = changeableByOthers(file);
  const real = existsSync(file) ? realpathSync(file) : file;
  const above = [...foldersAbove(file), ...foldersAbove(real)];
  return found ?? above.map(folderChangeableByOthers).find((problem) => problem !== undefined);
}

/** As `changeableByOthers`. In a sticky folder such as /tmp, users cannot replace each other's files. */
export const folderChangeableByOthers = (folder: string): string | undefined =>
  isSticky(folder) ? undefined : changeableByOthers(folder);

const isSticky = (folder: string): boolean => {
  const facts = statSync(folder, { throwIfNoEntry: false });
  return (
    facts !== undefined &&
    (facts.mode & STICKY) !== 0 &&
    (facts.uid === 0 || facts.uid === process.getuid?.())
  );
};

const foldersAbove = (path: string): readonly string[] =>
  dirname(path) === path ? [] : [dirname(path), ...foldersAbove(dirname(path))];
