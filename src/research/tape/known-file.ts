import { hash } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '../../files/regular-file.ts';

/** Hashing a smaller one takes less than looking its hash up. */
export const KNOWN_BYTES_MIN = 2 ** 21;

/** A file as it was before it was read. */
export interface Sighting {
  /** Absolute. */
  readonly path: string;
  /** Changes whenever the file is written, replaced or renamed over. */
  readonly stamp: string;
  /** When it was seen, by the file system that keeps the hash, Unix ms; `undefined` when nobody asked. */
  readonly seenMs?: number | undefined;
}

/** What is there to be read; `undefined` for what is no large file. With a folder it can be kept there what was read. */
export function sight(path: string, folder?: string): Sighting | undefined {
  const found = statOf(path);
  if (found?.isFile() !== true || found.size < KNOWN_BYTES_MIN) return undefined;
  const stamp = stampOf(found);
  return folder === undefined ? { path, stamp } : { path, stamp, seenMs: timeIn(folder) };
}

/** The time that the file system of this folder would stamp now. */
function timeIn(folder: string): number | undefined {
  try {
    const made = mkdtempSync(join(folder, 'seen.new-'));
    try {
      return statSync(made).mtimeMs;
    } finally {
      rmSync(made, { recursive: true });
    }
  } catch {
    return undefined; // what cannot be kept is hashed again the next time
  }
}

/**
 * The SHA-256 that was kept for this file, when it has not changed since. Times of files are coarse: a file that was written within
 * two seconds of being seen could have been written again at the same time, so that its hash is not believed.
 */
export function knownHash(folder: string, { path, stamp }: Sighting): string | undefined {
  try {
    const file = noteOf(folder, path);
    const [seen, found] = readRegularFile(file, { maxBytes: NOTE_BYTES_MAX }).toString('utf8').split('\n');
    const source = statOf(path);
    if (seen !== stamp || source === undefined || stampOf(source) !== stamp) return undefined;
    const changedNs = source.mtimeNs > source.ctimeNs ? source.mtimeNs : source.ctimeNs;
    // Both times come from file systems, regardless of the clock of this process.
    if (statSync(file, { bigint: true }).mtimeNs - changedNs < COARSE_NS) return undefined;
    return found;
  } catch {
    return undefined; // not kept is the usual case
  }
}

/** Keeps the hash of what was read after the sighting, unless the file has changed in the meantime. */
export function keepHash(folder: string, { path, stamp, seenMs }: Sighting, sha256: string): void {
  if (seenMs === undefined) return;
  try {
    const source = statOf(path);
    if (source === undefined || stampOf(source) !== stamp) return;
    const file = noteOf(folder, path);
    const aside = mkdtempSync(`${file}.new-`);
    try {
      const note = join(aside, 'source');
      writeFileSync(note, `${stamp}\n${sha256}\n`);
      // Data written to the file during the import was not hashed.
      utimesSync(note, seenMs / 1000, seenMs / 1000);
      renameSync(note, file);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  } catch {
    // What cannot be kept is hashed again the next time.
  }
}

const COARSE_NS = 2_000_000_000n;
/** Of a note with one hash. */
const NOTE_BYTES_MAX = 4_096;

/** `undefined` for a file that does not exist or cannot be checked: the code that reads it reports why. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(' ');

const noteOf = (folder: string, path: string): string =>
  join(folder, `${hash('sha256', path).slice(0, 32)}.source`);
