import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { escapeMarks } from '../../core/text/escape.ts';
import { text } from '../../core/money.ts';
import { csvRow, FILL_COLUMNS, fillRow, otherFeesText } from '../../journal/export.ts';
import { createPrivate } from '../../journal/sqlite/files.ts';
import type { FillRow } from '../../report/figures/fill-figures.ts';
import type { Figures } from '../../report/figures/figures.ts';
import { reportOf } from '../../report/json/json.ts';
import type { Report } from '../../report/json/schema.ts';
import type { Cell } from './parquet.ts';

/** Files of a report. Scripts rely on the names. */
export const REPORT_FILES = ['report.html', 'report.json', 'fills.csv', 'fills.parquet'] as const;

export interface WriteOptions {
  readonly overwrite?: boolean | undefined;
}

/**
 * Writes the files of a report into a folder, and creates the folder if it is missing. Replaces each file once the new
 * one is complete; only the owner can read the files. Returns the content of `report.json`.
 *
 * @throws OperatorError `usage` if a file exists and must not be replaced, `storage` if one cannot be written.
 */
export async function writeReport(
  figures: Figures,
  folder: string,
  options: WriteOptions = {},
): Promise<Report> {
  refuseToReplace(folder, options);
  // A command that prints a report without files needs neither the page nor Parquet.
  const { reportHtml } = await import('../../report/html/html.ts');
  const { writeParquetFile } = await import('./parquet.ts');
  const report = reportOf(figures);
  await writePrivate(join(folder, 'report.html'), reportHtml(report, figures));
  await writePrivate(join(folder, 'report.json'), reportText(report));
  await writePrivate(join(folder, 'fills.csv'), fillsCsv(figures.fillRows));
  await writeParquetFile(join(folder, 'fills.parquet'), parquetColumns, cells(figures.fillRows));
  return report;
}

/** Writes a file that only its owner can read; replaces an existing one once the new one is complete. @throws OperatorError `storage`. */
export async function writePrivate(file: string, content: string): Promise<void> {
  const part = `${file}.part`;
  try {
    createPrivate(part);
    writeFileSync(part, content);
    renameSync(part, file);
  } catch (cause) {
    throw (await import('./parquet.ts')).notWritten(file, cause);
  }
}

/** Refuses, before long work, a folder that already contains a report. @throws OperatorError `usage`. */
export function refuseToReplace(
  folder: string,
  { overwrite }: WriteOptions,
  names: readonly string[] = REPORT_FILES,
): void {
  if (overwrite === true) return;
  const there = names.filter((name) => existsSync(join(folder, name)));
  if (there.length > 0)
    throw new OperatorError(
      'usage',
      `${folder} already contains a report (${there.join(', ')}): name another folder with --out, or add --overwrite`,
    );
}

/** Returns the text of `report.json`. */
export const reportText = (report: Report): string =>
  `${escapeMarks(JSON.stringify(report, undefined, 2))}\n`;

/** Columns of `journal export`, and the figures that judge a fill. Scripts rely on the names and their order. */
export const REPORT_FILL_COLUMNS = [
  ...FILL_COLUMNS,
  'reference_price',
  'spread',
  'cost',
  'other_fees',
] as const;
type FillColumn = (typeof REPORT_FILL_COLUMNS)[number];

const AMOUNTS: ReadonlySet<FillColumn> = new Set<FillColumn>(['quantity', 'price', 'amount', 'fees', 'reference_price', 'spread', 'cost']); // prettier-ignore

const parquetColumns = REPORT_FILL_COLUMNS.map((name) => {
  if (name === 'executed_at') return { name, type: 'TIMESTAMP' as const, nullable: false };
  if (name === 'slice' || name === 'attempt') return { name, type: 'INT32' as const, nullable: false };
  const nullable = !isIn(FILL_COLUMNS, name);
  return { name, type: AMOUNTS.has(name) ? ('DECIMAL' as const) : ('STRING' as const), nullable };
});

function isIn(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

const judged = ({ reference, spread, cost }: FillRow): Readonly<Record<string, string | undefined>> => ({
  reference_price: reference,
  spread: spread && text(spread),
  cost: cost && text(cost),
});

function fillsCsv(fills: readonly FillRow[]): string {
  const rows = fills.map((fill) => {
    const row = { ...fillRow(fill.record), ...judged(fill) };
    return csvRow(REPORT_FILL_COLUMNS.map((column) => row[column]));
  });
  return [csvRow(REPORT_FILL_COLUMNS), ...rows].join('');
}

function* cells(fills: Iterable<FillRow>): Iterable<Record<string, Cell>> {
  for (const fill of fills) {
    const { record } = fill;
    const own = FILL_COLUMNS.map((name): [string, Cell] => [
      name,
      name === 'executed_at' ? new Date(record.executed_at) : record[name],
    ]);
    yield { ...Object.fromEntries(own), ...judged(fill), other_fees: otherFeesText(record) };
  }
}
