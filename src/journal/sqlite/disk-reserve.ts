import { closeSync, fsyncSync, openSync, rmSync, statSync, statfsSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { messageOf } from './sqlite-errors.ts';
import { createPrivate, syncFolder } from './files.ts';

const PIECE_BYTES = 1_048_576;

/** Disk space reserved for the results of orders that are in flight when the disk becomes full. */
export interface DiskReserve {
  /** Frees the disk space. `false` when there was none to free. */
  release(): boolean;
}

/**
 * Reserves `bytes` in a separate file, unless they are reserved already.
 *
 * @throws OperatorError `storage` when the disk has no space for it: then it has none for a day of trading either.
 */
export function reserveDisk(path: string, bytes: number): DiskReserve {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < bytes) fill(path, bytes);
  let isHeld = bytes > 0;
  return {
    release() {
      if (!isHeld) return false;
      isHeld = false;
      rmSync(path, { force: true });
      return true;
    },
  };
}

function fill(path: string, bytes: number): void {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    if (bavail * bsize < bytes)
      throw new Error(`only ${Math.floor((bavail * bsize) / PIECE_BYTES)} MiB are free`);
    createPrivate(path);
    const descriptor = openSync(path, 'w');
    try {
      // Not zeros: a file system that compresses or stores holes would reserve nothing.
      const piece = Buffer.alloc(PIECE_BYTES);
      let noise = 0x9e3779b9;
      for (let i = 0; i < piece.length; i += 4) {
        noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) >>> 0;
        piece.writeUInt32LE(noise, i);
      }
      for (let left = bytes; left > 0; left -= PIECE_BYTES) {
        piece.writeUInt32LE(left >>> 0, 0);
        writeWhole(descriptor, piece.subarray(0, Math.min(left, PIECE_BYTES)));
      }
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
        'Free space, or set journal_reserve.',
      error,
    );
  }
}

/** On a nearly full disk, one write may store only part of the bytes without an error. */
function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}
