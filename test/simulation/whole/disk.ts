import { crc32 } from 'node:zlib';

/** What the next write or flush meets. */
export type DiskFault = 'enospc' | 'eio' | 'short' | 'sync failed, data kept' | 'sync failed, data lost';

export class DiskError extends Error {
  override readonly name = 'DiskError';
}

/**
 * A file on a disk, byte for byte. What was written and not flushed may be gone after a crash, whole or in part; what was
 * flushed stays, unless somebody turns its bits or puts an older copy in its place.
 */
export class Disk {
  #durable: Buffer = Buffer.alloc(0);
  #unsynced: Buffer = Buffer.alloc(0);
  /** Who writes: held until the process dies. */
  owner: object | undefined;

  get size(): number {
    return this.#durable.length + this.#unsynced.length;
  }

  /** As a process reads it: with what no disk holds yet. */
  read(): Buffer {
    return this.#unsynced.length === 0 ? this.#durable : Buffer.concat([this.#durable, this.#unsynced]);
  }

  get durable(): Buffer {
    return this.#durable;
  }

  /** @throws DiskError when there is no room, or a part of it was written. */
  write(bytes: Buffer, fault?: DiskFault): void {
    if (fault === 'enospc' || fault === 'eio') throw new DiskError(fault);
    if (fault === 'short') {
      this.#unsynced = Buffer.concat([this.#unsynced, bytes.subarray(0, bytes.length >> 1)]);
      throw new DiskError('short write');
    }
    this.#unsynced = Buffer.concat([this.#unsynced, bytes]);
  }

  /** Makes durable what was written up to now. @throws DiskError and the bytes are there, or are not. */
  sync(fault?: DiskFault): void {
    if (fault === 'sync failed, data lost') {
      this.#unsynced = Buffer.alloc(0);
      throw new DiskError('fsync failed');
    }
    this.#durable = this.read();
    this.#unsynced = Buffer.alloc(0);
    if (fault === 'sync failed, data kept') throw new DiskError('fsync failed');
  }

  /** The machine goes down: this share of the bytes that were not flushed got there all the same. */
  crash(share: number): void {
    const kept = share >= 1 ? this.#unsynced.length : Math.floor(share * this.#unsynced.length);
    this.#durable = Buffer.concat([this.#durable, this.#unsynced.subarray(0, kept)]);
    this.#unsynced = Buffer.alloc(0);
  }

  /** Puts an older copy in place. */
  restore(bytes: Buffer): void {
    this.#durable = bytes;
    this.#unsynced = Buffer.alloc(0);
  }
}

/**
 * Frames of the file, one an append: 8 hex digits of length, 8 of its own check, 8 of the payload's, then the payload. A
 * frame that the file ends in the middle of was being written when the machine went down, and was never reported durable.
 * Anything else that does not fit is damage.
 */
export const HEAD_BYTES = 24;

const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');

export function frame(payload: string): Buffer {
  const bytes = Buffer.from(payload);
  const length = hex(bytes.length);
  return Buffer.concat([Buffer.from(length + hex(crc32(length)) + hex(crc32(bytes))), bytes]);
}

export type Frames =
  | {
      readonly ok: true;
      readonly payloads: readonly string[];
      readonly end: number;
      readonly isTorn: boolean;
    }
  | { readonly ok: false; readonly at: number };

export function unframe(file: Buffer): Frames {
  const payloads: string[] = [];
  let at = 0;
  while (at < file.length) {
    if (file.length - at < HEAD_BYTES) {
      // The part of a head that is there must be one.
      const isHead = /^[0-9a-f]*$/u.test(file.toString('latin1', at));
      return isHead ? { ok: true, payloads, end: at, isTorn: true } : { ok: false, at };
    }
    const [length, check, sum] = [0, 8, 16].map((from) => file.toString('latin1', at + from, at + from + 8));
    if (length === undefined || check !== hex(crc32(length)) || !/^[0-9a-f]{8}$/u.test(sum ?? ''))
      return { ok: false, at };
    const from = at + HEAD_BYTES;
    const until = from + Number.parseInt(length, 16);
    if (until > file.length) return { ok: true, payloads, end: at, isTorn: true };
    const bytes = file.subarray(from, until);
    if (hex(crc32(bytes)) !== sum) return { ok: false, at };
    payloads.push(bytes.toString());
    at = until;
  }
  return { ok: true, payloads, end: at, isTorn: false };
}
