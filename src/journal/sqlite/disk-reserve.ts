import { closeSync, constants, fsyncSync, openSync, rmSync, statSync, statfsSync, writev } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { messageOf } from './sqlite-errors.ts';
import { createPrivate, syncFolder } from './files.ts';

const PIECE_BYTES = 1_048_576;

/** Disk space reserved for the results of orders that are in flight when the disk becomes full. */
export interface DiskReserve {
  /**
   * Resolves once the space is reserved. Rejects with an OperatorError `storage` if the disk has no space for it, because it
   * then has no space for a day of trading either.
   */
  readonly reserved: Promise<void>;
  /** Frees the disk space. Returns `false` if there was none to free. */
  release(): boolean;
}

/**
 * Reserves `bytes` in a separate file, unless they are reserved already. A thread of Node writes the file, so that the
 * program continues to load meanwhile.
 */
export function reserveDisk(path: string, bytes: number): DiskReserve {
  const isMissing = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) < bytes;
  let isHeld = bytes > 0 && !isMissing;
  const hold = async (): Promise<void> => {
    if (isMissing) await fill(path, bytes);
    isHeld = bytes > 0;
  };
  const reserved = hold();
  // An error counts only for those who wait for the reserve; a start that failed before is over.
  reserved.catch(() => undefined);
  return {
    reserved,
    release() {
      if (!isHeld) return false;
      isHeld = false;
      rmSync(path, { force: true });
      return true;
    },
  };
}

async function fill(path: string, bytes: number): Promise<void> {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    if (bavail * bsize < bytes)
      throw new Error(`only ${Math.floor((bavail * bsize) / PIECE_BYTES)} MiB are free`);
    createPrivate(path);
    const descriptor = openSync(path, FLAGS);
    try {
      await writeNoise(descriptor, bytes);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(path, { force: true });
    throw new OperatorError(
      'storage',
      `the disk has no space for the reserve of ${Math.ceil(bytes / PIECE_BYTES)} MiB at ${path}: ${messageOf(error)}. ` +
        'Free space.',
      error,
    );
  }
}

/** A write is complete once it is on the disk (on Windows, after the flush), so that the flush takes no time. */
const { O_CREAT, O_DSYNC, O_TRUNC, O_WRONLY } = constants;
const FLAGS = O_CREAT | O_TRUNC | O_WRONLY | O_DSYNC;

/** Writes no zeros, because a file system that compresses or stores holes would then reserve nothing. */
async function writeNoise(descriptor: number, bytes: number): Promise<void> {
  const words = new Uint32Array(PIECE_BYTES / Uint32Array.BYTES_PER_ELEMENT);
  let noise = 0x9e3779b9;
  for (let i = 0; i < words.length; i++) {
    noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) | 0;
    words[i] = noise;
  }
  const piece = new Uint8Array(words.buffer);
  // In one call if possible, because the program may be busy between two. A nearly full disk may write only a part,
  // without an error.
  for (let left = bytes; left > 0;) {
    const whole = Array.from({ length: Math.floor(left / PIECE_BYTES) }, () => piece);
    left -= await write(descriptor, [...whole, piece.subarray(0, left % PIECE_BYTES)]);
  }
}

/** Returns the number of bytes written. The write begins in this tick. */
const write = async (descriptor: number, parts: readonly Uint8Array[]): Promise<number> =>
  await new Promise((resolve, reject) => {
    writev(descriptor, parts, (error, bytes) => {
      if (error === null) resolve(bytes);
      else reject(error);
    });
  });
