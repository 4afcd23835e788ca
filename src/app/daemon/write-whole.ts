import { writeSync } from 'node:fs';

/** The result of writing bytes. */
export interface Written {
  /** What the system did not take. */
  readonly left: Uint8Array;
  /** Why it took no more; `undefined` when it took all. */
  readonly why: Error | undefined;
}

/** Writes to an open file or pipe without a stream. The system may take a part for the whole: what the last of a disk has room for. */
export function writeWhole(file: number, bytes: Uint8Array): Written {
  let at = 0;
  try {
    while (at < bytes.length) at += writeSync(file, bytes, at);
    return { left: bytes.subarray(at), why: undefined };
  } catch (cause) {
    return { left: bytes.subarray(at), why: cause instanceof Error ? cause : new Error(String(cause)) };
  }
}
