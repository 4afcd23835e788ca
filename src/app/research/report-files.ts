import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { escapeMarks } from '../../core/escape.ts';
import type { FillRecord } from '../../core/record.ts';
import { FILL_COLUMNS, fillLines } from '../../journal/export.ts';
import { createPrivate } from '../../journal/sqlite/files.ts';
import type { Figures } from '../../report/figures/figures.ts';
import { reportOf } from '../../report/json/json.ts';
import type { Report } from '../../report/json/schema.ts';
import type { Cell } from './parquet.ts';

/** What a report consists of. Scripts rely on the names. */
export const REPORT_FILES = ['report.html', 'report.json', 'fills.csv', 'fills.parquet'] as const;

export interface WriteOptions {
  readonly overwrite?: boolean | undefined;
}

/**
 * Writes the files of a report into a folder, which is made when it is missing. Each file is replaced once the new one is
 * whole; only their owner reads them. Gives what `report.json` holds.
 *
 * @throws OperatorError `usage` when one of the files is there and must not be replaced, `storage` when one cannot be written.
 */
export async function writeReport(
  figures: Figures,
  folder: string,
  options: WriteOptions = {},
): Promise<Report> {
  refuseToReplace(folder, options);
  // Who prints a report and keeps no files needs neither page nor Parquet.
  const { reportHtml } = await import('../../report/html/html.ts');
  const { notWritten, writeParquetFile } = await import('./parquet.ts');
  const writeText = (file: string, content: string): void => {
    const part = `${file}.part`;
    try {
      createPrivate(part);
      writeFileSync(part, content);
      renameSync(part, file);
    } catch (cause) {
      throw notWritten(file, cause);
    }
  };
  const report = reportOf(figures);
  writeText(join(folder, 'report.html'), reportHtml(report, figures));
  writeText(join(folder, 'report.json'), reportText(report));
  writeText(join(folder, 'fills.csv'), [...fillLines(figures.fills)].join(''));
  await writeParquetFile(join(folder, 'fills.parquet'), parquetColumns, cells(figures.fills));
  return report;
}

/** Before long work: says early what `writeReport` would say late. @throws OperatorError `usage`. */
export function refuseToReplace(folder: string, { overwrite }: WriteOptions): void {
  if (overwrite === true) return;
  const there = REPORT_FILES.filter((name) => existsSync(join(folder, name)));
  if (there.length > 0)
    throw new OperatorError(
      'usage',
      `${folder} already contains a report (${there.join(', ')}): name another folder with --out, or add --overwrite`,
    );
}

/** The text of `report.json`. */
export const reportText = (report: Report): string =>
  `${escapeMarks(JSON.stringify(report, undefined, 2))}\n`;

const parquetColumns = FILL_COLUMNS.map((name) => {
  if (name === 'executed_at') return { name, type: 'TIMESTAMP' as const, nullable: false };
  if (name === 'slice' || name === 'attempt') return { name, type: 'INT32' as const, nullable: false };
  return { name, type: 'STRING' as const, nullable: false };
});

function* cells(fills: Iterable<FillRecord>): Iterable<Record<string, Cell>> {
  for (const fill of fills)
    yield Object.fromEntries(
      FILL_COLUMNS.map((name): [string, Cell] => [
        name,
        name === 'executed_at' ? new Date(fill.executed_at) : fill[name],
      ]),
    );
}
