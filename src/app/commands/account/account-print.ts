import { escapeMarks, forTerminal } from '../../../core/text/escape.ts';
import { csvRow } from '../../../journal/export.ts';
import type { Out } from '../io.ts';

/** Content of a cell: amounts as text with every digit; `undefined` for an empty cell. */
export type Cell = string | number | boolean | undefined;

/** A column of a list. JSON and CSV show its `name`; the table shows it with spaces. */
export interface Column<Row> {
  readonly name: string;
  readonly of: (row: Row) => Cell;
  /** Figures are right-aligned. */
  readonly align?: 'right' | undefined;
  /** Not shown in the table: too wide for a terminal, or useful only to programs. */
  readonly hidden?: boolean | undefined;
}

export interface PrintOptions {
  /** Prints one JSON object per row. */
  readonly json?: boolean | undefined;
  readonly csv?: boolean | undefined;
}

export const column = <Row>(name: string, of: (row: Row) => Cell): Column<Row> => ({ name, of });
export const figure = <Row>(name: string, of: (row: Row) => Cell): Column<Row> => ({
  name,
  of,
  align: 'right',
});
export const hidden = <Row>(name: string, of: (row: Row) => Cell): Column<Row> => ({
  name,
  of,
  hidden: true,
});

/** Prints rows as a table for people, or as JSON or CSV for programs. Prints `none` instead of an empty table. */
export function printRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { json, csv, none, out }: PrintOptions & { readonly none: string; readonly out: Out },
): void {
  if (json === true) {
    for (const row of rows) out.write(`${escapeMarks(JSON.stringify(objectOf(row, columns)))}\n`);
    return;
  }
  if (csv === true) {
    out.write(csvRow(columns.map(({ name }) => name)));
    for (const row of rows) out.write(csvRow(columns.map(({ of }) => textOf(of(row)))));
    return;
  }
  out.write(
    rows.length === 0
      ? `${none}\n`
      : table(
          rows,
          columns.filter((each) => each.hidden !== true),
        ),
  );
}

/** Prints one object: one line per field for people, one row for programs. */
export function printOne<Row>(
  row: Row,
  columns: readonly Column<Row>[],
  options: PrintOptions & { readonly out: Out },
): void {
  if (options.json === true || options.csv === true) {
    printRows([row], columns, { ...options, none: '' });
    return;
  }
  const shown = columns.filter(({ of }) => textOf(of(row)) !== '');
  const wide = Math.max(...shown.map(({ name }) => name.length));
  for (const { name, of } of shown)
    options.out.write(`${titleOf(name).padEnd(wide)}  ${safe(textOf(of(row)))}\n`);
}

const objectOf = <Row>(row: Row, columns: readonly Column<Row>[]): object =>
  Object.fromEntries(columns.map(({ name, of }) => [name, of(row)]));

const textOf = (cell: Cell): string => (cell === undefined ? '' : String(cell));
const titleOf = (name: string): string => name.replaceAll('_', ' ');

function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [
    columns.map(({ name }) => titleOf(name)),
    ...rows.map((row) => columns.map(({ of }) => safe(textOf(of(row))))),
  ];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => width(line[at] ?? ''))));
  return lines
    .map((line) =>
      line
        .map((cell, at) => {
          const room = ' '.repeat((widths[at] ?? 0) - width(cell));
          return columns[at]?.align === 'right' ? room + cell : cell + room;
        })
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

const width = (text: string): number => Array.from(text).length;

/** Text from the venue must not move the terminal's cursor or change the text direction. */
export const safe = forTerminal;

const BARS = '▁▂▃▄▅▆▇█';
const BARS_MAX = 80;

/**
 * Returns a line of bars, scaled from the lowest to the highest value. Samples a long series evenly and always includes
 * the last value.
 */
export function sparkline(values: readonly number[]): string {
  const count = Math.min(values.length, BARS_MAX);
  const step = count > 1 ? (values.length - 1) / (count - 1) : 0;
  const taken = Array.from({ length: count }, (_, at) => values[Math.round(at * step)] ?? 0);
  const low = Math.min(...taken);
  const span = Math.max(...taken) - low;
  return taken
    .map((value) => BARS[span === 0 ? 3 : Math.round(((value - low) / span) * (BARS.length - 1))] ?? '')
    .join('');
}
