import { HISTORY_COLUMNS } from '../../../journal/account-history.ts';
import type { HistoryRow } from '../../../journal/account-history.ts';
import { writeParquetFile } from '../../research/parquet.ts';
import type { Cell } from '../../research/parquet.ts';

/** Columns of decimals; the other columns hold text, except `id` and `at`. */
const AMOUNTS: ReadonlySet<string> = new Set(['amount', 'price', 'fees', 'transfer_fee', 'balance']);

const columns = HISTORY_COLUMNS.map((name) => {
  if (name === 'id') return { name, type: 'INT64' as const, nullable: false };
  if (name === 'at') return { name: 'time', type: 'TIMESTAMP' as const, nullable: false };
  return { name, type: AMOUNTS.has(name) ? ('DECIMAL' as const) : ('STRING' as const), nullable: true };
});

/**
 * Writes transactions as one Parquet file. `id` is INT64, `time` is TIMESTAMP (UTC, milliseconds), amounts are
 * decimals, everything else is STRING; values that the venue omits are null.
 *
 * @throws OperatorError `storage` when the file cannot be written.
 */
export async function writeParquet(file: string, rows: Iterable<HistoryRow>): Promise<void> {
  await writeParquetFile(file, columns, cells(rows));
}

function* cells(rows: Iterable<HistoryRow>): Iterable<Record<string, Cell>> {
  for (const row of rows)
    yield Object.fromEntries(
      HISTORY_COLUMNS.map((name): [string, Cell] => {
        if (name === 'id') return [name, BigInt(row.id)];
        if (name === 'at') return ['time', new Date(row.at)];
        return [name, row[name] === '' ? undefined : row[name]];
      }),
    );
}
