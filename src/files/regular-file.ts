import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';

/** Conditions for opening a file. */
export interface OpenRules {
  /** Whether to refuse a symbolic link, which another user could redirect. */
  readonly isLinkRefused?: boolean | undefined;
  /** Why an opened file must not be used, by its owner and mode; `undefined` if it may. */
  readonly refuse?: ((facts: Stats) => string | undefined) | undefined;
}

export interface ReadRules extends OpenRules {
  /** Bytes. A larger file is not read at all. */
  readonly maxBytes: number;
}

/** Largest number of bytes of market data read from one file: 2 GiB. */
export const DATA_BYTES_MAX = 2 ** 31;

/** Why a file is not read, worded to follow "cannot be read: ". */
export class FileRefusal extends Error {
  override readonly name = 'FileRefusal';
}

/**
 * Opens a regular file for reading, and returns its descriptor and its attributes. Never blocks: a named pipe, socket, device or
 * folder is refused. The attributes are those of the opened file, even if its name is reused in the meantime.
 *
 * @throws FileRefusal with the reason; the system's own error if the file does not exist or cannot be read.
 */
export function openRegularFile(
  path: string,
  { isLinkRefused = false, refuse }: OpenRules = {},
): { readonly file: number; readonly facts: Stats } {
  // On systems without this flag it is undefined, which `|` treats as 0.
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const file = opened(path, O_RDONLY | O_NONBLOCK | (isLinkRefused ? O_NOFOLLOW : 0));
  try {
    const facts = fstatSync(file);
    const why = facts.isFile() ? refuse?.(facts) : kindOf(facts);
    if (why !== undefined) throw new FileRefusal(why);
    return { file, facts };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/**
 * Returns the bytes of a regular file. The limit also applies while reading, because some system files report size 0 and never end.
 *
 * @throws as `openRegularFile`.
 */
export function readRegularFile(path: string, { maxBytes, ...rules }: ReadRules): Buffer {
  const { file, facts } = openRegularFile(path, rules);
  try {
    if (facts.size > maxBytes) throw tooLarge(facts.size, maxBytes);
    const pieces: Buffer[] = [];
    let size = 0;
    for (;;) {
      // One byte more than expected: the read that would find it also detects the end.
      const piece = Buffer.allocUnsafe(Math.max(facts.size - size + 1, 4_096));
      const read = readSync(file, piece);
      size += read;
      if (size > maxBytes) throw tooLarge(size, maxBytes);
      if (read === 0) break;
      pieces.push(piece.subarray(0, read));
    }
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  } finally {
    closeSync(file);
  }
}

function opened(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    const isSocket = error instanceof Error && 'code' in error && error.code === 'ENXIO';
    throw isSocket ? new FileRefusal('it is a socket, not a regular file') : error;
  }
}

const tooLarge = (size: number, maxBytes: number): FileRefusal =>
  new FileRefusal(`it has ${size} bytes or more; at most ${maxBytes} are read`);

function kindOf(facts: Stats): string {
  if (facts.isDirectory()) return 'it is a folder: name the files in it';
  return `it is ${facts.isFIFO() ? 'a named pipe' : 'a device'}, not a regular file`;
}
