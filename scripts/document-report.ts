/** Writes the tables of the fields of `report.json` in docs/report.md from its schema. */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { jsonSchema } from '../src/app/config/schema.ts';

interface Shape {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Shape>>;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly items?: Shape;
  readonly type?: string;
  readonly enum?: readonly string[];
}

/** What each part is, in the order in which they are told. */
const PARTS: Readonly<Record<string, string>> = {
  sums: 'Costs of many parents',
  costs: 'Costs of one parent: `parents[].costs`',
  quoting: 'Quotes',
  fills: 'Fills',
  group: 'A group: `groups[]`',
  parent: 'A parent: `parents[]`',
  slice: 'A slice: `parents[].slices[]`',
  portfolio: 'A portfolio: `portfolios[]`',
  valuation: 'A portfolio at a moment: `start`, `end`',
  course: 'A portfolio from point to point: `course`',
  backtest: 'How a backtest was made: `backtest`',
  bootstrap: 'Intervals of a backtest: `bootstrap`',
};

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const partOf = ({ $ref }: Shape): string => ($ref ?? '').replace('#/$defs/', '');

function typeOf(field: Shape): string {
  if (field.$ref !== undefined) return `[${partOf(field)}](#${partOf(field)})`;
  if (field.items !== undefined) return `list of ${typeOf(field.items)}`;
  if (field.enum !== undefined) return field.enum.map((value) => `\`${value}\``).join(', ');
  if (field.type === 'string') return 'text';
  return field.type ?? 'any';
}

/** One row a field, those below it after it. */
function rows(shape: Shape, prefix = ''): readonly string[] {
  const { properties = {}, additionalProperties: other } = shape;
  const named = Object.entries(properties).flatMap(([name, field]) => {
    const isSure = shape.required?.includes(name) === true;
    const path = `${prefix}${name}`;
    return [
      `| \`${path}\`${isSure ? '' : ' ?'} | ${typeOf(field)} | ${cell(field.description ?? '')} |`,
      ...(field.items === undefined ? rows(field, `${path}.`) : rows(field.items, `${path}[].`)),
    ];
  });
  if (typeof other !== 'object') return named;
  return [...named, `| \`${prefix}*\` | ${typeOf(other)} | ${cell(other.description ?? '')} |`];
}

const tableOf = (shape: Shape): string =>
  ['| field | type | what it is |', '| --- | --- | --- |', ...rows(shape)].join('\n');

/** The tables of the report and of each of its named parts. */
export function reportTables(): string {
  const schema = jsonSchema('report') as Shape;
  const parts = schema.$defs ?? {};
  const untold = Object.keys(parts).filter((name) => PARTS[name] === undefined);
  if (untold.length > 0)
    throw new Error(`scripts/document-report.ts does not tell what ${untold.join(', ')} is`);
  return [
    tableOf(schema),
    ...Object.entries(PARTS).map(([name, what]) => `### ${name}\n\n${what}\n\n${tableOf(parts[name] ?? {})}`),
  ].join('\n\n');
}

/** `page` with the tables between their marks. */
export function withReportTables(page: string): string {
  const marks = /(<!-- fields: report -->\n)[^]*?(<!-- \/fields -->)/u;
  if (!marks.test(page)) throw new Error('docs/report.md has no place for its tables');
  return page.replace(marks, (_, from: string, to: string) => `${from}\n${reportTables()}\n\n${to}`);
}

if (import.meta.main) {
  const file = new URL('../docs/report.md', import.meta.url);
  writeFileSync(file, withReportTables(readFileSync(file, 'utf8')));
  process.stderr.write('wrote docs/report.md\n');
}
