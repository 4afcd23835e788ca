import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its missing parents, one after the other; returns the topmost folder that it created. Node's
 * recursive mkdir would retry forever on a file system in which nothing can be created, such as /proc.
 */
export function makeFolders(folder: string, mode = 0o777): string | undefined {
  if (isFolder(folder)) return undefined;
  const above = dirname(folder) === folder ? undefined : makeFolders(dirname(folder), mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    if (!isFolder(folder)) throw error; // another process created it first
    return above;
  }
  return above ?? folder;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
