import { renameSync, rmSync } from 'node:fs';
import { fileWriter, parquetWriteRows } from 'hyparquet-writer';
import { OperatorError } from '../../core/errors.ts';
import { createPrivate } from '../../journal/files.ts';
import { HISTORY_COLUMNS } from '../../journal/history.ts';
import type { HistoryRow } from '../../journal/history.ts';

type Cell = bigint | Date | string | undefined;

const columns = HISTORY_COLUMNS.map((name) => {
  if (name === 'id') return { name, type: 'INT64' as const, nullable: false };
  if (name === 'at') return { name: 'time', type: 'TIMESTAMP' as const, nullable: false };
  return { name, type: 'STRING' as const, nullable: true };
});

/**
 * Writes transactions as one Parquet file that only its owner reads. `id` is INT64, `time` a TIMESTAMP in ms of UTC, all else
 * STRING, so that amounts keep every digit; what the venue leaves out is null. A file of that name is replaced once the
 * new one is whole. Memory holds one group of rows, not all.
 *
 * @throws OperatorError `storage` when the file cannot be written.
 */
export async function writeParquet(file: string, rows: Iterable<HistoryRow>): Promise<void> {
  const part = `${file}.part`;
  try {
    rmSync(part, { force: true });
    createPrivate(part);
    await parquetWriteRows({
      writer: fileWriter(part),
      rows: cells(rows),
      columns,
      rowGroupSize: 10_000,
      createdBy: 'tranche',
    });
    renameSync(part, file);
  } catch (cause) {
    // Best effort: the reason that is told is why it could not be written.
    rmSync(part, { force: true });
    if (cause instanceof Error && 'code' in cause)
      throw new OperatorError('storage', `${file} cannot be written: ${cause.message}`, cause);
    throw cause;
  }
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
