import { runInNewContext } from 'node:vm';
import { columnFromArray, float64, tableFromColumns, tableFromIPC, tableToIPC } from '@uwdata/flechette';
import type { Table } from '@uwdata/flechette';
import { OperatorError } from '../../core/errors.ts';
import { columnNames, columnsBy, hashOf } from './tape.ts';
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

/** Whether a file begins as Arrow files do. */
export const isArrow = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 6)).equals(MAGIC);
const MAGIC = Buffer.from('ARROW1');

/** Returns the bytes of an Arrow file (Feather version 2, not compressed). The file stores `notes` as text. */
export function tapeToArrow(tape: Tape, notes: Readonly<Record<string, string>> = {}): Uint8Array {
  const columns = columnNames.map((name) => [IN_FILE[name], columnFromArray(tape[name], float64())] as const);
  const table = tableFromColumns(columns.map(([name, column]) => [name, column]));
  table.schema.metadata = new Map([
    [MARK, VERSION],
    ['pair', tape.pair],
    ['bar_ms', String(tape.barMs)],
    ['hash', tape.hash],
    ...Object.entries(notes),
  ]);
  const bytes = tableToIPC(table, { format: 'file' });
  if (bytes === null) throw new Error('invariant broken: no Arrow file was written');
  return bytes;
}

/**
 * Reads the tape in an Arrow file from `tapeToArrow`. The columns are views of `bytes`, which must not change.
 *
 * @throws OperatorError (`data`) if the file is damaged: it is truncated, or its columns do not match its hash. Also if another
 * program wrote it.
 */
export function tapeFromArrow(
  bytes: Uint8Array,
  name: string,
): { readonly tape: Tape; readonly notes: ReadonlyMap<string, string> } {
  const fail = (why: string, cause?: unknown): never => {
    throw new OperatorError('data', `${name}: ${why}`, cause);
  };
  let table: Table;
  try {
    table = inTime(bytes.length, () => tableIn(bytes));
  } catch (cause) {
    // The library's error means nothing to an operator.
    return fail(
      'damaged tape: it is truncated, or another program wrote it: import Parquet or CSV instead',
      cause,
    );
  }
  const notes = table.schema.metadata ?? new Map<string, string>();
  if (notes.get(MARK) !== VERSION)
    return fail('it is not a tape: import Arrow and Feather files of other programs as Parquet or CSV');
  const rows = table.numRows;
  const column = (of: ColumnName): Float64Array => {
    const values: unknown = table.getChild(IN_FILE[of]).toArray();
    return values instanceof Float64Array && values.length === rows
      ? values
      : fail(`damaged tape: its column ${IN_FILE[of]} is not ${rows} doubles`);
  };
  const tape: Tape = {
    pair: notes.get('pair') ?? '',
    barMs: Number(notes.get('bar_ms')),
    rows,
    ...columnsBy(column),
    hash: notes.get('hash') ?? '',
  };
  return hashOf(tape) === tape.hash
    ? { tape, notes }
    : fail('damaged tape: its columns do not match its hash');
}

function tableIn(bytes: Uint8Array): Table {
  // Columns of doubles are read in place, which requires an address that is a multiple of eight.
  const table = tableFromIPC(bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes));
  // In a damaged file, a batch may claim millions of rows, and memory must be allocated for them only if their values exist.
  for (let n = 0; n < table.numCols; n++)
    for (const { length, values } of table.getChildAt(n).data)
      if (!(length >= 0 && ArrayBuffer.isView(values) && length <= values.byteLength))
        throw new Error('a column has fewer values than rows');
  return table;
}

/** The limit assumes a slow 100 MB a second, and adds a few seconds for a busy machine. */
const LEAST_MS = 3_000;
const BYTES_A_MS = 100_000;

/**
 * Runs `work` over this many bytes, and ends it if it takes far longer than reading them, because a library for a file
 * format may loop up to a number in a damaged file, and meanwhile fill memory. Only a timer of the JavaScript engine
 * can end such a loop.
 *
 * @throws Error if the time runs out, and any error of `work`.
 */
const inTime = <T>(bytes: number, work: () => T): T =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the context only calls the function
  runInNewContext('work()', { work }, { timeout: LEAST_MS + Math.ceil(bytes / BYTES_A_MS) }) as T;
