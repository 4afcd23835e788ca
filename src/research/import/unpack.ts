import { inflateRawSync, gunzipSync, crc32 } from 'node:zlib';
import { OperatorError } from '../../core/errors.ts';

/** Extracts a file from its container. */

export type Container = 'plain' | 'gzip' | 'zip';

/** One file extracted from a container, named without folders and `.gz`. */
type Packed = { readonly name: string; readonly bytes: Uint8Array };

/** Maximum number of extracted bytes of one import: 1 GiB. */
export const EXPANDED_BYTES_MAX = 2 ** 30;
const MIB = 1_048_576;
const baseOf = (path: string): string => path.split(/[/\\]/u).at(-1) ?? path;

/**
 * Returns the files in `bytes`: one file, unless it is a zip with several. Checksums are verified.
 *
 * @throws OperatorError (`data`) that names the file if it is truncated or damaged.
 */
export function unpack(
  name: string,
  bytes: Uint8Array,
  maxBytes = EXPANDED_BYTES_MAX,
): { readonly container: Container; readonly files: readonly Packed[] } {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    const plain = attempt(name, 'gzip', maxBytes, () => gunzipSync(bytes, { maxOutputLength: maxBytes }));
    return { container: 'gzip', files: [{ name: baseOf(name).replace(/\.gz$/iu, ''), bytes: plain }] };
  }
  if (bytes[0] === 0x50 && bytes[1] === 0x4b)
    return { container: 'zip', files: unzip(name, bytes, maxBytes) };
  return { container: 'plain', files: [{ name: baseOf(name), bytes }] };
}

/** Returns the error for a file that is too large. `size`: bytes, if the container states it. */
const tooLarge = (name: string, size: number | undefined, maxBytes: number): OperatorError =>
  new OperatorError(
    'data',
    `${name}: it has ${size === undefined ? 'more' : `${Math.ceil(size / MIB)} MiB`} when decompressed; at most ${Math.floor(maxBytes / MIB)} MiB are read: split it, or add --max-size`,
  );

function attempt<T>(name: string, what: string, maxBytes: number, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    // A zip states the size of its files, so a larger file is damaged.
    if (what === 'gzip' && cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(name, undefined, maxBytes);
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new OperatorError('data', `${name}: damaged ${what} file: ${why}`, cause);
  }
}

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRIES_MAX = 10_000;
/** Marks a size or position that is in the ZIP64 extra field instead; some programs always write it there. */
const ELSEWHERE = 0xffffffff;
const ZIP64 = 1;

/** A file's entry in the directory of a zip. */
interface Entry {
  readonly path: string;
  readonly flags: number;
  readonly method: number;
  readonly checksum: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
  /** Position of the next entry of the directory. */
  readonly next: number;
}

/** Returns the files of a zip by the directory at its end; folders and hidden files are skipped. */
function unzip(name: string, bytes: Uint8Array, maxBytes: number): readonly Packed[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const files: Packed[] = [];
  let total = 0;
  for (const entry of attempt(name, 'zip', maxBytes, () => directoryOf(view))) {
    const base = baseOf(entry.path);
    if (/[/\\]$/u.test(entry.path) || base.startsWith('.') || entry.path.startsWith('__MACOSX')) continue;
    if (!(total + entry.size <= maxBytes))
      throw tooLarge(`${name}/${entry.path}`, total + entry.size, maxBytes);
    const plain = attempt(`${name}/${entry.path}`, 'zip', maxBytes, () => fileOf(view, entry));
    total += plain.length;
    files.push({ name: base, bytes: plain });
  }
  if (files.length === 0) throw new OperatorError('data', `${name}: the zip file is empty`);
  return files;
}

function directoryOf(view: DataView): readonly Entry[] {
  let end = view.byteLength - END_BYTES;
  const first = Math.max(0, end - 0xffff);
  while (end >= first && view.getUint32(end, true) !== END) end -= 1;
  if (end < first) throw new Error('its directory is missing: is the file complete?');
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (at === ELSEWHERE || count > ENTRIES_MAX) throw new Error('it is too large: decompress it first');
  const entries: Entry[] = [];
  for (let n = 0; n < count; n++) {
    const entry = entryAt(view, at);
    if (entry === undefined) throw new Error(`entry ${n + 1} of its directory is damaged`);
    entries.push(entry);
    at = entry.next;
  }
  // Without this check, an entry beyond the stated count would be silently dropped.
  if (entryAt(view, at) !== undefined)
    throw new Error('its directory has more files than its end record states');
  return entries;
}

function entryAt(view: DataView, at: number): Entry | undefined {
  if (at + 46 > view.byteLength || view.getUint32(at, true) !== ENTRY) return undefined;
  const short = (place: number): number => view.getUint16(at + place, true);
  const long = (place: number): number => view.getUint32(at + place, true);
  const [pathBytes, extraBytes] = [short(28), short(30)];
  const next = at + 46 + pathBytes + extraBytes + short(32);
  if (next > view.byteLength) return undefined;
  const path = textAt(view, at + 46, pathBytes);
  const elsewhere = zip64Of(view, at + 46 + pathBytes, extraBytes);
  const [size = Number.NaN, packed = Number.NaN, from = Number.NaN] = [long(24), long(20), long(42)].map((value) => value === ELSEWHERE ? elsewhere.shift() : value); // prettier-ignore
  return { path, flags: short(8), method: short(10), checksum: long(16), packed, size, at: from, next };
}

/** Returns the numbers of the ZIP64 extra field in order: size, packed size and position, as far as each is needed. */
function zip64Of(view: DataView, begin: number, bytes: number): number[] {
  for (let at = begin; at + 4 <= begin + bytes; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== ZIP64) continue;
    const count = Math.floor(Math.min(view.getUint16(at + 2, true), begin + bytes - at - 4) / 8);
    return Array.from({ length: count }, (_, n) => Number(view.getBigUint64(at + 4 + 8 * n, true)));
  }
  return [];
}

const textAt = ({ buffer, byteOffset }: DataView, at: number, bytes: number): string =>
  Buffer.from(buffer, byteOffset + at, bytes).toString('utf8');

function fileOf(view: DataView, { path, flags, method, checksum, packed, size, at }: Entry): Uint8Array {
  if ((flags & 1) !== 0) throw new Error('it is encrypted');
  if (!(at + 30 <= view.byteLength) || view.getUint32(at, true) !== LOCAL)
    throw new Error('its header is damaged');
  // The name may be the only source of the file's day.
  if (textAt(view, at + 30, view.getUint16(at + 26, true)) !== path)
    throw new Error('its name differs from its name in the directory');
  const begin = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if (!(begin + packed <= view.byteLength)) throw new Error('it is truncated');
  const raw = new Uint8Array(view.buffer, view.byteOffset + begin, packed);
  if (method !== 0 && method !== 8)
    throw new Error(`it is compressed with method ${method}: only deflate is supported`);
  const plain = method === 0 ? raw : inflateRawSync(raw, { maxOutputLength: Math.max(size, 1) });
  if (plain.length !== size || crc32(plain) !== checksum) throw new Error('its checksum does not match');
  return plain;
}
