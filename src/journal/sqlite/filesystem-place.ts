import { closeSync, openSync, readSync, statfsSync } from 'node:fs';

const PIECE_BYTES = 1_048_576;

/**
 * The position of `text` in the first of `files` that contains it, for people who look for damage, because SQLite itself
 * reports no offsets. Do not use it for a file that this process has open: closing it here would free its locks.
 */
export function placeOf(text: string, files: readonly string[]): string | undefined {
  for (const file of files) {
    const at = offsetOf(text, file);
    if (at !== undefined) return `byte ${at} of ${file}`;
  }
  return undefined;
}

function offsetOf(text: string, file: string): number | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return undefined;
  }
  try {
    const piece = Buffer.alloc(PIECE_BYTES + text.length);
    for (let at = 0; ; at += PIECE_BYTES) {
      const read = readSync(descriptor, piece, 0, piece.length, at);
      const found = piece.subarray(0, read).indexOf(text);
      if (found >= 0) return at + found;
      if (read < piece.length) return undefined;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Network file systems. Their locks may not work, and their flushes may not reach a disk. statfs(2). */
const NETWORKS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x01021997, '9P'],
  [0x564c, 'NCP'],
  [0x73757245, 'Coda'],
]);

export const networkName = (type: number): string | undefined => NETWORKS.get(type >>> 0);

/** Name of the network file system of `folder`; `undefined` if it is not a known one. */
export const networkUnder = (folder: string): string | undefined => networkName(statfsSync(folder).type);
