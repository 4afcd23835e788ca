import type { Entry } from '../../accounting/subledger.ts';
import { writeParquetFile } from '../research/parquet.ts';
import type { Cell } from '../research/parquet.ts';
import { POSTING_COLUMNS, postingRows } from './posting-rows.ts';

const TYPES: Readonly<Record<string, 'TIMESTAMP' | 'DECIMAL' | 'INT64'>> = {
  at: 'TIMESTAMP',
  acquired_at: 'TIMESTAMP',
  quantity: 'DECIMAL',
  value: 'DECIMAL',
  record: 'INT64',
  closing: 'INT64',
  provisional_until: 'TIMESTAMP',
};

const columns = POSTING_COLUMNS.map((name) => ({
  name,
  type: TYPES[name] ?? ('STRING' as const),
  nullable: true,
}));

/**
 * Writes postings as one Parquet file: times as TIMESTAMP (UTC, milliseconds), amounts as decimals, `record` and
 * `closing` as INT64, everything else as STRING.
 *
 * @throws OperatorError `storage` when the file cannot be written.
 */
export async function writeEntries(file: string, entries: Iterable<Entry>): Promise<void> {
  await writeParquetFile(file, columns, cells(entries));
}

function* cells(entries: Iterable<Entry>): Iterable<Record<string, Cell>> {
  for (const row of postingRows(entries))
    yield Object.fromEntries(POSTING_COLUMNS.map((name): [string, Cell] => [name, cellOf(name, row[name])]));
}

function cellOf(name: string, value: string | number | undefined): Cell {
  if (value === undefined || value === '') return undefined;
  if (TYPES[name] === 'TIMESTAMP') return new Date(value);
  return TYPES[name] === 'INT64' ? BigInt(value) : String(value);
}
