import type { Sheet } from './originals.ts';

/** Kinds of damage to text files, and what the operator must be told about each. */

export interface Damage {
  /** Omitted: applies to any file. */
  readonly applies?: (sheet: Sheet) => boolean;
  readonly make: (sheet: Sheet) => string | Uint8Array;
  /** The message of the refusal; `repaired`: the tape is that of the undamaged file. */
  readonly says: ((sheet: Sheet) => RegExp) | 'repaired';
}

/** The damaged row, from 0. */
const hurt = ({ rows }: Sheet): number => Math.floor(rows.length * 0.6);
/** Its line, from 1. */
const lineOf = (sheet: Sheet): number => sheet.head + hurt(sheet) + 1;
const joined = ({ end }: Sheet, lines: readonly string[]): string => `${lines.join(end)}${end}`;
const withCells = (sheet: Sheet, change: (cells: string[]) => readonly string[]): string =>
  joined(
    sheet,
    sheet.lines.map((line, n) => (n === lineOf(sheet) - 1 ? change(line.split(',')).join(',') : line)),
  );
const withCell = (sheet: Sheet, place: number, change: (cell: string) => string): string =>
  withCells(sheet, (cells) => cells.map((cell, n) => (n === place ? change(cell) : cell)));
const before = (sheet: Sheet, line: string): string =>
  joined(sheet, sheet.lines.toSpliced(lineOf(sheet) - 1, 0, line));
const everyRow = (sheet: Sheet, change: (cells: readonly string[]) => string): string =>
  joined(
    sheet,
    sheet.lines.map((line, n) => (n < sheet.head ? line : change(line.split(',')))),
  );
const at = (sheet: Sheet, why: string): RegExp => new RegExp(`:${lineOf(sheet)}: ${why}`, 'u');
const price = (change: string | ((cell: string) => string), why?: string): Damage => ({
  make: (sheet) =>
    withCell(sheet, sheet.at.close, (cell) => (typeof change === 'string' ? change : change(cell))),
  says: (sheet) => at(sheet, why ?? `expected a price, got "${typeof change === 'string' ? change : ''}`),
});
const isBars = ({ at: { open } }: Sheet): boolean => open !== undefined;
const width = ({ rows }: Sheet): number => rows[0]?.length ?? 0;

export const damages: Readonly<Record<string, Damage>> = {
  'a cell is missing': {
    make: (sheet) => withCells(sheet, (cells) => cells.slice(0, -1)),
    says: (sheet) => at(sheet, `${width(sheet) - 1} cells instead of ${width(sheet)}`),
  },
  'a row has an extra cell': {
    make: (sheet) => withCells(sheet, (cells) => [...cells, '1']),
    says: (sheet) => at(sheet, `more than ${width(sheet)} cells`),
  },
  'two rows are exchanged': {
    applies: ({ isOrdered = true }) => isOrdered,
    make: (sheet) => {
      const [a, b] = [sheet.head, lineOf(sheet) - 1];
      return joined(sheet, sheet.lines.with(a, sheet.lines[b] ?? '').with(b, sheet.lines[a] ?? ''));
    },
    says: () => /:\d+: its time \S+ is (?:after|before) the time of the previous row/u,
  },
  'a row occurs twice': {
    applies: isBars,
    make: (sheet) => before(sheet, sheet.lines[lineOf(sheet) - 1] ?? ''),
    says: 'repaired',
  },
  'a time occurs twice with different figures': {
    applies: isBars,
    make: (sheet) => before(sheet, sheet.rows[hurt(sheet)]?.with(sheet.at.low ?? 0, '0.0001').join(',') ?? ''),
    says: () => /:\d+: its time \S+ appears at \S+:\d+ with other figures|its ask \S+ is below its bid/u,
  },
  'a price is not a number': price('n/a'),
  'a price has two decimal points': price('1.2.3'),
  'a price is below zero': price((cell) => `-${cell}`, 'expected a price, got "-'),
  'a price is zero': {
    ...price('0', 'its (?:open|low|close) 0 is not a price above zero'),
    applies: ({ prices }) => prices === undefined,
  },
  'a price is NaN': price('NaN', '(?:expected a price, got "NaN"|1 of its four prices are empty)'),
  'a price is empty': price('', '(?:expected a price, got ""|1 of its four prices are empty)'),
  'a price lost its digits in a spreadsheet': price('6.7E+04', String.raw`the price 6\.7E\+04 has lost digits`),
  'a price has thousands separators': price('"1,234.5"', 'expected a plain number, date or name, got "1,234.5"'),
  'a high is below its low': {
    applies: ({ at: { high }, prices }) => high !== undefined && prices === undefined,
    make: (sheet) => withCell(sheet, sheet.at.high ?? 0, () => String(Number(sheet.rows[hurt(sheet)]?.[sheet.at.low ?? 0]) / 2)),
    says: () => /:\d+: its (?:high|low) \S+ is (?:below|above) its/u,
  },
  'a bid is above its ask': {
    applies: ({ prices }) => prices !== undefined,
    make: (sheet) => withCell(sheet, sheet.at.close, (cell) => String(Number(cell) * 2)),
    says: (sheet) => at(sheet, 'its ask \\S+ is below its bid'),
  },
  'one time is in another unit': {
    applies: ({ timeIs }) => timeIs !== 'text',
    make: (sheet) => withCell(sheet, sheet.at.time, (cell) => `${cell}000`),
    says: () => /:\d+: (?:its time \S+ is (?:after|before) the time of the previous row|expected milliseconds since midnight)/u,
  },
  'a time is invalid': {
    make: (sheet) => withCell(sheet, sheet.at.time, () => 'soon'),
    says: (sheet) => at(sheet, 'expected a time, got "soon'),
  },
  'its times were rounded by a spreadsheet': {
    applies: ({ timeIs }) => timeIs === 'unix',
    make: (sheet) => everyRow(sheet, (cells) => cells.with(sheet.at.time, Number(cells[sheet.at.time]).toExponential(5).replace('e+', 'E+')).join(',')),
    says: () => /expected a time, got "\d\.\d+E\+|its times, such as "\d\.\d+E\+|no known layout: it begins "\d\.\d+E\+/u,
  },
  'its dates have the day first': {
    applies: ({ rows, at: { time } }) => /^\d{4}-/u.test(rows[0]?.[time] ?? ''),
    make: (sheet) => everyRow(sheet, (cells) => cells.with(sheet.at.time, (cells[sheet.at.time] ?? '').replace(/^(\d+)-(\d+)-(\d+)/u, '$3/$2/$1')).join(',')),
    says: () => /expected a time, got "\d\d\/|its times, such as "\d\d\/|its dates read "\d\d\//u,
  },
  'the close column is missing': {
    make: (sheet) => joined(sheet, sheet.lines.map((line, n) => (n < sheet.head - 1 ? line : line.split(',').toSpliced(sheet.at.close, 1).join(',')))),
    says: () => /names no close|no known layout/u,
  },
  'it has decimal commas': {
    make: (sheet) => joined(sheet, sheet.lines.map((line, n) => (n < sheet.head ? line : line.replaceAll('.', '_').replaceAll(',', ';').replaceAll('_', ',')).replaceAll(n < sheet.head ? ',' : '', n < sheet.head ? ';' : ''))),
    says: () => /got "\d+,\d+"|(?:reads?|its times, such as) "[^"]*,|no known layout: it begins/u,
  },
  'its cells are separated by |': {
    make: (sheet) => joined(sheet, sheet.lines.map((line) => line.replaceAll(',', '|'))),
    says: () => /no known layout: it begins|names no/u,
  },
  'its header is repeated between rows': {
    applies: ({ head }) => head > 0,
    make: (sheet) => before(sheet, sheet.lines[sheet.head - 1] ?? ''),
    says: (sheet) => at(sheet, 'expected a time, got "'),
  },
  'an empty line is between rows': {
    make: (sheet) => before(sheet, ''),
    says: (sheet) => at(sheet, 'an empty line between rows'),
  },
  'an error page of a server follows it': {
    make: (sheet) => joined(sheet, [...sheet.lines, '<html><body>504 Gateway Time-out</body></html>']),
    says: ({ lines }) => new RegExp(`:${lines.length + 1}: (?:expected a time, got "<html>|1 cells)`, 'u'),
  },
  'a line with totals follows it': {
    make: (sheet) => joined(sheet, [...sheet.lines, `Total${','.repeat(width(sheet) - 1)}`]),
    says: ({ lines }) => new RegExp(`:${lines.length + 1}: expected a time`, 'u'),
  },
  'it ends with zero bytes': {
    make: (sheet) => `${joined(sheet, sheet.lines.slice(0, lineOf(sheet)))}${'\0'.repeat(64)}`,
    says: (sheet) => new RegExp(`:${lineOf(sheet) + 1}: contains zero bytes|is binary`, 'u'),
  },
  'it is UTF-16': {
    make: (sheet) => Buffer.from(`\uFEFF${joined(sheet, sheet.lines)}`, 'utf16le'),
    says: () => /is UTF-16: save it as UTF-8/u,
  },
  'it has a byte order mark and Windows line ends': {
    make: ({ lines }) => `\uFEFF${lines.join('\r\n')}\r\n`,
    says: 'repaired',
  },
  'it has old Mac line ends': {
    make: ({ lines }) => `${lines.join('\r')}\r`,
    says: 'repaired',
  },
  'its cells are separated by semicolons or tabs': {
    make: (sheet) => joined(sheet, sheet.lines.map((line) => line.replaceAll(',', sheet.name.length % 2 === 0 ? ';' : '\t'))),
    says: 'repaired',
  },
  'its cells are quoted, with blanks around them': {
    make: (sheet) => joined(sheet, sheet.lines.map((line, n) => (n < sheet.head - 1 ? line : line.split(',').map((cell) => `"${cell} "`).join(',')))),
    says: 'repaired',
  },
}; // prettier-ignore
