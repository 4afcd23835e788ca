import { statSync } from 'node:fs';
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

/** Does the same as `changeableByOthers` for a file and its folder, because a user who can change the folder can replace the file. */
export function replaceableByOthers(file: string): string | undefined {
  const folder = dirname(file);
  const facts = statSync(folder, { throwIfNoEntry: false });
  // In a sticky folder such as /tmp, users cannot replace each other's files.
  const isSticky = facts !== undefined && (facts.mode & STICKY) !== 0;
  return changeableByOthers(file) ?? (isSticky ? undefined : changeableByOthers(folder));
}
