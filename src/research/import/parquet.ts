import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { FileMetaData } from 'hyparquet';
import type { parquetHeader } from 'hyparquet/src/column.js';
import { OperatorError } from '../../core/errors.ts';
import { planFor } from './layouts.ts';
import { shortest32 } from './numbers.ts';
import type { Hints, ReadPlan } from './plan.ts';
import { RowReader } from './rows.ts';
import type { Rows } from './rows.ts';
import { EXPANDED_BYTES_MAX } from './unpack.ts';

/** Parquet tables, in the layouts of delimited files, identified by the names of their columns. */

interface Table {
  readonly names: readonly string[];
  readonly rows: number;
  /** Cells of a column: numbers, text, bigints, dates. */
  readonly columns: readonly (readonly unknown[])[];
}

const SAMPLE_ROWS = 200;
const MAGIC = Buffer.from('PAR1');

/** Whether a file begins as Parquet files do. */
export const isParquet = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 4)).equals(MAGIC);

/** Reads a table. @throws OperatorError (`data`) that names the file, and the invalid row (counted from 1). */
export async function readParquet(
  { name, place, bytes }: { readonly name: string; readonly place: string; readonly bytes: Uint8Array },
  hints: Hints,
  maxBytes = EXPANDED_BYTES_MAX,
): Promise<{ readonly plan: ReadPlan; readonly rows: Rows }> {
  let table: Table;
  try {
    table = await tableIn(bytes, maxBytes);
  } catch (cause) {
    const isStumble = cause instanceof TypeError || cause instanceof RangeError;
    const why = cause instanceof Error && !isStumble ? cause.message : 'is it whole?';
    throw new OperatorError('data', `${place}: not a Parquet file that can be read: ${why}`, cause);
  }
  const { names, rows, columns } = table;
  const textOf = (row: number): readonly string[] => columns.map((cells) => cellText(cells[row]));
  const sampled = Array.from({ length: Math.min(rows, SAMPLE_ROWS) }, (_, row) => textOf(row));
  const plan = planFor({ rows: [names, ...sampled], delimiter: ',', name }, hints, place);
  const reader = new RowReader(place, plan, { isTable: true });
  for (let row = 0; row < rows; row++) reader.read(textOf(row), row + 1);
  return { plan, rows: reader.done() };
}

function cellText(cell: unknown): string {
  if (cell instanceof Date) return String(cell.getTime());
  return typeof cell === 'string' || typeof cell === 'number' || typeof cell === 'bigint' ? String(cell) : '';
}

async function tableIn(bytes: Uint8Array, maxBytes: number): Promise<Table> {
  const { parquetMetadataAsync, parquetRead } = await import('hyparquet');
  const { parquetHeader: headerOf } = await import('hyparquet/src/column.js');
  const file = Uint8Array.from(bytes).buffer;
  const metadata = await parquetMetadataAsync(file);
  const leaves = metadata.schema.slice(1).filter(({ num_children: children }) => children === undefined);
  const names = leaves.map(({ name }) => name);
  // The library multiplies decimals with a double, which loses digits.
  const decimal = leaves.find((leaf) => leaf.converted_type === 'DECIMAL' || leaf.logical_type?.type === 'DECIMAL'); // prettier-ignore
  if (decimal !== undefined)
    throw new Error(`its column ${decimal.name} has decimals: write text or doubles`);
  const rows = Number(metadata.num_rows);
  // Without this check, rows beyond the stated count would be silently dropped.
  if (metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0) !== rows)
    throw new Error(`its parts do not contain the ${rows} rows that it states`);
  refuseFalsePages(bytes, metadata, { maxBytes, headerOf });
  const columns = names.map(() => Array.from<unknown>({ length: rows }));
  // Each page states its size; nothing beyond that is allocated.
  const within = (size: number) => ({ maxOutputLength: Math.max(size, 1) });
  await parquetRead({
    file,
    metadata,
    compressors: {
      GZIP: (packed, size) => gunzipSync(packed, within(size)),
      BROTLI: (packed, size) => brotliDecompressSync(packed, within(size)),
      ZSTD: (packed, size) => zstdDecompressSync(packed, within(size)),
    },
    onChunk: ({ columnName, columnData, rowStart }) => {
      const place = names.indexOf(columnName);
      const isFloat = leaves[place]?.type === 'FLOAT';
      const column = columns[place] ?? [];
      for (const [n, cell] of Array.from<unknown>(columnData).entries())
        column[rowStart + n] = isFloat && typeof cell === 'number' ? shortest32(cell) : cell;
    },
  });
  return { names, rows, columns };
}

/** Largest number of values beyond those that take space, because a run of equal values takes a few bytes, however long it is. */
const MOST_OF_RUNS = 2 ** 24;

/**
 * Compares the headers of all pages with the description of their column before anything is decoded, because a decoder
 * allocates memory for as many values as a page claims, and a flipped bit can claim millions.
 */
function refuseFalsePages(
  bytes: Uint8Array,
  { row_groups: groups }: FileMetaData,
  { maxBytes, headerOf }: { readonly maxBytes: number; readonly headerOf: typeof parquetHeader },
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const refuseIf = (isFalse: boolean, why: string): void => {
    if (isFalse) throw new Error(why);
  };
  let total = 0;
  const described = groups.flatMap(({ columns, num_rows: rows }) => columns.map((column) => ({ meta: column.meta_data, rows }))); // prettier-ignore
  for (const { meta, rows } of described) {
    if (meta === undefined) throw new Error('a column has no description');
    refuseIf(meta.codec.startsWith('LZ4'), 'it is compressed with LZ4: write it with zstd');
    const size = Number(meta.total_uncompressed_size);
    total += size;
    refuseIf(!(total <= maxBytes), `its columns have more than ${maxBytes} bytes`);
    const first = Number(meta.data_page_offset);
    const reader = { view, offset: Math.min(first, Number(meta.dictionary_page_offset ?? first)) };
    const end = reader.offset + Number(meta.total_compressed_size);
    let values = 0;
    while (reader.offset < end) {
      const page = headerOf(reader);
      const [unpacked, packed] = [page.uncompressed_page_size, page.compressed_page_size];
      const data = page.data_page_header ?? page.data_page_header_v2;
      const claimed = (data ?? page.dictionary_page_header)?.num_values ?? 0;
      refuseIf(!(unpacked >= 0 && unpacked <= size && packed >= 0 && reader.offset + packed <= end), 'a page is larger than its column'); // prettier-ignore
      refuseIf(!(claimed >= 0 && claimed <= 8 * Math.max(size, 1) + MOST_OF_RUNS), 'a page claims more values than it can hold'); // prettier-ignore
      values += data === undefined ? 0 : claimed;
      reader.offset += packed;
    }
    refuseIf(meta.path_in_schema.length === 1 && values !== Number(rows), 'the pages of a column do not have as many values as rows'); // prettier-ignore
  }
}
