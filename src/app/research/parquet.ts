import { renameSync, rmSync } from 'node:fs';
import { fileWriter, parquetWriteRows } from 'hyparquet-writer';
import { OperatorError } from '../../core/errors.ts';
import { createPrivate } from '../../journal/sqlite/files.ts';

/** A cell: whole numbers, times, text that keeps every digit, or nothing. */
export type Cell = bigint | number | Date | string | undefined;

export interface ParquetColumn {
  readonly name: string;
  readonly type: 'INT32' | 'INT64' | 'TIMESTAMP' | 'STRING';
  readonly nullable: boolean;
}

/**
 * Writes rows as one Parquet file that only its owner reads. A file of that name is replaced once the new one is whole. Memory
 * holds one group of rows, not all.
 *
 * @throws OperatorError `storage` when the file cannot be written.
 */
export async function writeParquetFile(
  file: string,
  columns: readonly ParquetColumn[],
  rows: Iterable<Record<string, Cell>>,
): Promise<void> {
  const part = `${file}.part`;
  try {
    rmSync(part, { force: true });
    createPrivate(part);
    await parquetWriteRows({
      writer: fileWriter(part),
      rows,
      columns: [...columns],
      rowGroupSize: 10_000,
      createdBy: 'tranche',
    });
    renameSync(part, file);
  } catch (cause) {
    throw notWritten(file, cause);
  }
}

/** Takes the unfinished `.part` of a file away, and gives what to throw: in words when the system refused it. */
export function notWritten(file: string, cause: unknown): unknown {
  try {
    rmSync(`${file}.part`, { force: true });
  } catch {
    // Best effort: the reason that is told is why it could not be written.
  }
  if (!(cause instanceof Error && 'code' in cause)) return cause;
  return new OperatorError('storage', `${file} cannot be written: ${cause.message}`, cause);
}
