import { statSync } from 'node:fs';
import { dirname } from 'node:path';

const GROUP_OR_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * Why other users of this machine could change what lies at `path`, a file or a folder; `undefined` when only its owner or root can,
 * when it is not there, and on Windows, where modes say nothing.
 */
export function changeableByOthers(path: string): string | undefined {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (process.getuid === undefined || facts === undefined) return undefined;
  if (facts.uid !== 0 && facts.uid !== process.getuid())
    return `${path} belongs to another user: change its owner with "chown"`;
  return (facts.mode & GROUP_OR_OTHERS_WRITE) === 0
    ? undefined
    : `others can change ${path}: run "chmod go-w ${path}"`;
}

/** The same of a file, or of the folder that names it: whoever may change that can put another file in its place. */
export function replaceableByOthers(file: string): string | undefined {
  const folder = dirname(file);
  const facts = statSync(folder, { throwIfNoEntry: false });
  // In a sticky folder such as /tmp everybody keeps their own files.
  const isSticky = facts !== undefined && (facts.mode & STICKY) !== 0;
  return changeableByOthers(file) ?? (isSticky ? undefined : changeableByOthers(folder));
}
