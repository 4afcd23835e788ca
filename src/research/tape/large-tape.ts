import { closeSync, fstatSync, read, readSync, rmSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { OperatorError } from '../../core/errors.ts';
import { notesIn } from './arrow-file.ts';
import { columnNames } from './tape.ts';
import type { ColumnName, Tape } from './tape.ts';
import { openRegularFile } from '../../files/regular-file.ts';

/**
 * Large stored tapes. Times and closes are read immediately; other columns are read when they are used, whole or in
 * blocks. A few orders over a year of minutes need a third of the file. Only the parts that are read are checked.
 */

/** Below this size, reading a whole tape is faster than reading parts. */
const LARGE_ROWS_MIN = 100_000;
/** Rows that share a checksum. */
const BLOCK_ROWS = 2_048;
/** A caller that has read this many blocks of a column will read more, and reading the rest then takes no longer. */
const BLOCKS_MAX = 64;
const NOTE = 'crc32_blocks';
const SUM_DIGITS = 8;
const DOUBLE_BYTES = 8;

/** Returns the extra notes of a large tape: its number of rows, and for each column the checksums of its blocks. */
export function blockNotes(tape: Tape): Readonly<Record<string, string>> {
  if (tape.rows < LARGE_ROWS_MIN) return {};
  const sums = columnNames.map((name) =>
    Array.from({ length: Math.ceil(tape.rows / BLOCK_ROWS) }, (_, block) =>
      sumOf(tape[name].subarray(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS)),
    ).join(''),
  );
  return { [NOTE]: [tape.rows, ...sums].join(' ') };
}

interface Found {
  readonly tape: Tape;
  readonly notes: ReadonlyMap<string, string>;
}

/**
 * Opens the large tape in a file; `undefined` for any other file, which the caller reads whole. The file stays open
 * until all columns are read.
 *
 * @throws OperatorError (`data`) if data does not match its checksums, both here and wherever a column is used.
 */
export function openLarge(path: string): Found | undefined {
  const opened = ahead.get(path) ?? open(path);
  ahead.delete(path);
  if (opened === undefined) return undefined;
  let found: Found | undefined;
  try {
    found = tapeIn(opened);
    return found;
  } finally {
    if (found === undefined) closeSync(opened.place.file);
  }
}

/**
 * Reads the columns that `openLarge` needs immediately, in another thread. Always resolves, because `openLarge` reports
 * what is wrong with the file.
 */
export async function readAhead(path: string): Promise<void> {
  let opened: Opened | undefined;
  try {
    opened = open(path);
  } catch {
    return;
  }
  if (opened === undefined) return;
  const { place, begun } = opened;
  await Promise.all(
    AT_ONCE.map(async (name) => {
      const values = roomFor(place.rows);
      begun.set(name, { values, done: await bytesRead(place.file, values, placeOf(place, name, 0)) });
    }),
  );
  ahead.set(path, opened);
}
const AT_ONCE: readonly ColumnName[] = ['times', 'close'];

/** A large tape whose file is open. */
interface Opened {
  readonly place: Place;
  readonly notes: ReadonlyMap<string, string>;
  /** Columns that were read ahead, at least in part. */
  readonly begun: Map<ColumnName, Begun>;
}

interface Begun {
  readonly values: Float64Array;
  /** Bytes. */
  readonly done: number;
}

const ahead = new Map<string, Opened>();

/** Returns the number of bytes read; zero on failure. */
const bytesRead = async (file: number, into: Float64Array, position: number): Promise<number> =>
  await new Promise((resolve) => {
    read(file, into, 0, into.byteLength, position, (error, done) => {
      resolve(error === null ? done : 0);
    });
  });

function open(path: string): Opened | undefined {
  const { file } = openRegularFile(path);
  let opened: Opened | undefined;
  try {
    opened = openedIn(file, path);
    return opened;
  } finally {
    if (opened === undefined) closeSync(file);
  }
}

function openedIn(file: number, path: string): Opened | undefined {
  const head = headOf(file);
  const [rows = 0, ...sums] = head?.notes.get(NOTE)?.split(' ') ?? [];
  const count = Number(rows);
  if (head === undefined || !(count >= LARGE_ROWS_MIN)) return undefined;
  const { bodyAt, notes } = head;
  if (fstatSync(file).size < bodyAt + columnNames.length * count * DOUBLE_BYTES) return undefined;
  return { place: { file, path, rows: count, bodyAt, sums }, notes, begun: new Map() };
}

function tapeIn(opened: Opened): Found {
  const { notes, place } = opened;
  const columns = new LargeColumns(opened);
  const tape: Tape = {
    pair: notes.get('pair') ?? '',
    barMs: Number(notes.get('bar_ms')),
    rows: place.rows,
    times: columns.whole('times'),
    get open() {
      return columns.whole('open');
    },
    get high() {
      return columns.whole('high');
    },
    get low() {
      return columns.whole('low');
    },
    close: columns.whole('close'),
    get volume() {
      return columns.whole('volume');
    },
    hash: notes.get('hash') ?? '',
    part: (name, from, until) => columns.part(name, from, until),
  };
  return { tape, notes };
}

/**
 * Reads the head of an Arrow file: eight bytes, the schema, and the head of the batch, which the columns follow one after another
 * (`tapeToArrow`).
 */
function headOf(
  file: number,
): { readonly notes: ReadonlyMap<string, string>; readonly bodyAt: number } | undefined {
  const schemaAt = 8;
  const batchAt = messageEnd(file, schemaAt);
  const bodyAt = batchAt === undefined ? undefined : messageEnd(file, batchAt);
  if (batchAt === undefined || bodyAt === undefined) return undefined;
  const schema = Buffer.alloc(batchAt - schemaAt);
  readSync(file, schema, 0, schema.length, schemaAt);
  const notes = notesIn(schema);
  return notes && { notes, bodyAt };
}

/** Returns where the head of a message ends. The head begins with a mark and its length. */
function messageEnd(file: number, at: number): number | undefined {
  const begin = Buffer.alloc(8);
  readSync(file, begin, 0, begin.length, at);
  const length = begin.readUInt32LE(4);
  return begin.readUInt32LE(0) === MARK && length <= HEAD_BYTES_MAX ? at + 8 + length : undefined;
}
const MARK = 0xff_ff_ff_ff;
const HEAD_BYTES_MAX = 2 ** 26;

interface Place {
  readonly file: number;
  readonly path: string;
  readonly rows: number;
  /** Position of the first column, bytes. */
  readonly bodyAt: number;
  /** Checksums of each column: those of its blocks one after another. */
  readonly sums: readonly string[];
}

class LargeColumns {
  readonly #place: Place;
  readonly #begun: Map<ColumnName, Begun>;
  readonly #whole = new Map<ColumnName, Float64Array>();
  readonly #blocksRead = new Map<ColumnName, number>();

  constructor({ place, begun }: Opened) {
    this.#place = place;
    this.#begun = begun;
  }

  whole(name: ColumnName): Float64Array {
    const known = this.#whole.get(name);
    if (known !== undefined) return known;
    const column = this.#read(name, 0, this.#place.rows);
    this.#whole.set(name, column);
    if (this.#whole.size === columnNames.length) closeSync(this.#place.file);
    return column;
  }

  part(name: ColumnName, from: number, until: number): Float64Array {
    if (until <= from) return new Float64Array();
    const first = Math.floor(from / BLOCK_ROWS);
    const end = Math.ceil(until / BLOCK_ROWS);
    const count = (this.#blocksRead.get(name) ?? 0) + end - first;
    this.#blocksRead.set(name, count);
    if (count > BLOCKS_MAX || this.#whole.has(name)) return this.whole(name).subarray(from, until);
    const begin = first * BLOCK_ROWS;
    const rows = this.#read(name, begin, Math.min(end * BLOCK_ROWS, this.#place.rows));
    return rows.subarray(from - begin, until - begin);
  }

  /**
   * Reads rows from the beginning of one block to the end of another, into the buffer of a column that was read ahead
   * or into a new buffer.
   */
  #read(name: ColumnName, from: number, until: number): Float64Array {
    const { file, path, sums } = this.#place;
    const begun = until - from === this.#place.rows ? this.#begun.get(name) : undefined;
    const { values } = begun ?? { values: roomFor(until - from) };
    const bytes = new Uint8Array(values.buffer);
    const at = placeOf(this.#place, name, from);
    let done = begun?.done ?? 0;
    while (done < bytes.length) {
      const more = readSync(file, bytes, done, bytes.length - done, at + done);
      if (more === 0) break;
      done += more;
    }
    const place = (from / BLOCK_ROWS) * SUM_DIGITS;
    const wanted = sums[columnNames.indexOf(name)]?.slice(
      place,
      place + Math.ceil(values.length / BLOCK_ROWS) * SUM_DIGITS,
    );
    let found = '';
    for (let row = 0; row < values.length; row += BLOCK_ROWS)
      found += sumOf(values.subarray(row, row + BLOCK_ROWS));
    if (done < bytes.length || found !== wanted) {
      const next = isRemoved(path)
        ? 'the file was removed: run the command again to rebuild it'
        : 'remove the file and run the command again to rebuild it';
      throw new OperatorError(
        'data',
        `${path}: damaged tape: its column ${name} does not match its checksums; ${next}`,
      );
    }
    return values;
  }
}

/** Returns the position of a row of a column in the file. */
const placeOf = ({ bodyAt, rows }: Place, name: ColumnName, row: number): number =>
  bodyAt + (columnNames.indexOf(name) * rows + row) * DOUBLE_BYTES;

/**
 * Allocates shared memory, because V8 does not count it towards garbage collection, and a short command ends before it
 * needs any collection.
 */
const roomFor = (rows: number): Float64Array => new Float64Array(new SharedArrayBuffer(rows * DOUBLE_BYTES));

/** Returns a CRC-32 as eight digits. */
const sumOf = (values: Float64Array): string => crc32(values).toString(16).padStart(SUM_DIGITS, '0');

/** Removes a damaged file. Only tapes of the cache are read in parts, and the cache rebuilds a removed tape. */
function isRemoved(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}
