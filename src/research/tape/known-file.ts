import { hash } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '../../files/regular-file.ts';

/** Size of the smallest file whose hash is stored, because hashing a smaller file is faster than finding its hash. */
export const KNOWN_BYTES_MIN = 2 ** 21;

/** Identity of a file before it is read. */
export interface Sighting {
  /** Absolute. */
  readonly path: string;
  /** Changes whenever the file is written, replaced or renamed over. */
  readonly stamp: string;
  /** Time of the sighting on the clock of the file system that stores the hash, Unix ms; `undefined` if not requested. */
  readonly seenMs?: number | undefined;
}

/** Returns the current identity of a large file; `undefined` for any other. `folder`: where the hash of the file will be stored. */
export function sight(path: string, folder?: string): Sighting | undefined {
  const found = statOf(path);
  if (found?.isFile() !== true || found.size < KNOWN_BYTES_MIN) return undefined;
  const stamp = stampOf(found);
  return folder === undefined ? { path, stamp } : { path, stamp, seenMs: timeIn(folder) };
}

/** Returns the current time of the file system that holds the folder. */
function timeIn(folder: string): number | undefined {
  try {
    const made = mkdtempSync(join(folder, 'seen.new-'));
    try {
      return statSync(made).mtimeMs;
    } finally {
      rmSync(made, { recursive: true });
    }
  } catch {
    return undefined; // without it, the file is hashed again the next time
  }
}

/**
 * Returns the stored SHA-256 of a file that has not changed since. File times are coarse. A file that was written
 * within two seconds before its sighting may have been written again with the same file time, so its hash is not
 * trusted.
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
    return undefined; // usually, no hash is stored
  }
}

/** Stores the hash of the bytes that were read after the sighting, unless the file has changed meanwhile. */
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
      // The note contains the time of the sighting, because data written to the file after that time was not hashed.
      utimesSync(note, seenMs / 1000, seenMs / 1000);
      renameSync(note, file);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  } catch {
    // Without the note, the file is hashed again the next time.
  }
}

const COARSE_NS = 2_000_000_000n;
/** Largest size of a note with one hash. */
const NOTE_BYTES_MAX = 4_096;

/** `undefined` for a file that does not exist or cannot be checked; the code that reads the file reports why. */
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
