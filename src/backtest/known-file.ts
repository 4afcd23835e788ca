import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';

/** Hashing a smaller one takes less than looking its hash up. */
export const KNOWN_BYTES_MIN = 2 ** 21;

/** A file as it was before it was read. */
export interface Sighting {
  /** Absolute. */
  readonly path: string;
  /** Changes whenever the file is written, replaced or renamed over. */
  readonly stamp: string;
}

/** What is there to be read; `undefined` for what is no large file. */
export function sight(path: string): Sighting | undefined {
  const found = statOf(path);
  if (found?.isFile() !== true || found.size < KNOWN_BYTES_MIN) return undefined;
  return { path, stamp: stampOf(found) };
}

/**
 * The SHA-256 that was kept for this file, when it has not changed since. Times of files are coarse: a file that was written within
 * two seconds of keeping its hash could have been written again at the same time, so that its hash is not believed.
 */
export function knownHash(folder: string, { path, stamp }: Sighting): string | undefined {
  try {
    const file = noteOf(folder, path);
    const [seen, hash] = readFileSync(file, 'utf8').split('\n');
    const source = statOf(path);
    if (seen !== stamp || source === undefined || stampOf(source) !== stamp) return undefined;
    const changedNs = source.mtimeNs > source.ctimeNs ? source.mtimeNs : source.ctimeNs;
    // Both times are of file systems, whatever the clock of this process says.
    if (statSync(file, { bigint: true }).mtimeNs - changedNs < COARSE_NS) return undefined;
    return hash;
  } catch {
    return undefined; // not kept is the usual case
  }
}

/** Keeps the hash of what was read after the sighting, unless the file has changed meanwhile. */
export function keepHash(folder: string, { path, stamp }: Sighting, sha256: string): void {
  try {
    const source = statOf(path);
    if (source === undefined || stampOf(source) !== stamp) return;
    const file = noteOf(folder, path);
    const aside = mkdtempSync(`${file}.new-`);
    try {
      writeFileSync(join(aside, 'source'), `${stamp}\n${sha256}\n`);
      renameSync(join(aside, 'source'), file);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  } catch {
    // What cannot be kept is hashed again the next time.
  }
}

const COARSE_NS = 2_000_000_000n;

const statOf = (path: string): BigIntStats | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false });

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(' ');

const noteOf = (folder: string, path: string): string =>
  join(folder, `${createHash('sha256').update(path).digest('hex').slice(0, 32)}.source`);
