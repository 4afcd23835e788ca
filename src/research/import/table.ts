import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { OperatorError } from '../../core/errors.ts';
import { arrowTable } from '../tape/arrow-file.ts';
import { inTime } from '../tape/in-time.ts';
import { decimalOf, integerOf, shortest32 } from './numbers.ts';
import { planFor } from './detect.ts';
import { lz4Block } from '../tape/lz4.ts';
import { refuseFalsePages } from './parquet-pages.ts';
import { EXPANDED_BYTES_MAX } from './unpack.ts';
import type { TableKind } from './kind.ts';
import type { Hints, ReadPlan } from './plan.ts';
import { RowReader } from './rows.ts';
import type { Rows } from './rows.ts';

/** Parquet and Arrow (Feather) tables, in the layouts of delimited files, identified by the names of their columns. */

/** A table as its library returns it. */
export interface Table {
  readonly names: readonly string[];
  readonly rows: number;
  /** Cells of a column: numbers, text, bigints, dates. */
  readonly columns: readonly ArrayLike<unknown>[];
}

const SAMPLE_ROWS = 200;

/** Reads a table. @throws OperatorError (`data`) that names the file, and the invalid row (counted from 1). */
export async function readTable(
  { name, place, bytes }: { readonly name: string; readonly place: string; readonly bytes: Uint8Array },
  kind: TableKind,
  hints: Hints,
  maxBytes = EXPANDED_BYTES_MAX,
): Promise<{ readonly plan: ReadPlan; readonly rows: Rows }> {
  const table = await attempt(
    place,
    kind,
    async () =>
      await (kind === 'parquet'
        ? fromParquet(bytes, maxBytes)
        : inTime(bytes.length, () => fromArrow(bytes, maxBytes))),
  );
  const sampled = Array.from({ length: Math.min(table.rows, SAMPLE_ROWS) }, (_, row) =>
    table.columns.map((cells) => cellText(cells[row])),
  );
  const sample = { rows: [table.names, ...sampled], delimiter: ',', name, isJson: false } as const;
  const plan = planFor(sample, hints, place);
  const reader = new RowReader(place, plan, { isTable: true });
  for (let row = 0; row < table.rows; row++)
    reader.read(
      table.columns.map((cells) => cellText(cells[row])),
      row + 1,
    );
  return { plan, rows: reader.done() };
}

async function attempt<T>(place: string, kind: TableKind, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const isStumble = cause instanceof TypeError || cause instanceof RangeError;
    const why = cause instanceof Error && !isStumble ? cause.message : 'is it whole?';
    const what = kind === 'parquet' ? 'Parquet' : 'Arrow';
    throw new OperatorError(
      'data',
      `${place}: not ${what === 'Arrow' ? 'an Arrow' : 'a Parquet'} file that can be read: ${why}`,
      cause,
    );
  }
}

async function fromParquet(bytes: Uint8Array, maxBytes: number): Promise<Table> {
  const { parquetMetadataAsync, parquetRead } = await import('hyparquet');
  const file = new ArrayBuffer(bytes.byteLength);
  new Uint8Array(file).set(bytes);
  const metadata = await parquetMetadataAsync(file);
  const reads = new Map<string, (cell: unknown) => unknown>();
  for (const element of metadata.schema) {
    const { name, scale = 0 } = element;
    if (element.type === 'FLOAT') reads.set(name, shortest);
    if (element.converted_type !== 'DECIMAL' && element.logical_type?.type !== 'DECIMAL') continue;
    // Decimals are read as stored integers, because the library multiplies with a double, which loses digits.
    reads.set(name, (cell) => decimalCell(cell, scale));
    delete element.converted_type;
    delete element.logical_type;
  }
  const names = metadata.schema
    .slice(1)
    .filter(({ num_children: children }) => children === undefined)
    .map(({ name }) => name);
  const rows = Number(metadata.num_rows);
  // Without this check, rows beyond the stated count would be silently dropped.
  if (metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0) !== rows)
    throw new Error(`its parts do not contain the ${rows} rows that it states`);
  refuseFalsePages(bytes, metadata, maxBytes);
  const columns = names.map(() => Array.from<unknown>({ length: rows }));
  await parquetRead({
    file,
    metadata,
    compressors: {
      // Each page states its size; nothing beyond that is allocated.
      GZIP: (packed, size) => gunzipSync(packed, { maxOutputLength: Math.max(size, 1) }),
      BROTLI: (packed, size) => brotliDecompressSync(packed, { maxOutputLength: Math.max(size, 1) }),
      ZSTD: (packed, size) => zstdDecompressSync(packed, { maxOutputLength: Math.max(size, 1) }),
      LZ4_RAW: (packed, size) => lz4Block(packed, size),
    },
    onChunk: ({ columnName, columnData, rowStart }) => {
      const column = columns[names.indexOf(columnName)];
      if (column === undefined) return;
      for (let n = 0; n < columnData.length; n++) column[rowStart + n] = columnData[n];
    },
  });
  // Conversions run after decoding, during which an unreadable cell would go unnoticed.
  return {
    names,
    rows,
    columns: columns.map((column, n) => {
      const read = reads.get(names[n] ?? '');
      return read === undefined ? column : column.map(read);
    }),
  };
}

function fromArrow(bytes: Uint8Array, maxBytes: number): Table {
  const table = arrowTable(bytes, maxBytes);
  const columns = table.schema.fields.map(({ type }, n) => {
    const cells = cellsOf(table.getChildAt(n));
    if ('scale' in type) return Array.from(cells, (cell) => decimalCell(cell, type.scale));
    return cells instanceof Float32Array ? Float64Array.from(cells, shortest32) : cells;
  });
  return { names: table.names, rows: table.numRows, columns };
}

const shortest = (cell: unknown): unknown => (typeof cell === 'number' ? shortest32(cell) : cell);

/** Converts a decimal, which is stored as an integer of its smallest unit, or as bytes if it is wide. */
function decimalCell(cell: unknown, scale: number): unknown {
  if (cell instanceof Uint8Array) return decimalOf(integerOf(cell), scale);
  if (typeof cell === 'number' && !Number.isInteger(cell))
    throw new Error('a decimal is not stored as an integer');
  return typeof cell === 'bigint' || typeof cell === 'number' ? decimalOf(BigInt(cell), scale) : cell;
}

/** Returns the cells of a column: a typed array without gaps, otherwise an array. */
function cellsOf(column: { toArray(): unknown }): ArrayLike<unknown> {
  const cells = column.toArray();
  const isCells = (value: unknown): value is ArrayLike<unknown> =>
    Array.isArray(value) || ArrayBuffer.isView(value);
  if (!isCells(cells)) throw new Error('a column is not an array');
  return cells;
}

function cellText(cell: unknown): string {
  if (cell instanceof Date) return String(cell.getTime());
  return typeof cell === 'string' || typeof cell === 'number' || typeof cell === 'bigint' ? String(cell) : '';
}
