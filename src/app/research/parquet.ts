import { renameSync, rmSync } from 'node:fs';
import type { SchemaElement } from 'hyparquet-writer';
import { fileWriter, parquetWriteRows, schemaFromColumnData } from 'hyparquet-writer';
import { OperatorError } from '../../core/errors.ts';
import { fixedEven, money } from '../../core/money.ts';
import { createPrivate } from '../../journal/sqlite/files.ts';

/** A cell: a whole number, a time, text, an amount as text, or nothing. */
export type Cell = bigint | number | Date | string | undefined;

export interface ParquetColumn {
  readonly name: string;
  readonly type: 'INT32' | 'TIMESTAMP' | 'STRING' | 'DECIMAL';
  readonly nullable: boolean;
}

/**
 * `DECIMAL(38, 18)`, which Parquet readers represent exactly. Amounts are rounded to 18 decimals, with 20 digits before
 * the point.
 */
const [PRECISION, SCALE] = [38, 18];
const BYTES = 16;

/** Converts an amount to the whole number of units that a decimal column stores. */
function unitsOf(amount: string): bigint {
  const units = BigInt(fixedEven(money(amount), SCALE).replace('.', ''));
  if (units.toString().replace('-', '').length <= PRECISION) return units;
  throw new OperatorError(
    'storage',
    `${amount} has more digits than a decimal of Parquet (${PRECISION}): use CSV`,
  );
}

const elementOf = ({ name, nullable }: ParquetColumn): SchemaElement => ({
  name,
  type: 'FIXED_LEN_BYTE_ARRAY',
  type_length: BYTES,
  repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED',
  converted_type: 'DECIMAL',
  logical_type: { type: 'DECIMAL', precision: PRECISION, scale: SCALE },
  precision: PRECISION,
  scale: SCALE,
});

/**
 * Writes rows as one Parquet file that only its owner can read, and replaces an existing file once the new one is complete. Holds one group
 * of rows in memory at a time.
 *
 * @throws OperatorError `storage` if the file cannot be written.
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
    const decimals = columns.filter(({ type }) => type === 'DECIMAL');
    await parquetWriteRows({
      writer: fileWriter(part),
      rows: withUnits(rows, decimals),
      columns: columns.map(({ name }) => ({ name })),
      schema: schemaOf(columns),
      rowGroupSize: 10_000,
      createdBy: 'tranche',
    });
    renameSync(part, file);
  } catch (cause) {
    throw notWritten(file, cause);
  }
}

const schemaOf = (columns: readonly ParquetColumn[]): SchemaElement[] =>
  schemaFromColumnData({
    columnData: columns.map((column) => {
      const { name, type, nullable } = column;
      return type === 'DECIMAL' ? { name, data: [] } : { name, data: [], type, nullable };
    }),
    schemaOverrides: Object.fromEntries(
      columns.filter(({ type }) => type === 'DECIMAL').map((column) => [column.name, elementOf(column)]),
    ),
  });

function* withUnits(
  rows: Iterable<Record<string, Cell>>,
  decimals: readonly ParquetColumn[],
): Iterable<Record<string, Cell>> {
  for (const row of rows) {
    const units = decimals.map(({ name }) => [name, typeof row[name] === 'string' ? unitsOf(row[name]) : undefined] as const); // prettier-ignore
    yield { ...row, ...Object.fromEntries(units) };
  }
}

/** Removes the unfinished `.part` file. Returns the error to throw, an `OperatorError` if the system reported it. */
export function notWritten(file: string, cause: unknown): unknown {
  try {
    rmSync(`${file}.part`, { force: true });
  } catch {
    // Best effort, because the error to report is that of the failed write.
  }
  if (!(cause instanceof Error && 'code' in cause)) return cause;
  return new OperatorError('storage', `${file} cannot be written: ${cause.message}`, cause);
}
