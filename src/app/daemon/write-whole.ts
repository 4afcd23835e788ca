import { writeSync } from 'node:fs';

/** The result of writing bytes. */
export interface Written {
  /** Bytes that the system did not write. */
  readonly left: Uint8Array;
  /** Why the system wrote no more; `undefined` if it wrote all bytes. */
  readonly why: Error | undefined;
}

/** Writes bytes to an open file or pipe without a stream. A single write may be partial, for example on an almost full disk. */
export function writeWhole(file: number, bytes: Uint8Array): Written {
  let at = 0;
  try {
    while (at < bytes.length) at += writeSync(file, bytes, at);
    return { left: bytes.subarray(at), why: undefined };
  } catch (cause) {
    return { left: bytes.subarray(at), why: cause instanceof Error ? cause : new Error(String(cause)) };
  }
}
