import { crc32 } from 'node:zlib';
import { LEVELS } from './index.ts';
import type { Closes, PriceIndex } from './index.ts';

/**
 * Returns the bytes of an index, for a file beside its tape: a header of eight doubles and the hash of the tape, then the rows at
 * which blocks start (32-bit integers), then the bounds of all levels (32-bit floats). All little-endian.
 */
export function indexBytes(index: PriceIndex): Uint8Array {
  const { tape, rows, barMs, exponent, first, bounds, starts } = index;
  const body = starts.byteLength + bounds.reduce((sum, level) => sum + level.byteLength, 0);
  const bytes = new Uint8Array(HEAD_BYTES + body);
  let at = HEAD_BYTES;
  for (const part of [starts, ...bounds]) {
    bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
    at += part.byteLength;
  }
  bytes.set(new TextEncoder().encode(tape.slice(0, HASH_BYTES)), NUMBERS_BYTES);
  const head = [MAGIC, FORMAT, rows, barMs, exponent, first[0] ?? 0, starts.length - 1];
  const numbers = new Float64Array(bytes.buffer, 0, head.length + 1);
  numbers.set(head);
  numbers[head.length] = sumOf(bytes);
  return bytes;
}

/**
 * Reads the index that `indexBytes` wrote for this tape; `undefined` if the bytes are damaged, or belong to another
 * tape or another version of this program, in which case the caller rebuilds the index. Aligned bytes are used in
 * place, not copied.
 */
export function readIndex(bytes: Uint8Array, tape: Closes): PriceIndex | undefined {
  if (bytes.byteLength < HEAD_BYTES) return undefined;
  const own = bytes.byteOffset % 8 === 0 ? bytes : Uint8Array.from(bytes);
  const numbers = new Float64Array(own.buffer, own.byteOffset, 8);
  const [magic, format, rows, barMs, exponent = 0, begin = 0, blocks = 0, sum] = numbers;
  if (magic !== MAGIC || format !== FORMAT || rows !== tape.rows || barMs !== tape.barMs) return undefined;
  const hash = new TextDecoder().decode(own.subarray(NUMBERS_BYTES, HEAD_BYTES));
  if (hash !== tape.hash || sumOf(own) !== sum) return undefined;
  const first = Array.from({ length: LEVELS }, (_, level) => Math.floor(begin / 4 ** level));
  const lengths = first.map((number, level) =>
    blocks === 0 ? 0 : 2 * (Math.floor((begin + blocks - 1) / 4 ** level) - number + 2),
  );
  const words = blocks + 1 + lengths.reduce((total, length) => total + length, 0);
  if (own.byteLength !== HEAD_BYTES + 4 * words) return undefined;
  let at = own.byteOffset + HEAD_BYTES;
  const starts = new Int32Array(own.buffer, at, blocks + 1);
  at += starts.byteLength;
  const bounds = lengths.map((length) => {
    const level = new Float32Array(own.buffer, at, length);
    at += level.byteLength;
    return level;
  });
  return { tape: tape.hash, rows: tape.rows, barMs: tape.barMs, exponent, first, bounds, starts };
}

/** Returns the checksum of all bytes except its own. */
const sumOf = (bytes: Uint8Array): number =>
  crc32(bytes.subarray(NUMBERS_BYTES), crc32(bytes.subarray(0, NUMBERS_BYTES - 8)));

/** A double, because bytes in another order, or from another file, do not read as this number. */
const MAGIC = 0x7072_6963_6573;
/** Version of the format. It changes whenever an index of the same tape would differ. */
const FORMAT = 1;
const NUMBERS_BYTES = 64;
const HASH_BYTES = 64;
const HEAD_BYTES = NUMBERS_BYTES + HASH_BYTES;
