import { crc32, zstdDecompressSync } from 'node:zlib';
import {
  columnFromArray,
  CompressionType,
  float64,
  setCompressionCodec,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
} from '@uwdata/flechette';
import type { Table } from '@uwdata/flechette';
import { OperatorError } from '../../core/errors.ts';
import { DATA_BYTES_MAX } from '../../files/regular-file.ts';
import { lz4Frame } from './lz4.ts';
import { inTime } from './in-time.ts';
import { columnNames } from './tape.ts';
import type { ColumnName, Tape } from './tape.ts';

/** A tape as an Arrow file, which pandas can open. Loading reads the columns in place, without parsing. */

/** Names of the columns in the file. All are doubles; `timestamp_ms` is Unix ms. */
const IN_FILE: Readonly<Record<ColumnName, string>> = {
  times: 'timestamp_ms',
  open: 'open',
  high: 'high',
  low: 'low',
  close: 'close',
  volume: 'volume',
};
const MARK = 'tranche.tape';
const VERSION = '1';

/** Returns the bytes of an Arrow file (Feather version 2, not compressed). The file stores `notes` as text. */
export function tapeToArrow(tape: Tape, notes: Readonly<Record<string, string>> = {}): Uint8Array {
  const columns = columnNames.map((name) => [IN_FILE[name], columnFromArray(tape[name], float64())] as const);
  const table = tableFromColumns(columns.map(([name, column]) => [name, column]));
  table.schema.metadata = new Map([
    [MARK, VERSION],
    ['pair', tape.pair],
    ['bar_ms', String(tape.barMs)],
    ['hash', tape.hash],
    ['crc32', checksumsOf(tape)],
    ...Object.entries(notes),
  ]);
  const bytes = tableToIPC(table, { format: 'file' });
  if (bytes === null) throw new Error('invariant broken: no Arrow file was written');
  return bytes;
}

/**
 * Reads the tape in an Arrow file from `tapeToArrow`. The columns are views of `bytes`, which must not change.
 * `undefined` when another program wrote the file.
 *
 * @throws OperatorError (`data`) if the file is damaged: it is truncated, or its columns do not match their checksums.
 */
export function tapeFromArrow(
  bytes: Uint8Array,
  name: string,
): { readonly tape: Tape; readonly notes: ReadonlyMap<string, string> } | undefined {
  const damaged = (why: string, cause?: unknown): never => {
    throw new OperatorError('data', `${name}: damaged tape: ${why}`, cause);
  };
  let table: Table;
  try {
    table = inTime(bytes.length, () => arrowTable(bytes));
  } catch (cause) {
    // The library's error means nothing to an operator.
    return damaged('it is truncated, or not an Arrow file', cause);
  }
  const notes = table.schema.metadata ?? new Map<string, string>();
  if (notes.get(MARK) === undefined) return undefined;
  if (notes.get(MARK) !== VERSION)
    return damaged(`it has version ${notes.get(MARK) ?? ''}, this program reads ${VERSION}`);
  const rows = table.numRows;
  const column = (of: ColumnName): Float64Array => {
    const values: unknown = table.getChild(IN_FILE[of]).toArray();
    return values instanceof Float64Array && values.length === rows
      ? values
      : damaged(`its column ${IN_FILE[of]} is not ${rows} doubles`);
  };
  const tape: Tape = {
    pair: notes.get('pair') ?? '',
    barMs: Number(notes.get('bar_ms')),
    rows,
    times: column('times'),
    open: column('open'),
    high: column('high'),
    low: column('low'),
    close: column('close'),
    volume: column('volume'),
    hash: notes.get('hash') ?? '',
  };
  if (checksumsOf(tape) !== notes.get('crc32')) return damaged('its columns do not match their checksums');
  return { tape, notes };
}

/** Reads the notes of a tape from the schema at the start of its file; `undefined` when the file is not a tape of this version. */
export function notesIn(schema: Uint8Array): ReadonlyMap<string, string> | undefined {
  // The schema as a stream that ends after it.
  const stream = new Uint8Array(schema.length + 8);
  stream.set(schema);
  stream.fill(0xff, schema.length, schema.length + 4);
  try {
    const notes = inTime(stream.length, () => tableFromIPC(stream).schema.metadata) ?? undefined;
    return notes?.get(MARK) === VERSION ? notes : undefined;
  } catch {
    return undefined; // the code that reads the whole file reports the fault
  }
}

/**
 * Reads an Arrow file or stream from any program, including compressed buffers. Times come as ms, integers as numbers or bigints,
 * by their width.
 */
export function arrowTable(bytes: Uint8Array, maxBytes = DATA_BYTES_MAX): Table {
  setCompressionCodec(CompressionType.LZ4_FRAME, { decode: lz4Frame, encode: never });
  setCompressionCodec(CompressionType.ZSTD, {
    decode: (packed) => zstdDecompressSync(packed, { maxOutputLength: maxBytes }),
    encode: never,
  });
  // Columns of doubles are read in place, which requires an address that is a multiple of eight.
  const table = tableFromIPC(bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes), {
    useBigInt: true,
    useDecimalInt: true,
  });
  refuseFalseRows(table);
  return table;
}

/**
 * Rejects columns with fewer values than rows. In a damaged file, a batch may claim millions of rows, and memory must
 * be allocated for them only if their values exist.
 */
function refuseFalseRows(table: Table): void {
  for (let n = 0; n < table.numCols; n++)
    for (const { length, values, offsets } of table.getChildAt(n).data) {
      const cells = Math.max(lengthOf(values), lengthOf(offsets) - 1);
      // Booleans take one bit each.
      if (!(length >= 0 && length <= 8 * cells)) throw new Error('a column has fewer values than rows');
    }
}

const lengthOf = (part: unknown): number => (ArrayBuffer.isView(part) ? part.byteLength : 0);

function never(): never {
  throw new Error('invariant broken: tapes are never compressed');
}

/** Returns the CRC-32 of each column, which takes a third of the time of a hash. It protects against damage, not against malice. */
const checksumsOf = (tape: Tape): string =>
  columnNames
    .map((name) => {
      const { buffer, byteOffset, byteLength } = tape[name];
      return crc32(new Uint8Array(buffer, byteOffset, byteLength))
        .toString(16)
        .padStart(8, '0');
    })
    .join(' ');
