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

/** Titles of the parts, in the order of the page. */
const PARTS: Readonly<Record<string, string>> = {
  costs: 'Costs of one parent: `parents[].costs`',
  sums: 'Costs of several parents: the sums of all fields of [costs](#costs), and',
  quoting: 'Quotes and orders',
  fills: 'Fills',
  group: 'Parents of one strategy, pair and side: `groups[]`',
  parent: 'One parent: `parents[]`',
  slice: 'One slice: `parents[].slices[]`',
  portfolio: 'One portfolio: `portfolios[]`',
  valuation: 'A portfolio at one moment: `start`, `end`',
  course: 'A portfolio over time: `course`',
  gap: 'Why a portfolio did not earn what its targets did: `course.gap`',
  at_costs: 'A figure if the same fills had cost more or less: `at_costs[]`',
  tearsheet: 'Figures of a portfolio and of what its targets would have done: `course.tearsheet`',
  performance: 'One series of returns: `tearsheet`',
  backtest: 'Settings and result of a backtest: `backtest`',
  oversight: 'What a supervisor asks, with `--oversight`: `oversight`',
};
const STATISTICS = `### statistics

Summary of measurements, in the unit of the field: \`count\` (integer), \`mean\`, \`median\` (the ⌈n/2⌉-th smallest), \`p95\` (the
⌈0.95·n⌉-th smallest), \`max\` (numbers; the mean is rounded to the nearest of three decimals).`;
const STATISTIC_FIELDS = 'count,mean,median,p95,max';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const partOf = ({ $ref }: Shape): string => ($ref ?? '').replace('#/$defs/', '');

const isStatistics = ({ properties = {} }: Shape): boolean =>
  Object.keys(properties).join(',') === STATISTIC_FIELDS;

function typeOf(field: Shape): string {
  if (isStatistics(field)) return '[statistics](#statistics)';
  if (field.$ref !== undefined) return `[${partOf(field)}](#${partOf(field)})`;
  if (field.items !== undefined) return `list of ${typeOf(field.items)}`;
  if (field.enum !== undefined) return field.enum.map((value) => `\`${value}\``).join(', ');
  if (field.type === 'string') return 'text';
  return field.type ?? 'any';
}

/** Returns one row per field, followed by the rows of the fields inside it. */
function rows(shape: Shape, prefix = ''): readonly string[] {
  const { properties = {}, additionalProperties: other } = shape;
  const named = Object.entries(properties).flatMap(([name, field]) => {
    const isSure = shape.required?.includes(name) === true;
    const path = `${prefix}${name}`;
    return [
      `| \`${path}\`${isSure ? '' : ' ?'} | ${typeOf(field)} | ${cell(field.description ?? '')} |`,
      ...(isStatistics(field) ? [] : rowsInside(field, path)),
    ];
  });
  if (typeof other !== 'object') return named;
  return [...named, `| \`${prefix}*\` | ${typeOf(other)} | ${cell(other.description ?? '')} |`];
}

const rowsInside = (field: Shape, path: string): readonly string[] =>
  field.items === undefined ? rows(field, `${path}.`) : rows(field.items, `${path}[].`);

const tableOf = (lines: readonly string[]): string =>
  ['| field | type | description |', '| --- | --- | --- |', ...lines].join('\n');

/** Returns the tables of the report and of each of its named parts. */
export function reportTables(): string {
  const schema = jsonSchema('report') as Shape;
  const parts = schema.$defs ?? {};
  const missing = Object.keys(parts).filter((name) => PARTS[name] === undefined);
  if (missing.length > 0)
    throw new Error(`scripts/document-report.ts does not describe ${missing.join(', ')}`);
  const costs = new Set(rows(parts['costs'] ?? {}));
  const linesOf = (name: string): readonly string[] =>
    rows(parts[name] ?? {}).filter((line) => name !== 'sums' || !costs.has(line));
  return [
    tableOf(rows(schema)),
    ...Object.entries(PARTS).map(([name, what]) => `### ${name}\n\n${what}\n\n${tableOf(linesOf(name))}`),
    STATISTICS,
  ].join('\n\n');
}

/** Returns `page` with the tables between their marks. The formatter would pad every cell to the widest one. */
export function withReportTables(page: string): string {
  const marks = /(<!-- fields: report -->\n)[^]*?(<!-- \/fields -->)/u;
  if (!marks.test(page)) throw new Error('docs/report.md has no place for its tables');
  const tables = `<!-- prettier-ignore-start -->\n\n${reportTables()}\n\n<!-- prettier-ignore-end -->`;
  return page.replace(marks, (_, from: string, to: string) => `${from}${tables}\n${to}`);
}

if (import.meta.main) {
  const file = new URL('../docs/report.md', import.meta.url);
  writeFileSync(file, withReportTables(readFileSync(file, 'utf8')));
  process.stderr.write('wrote docs/report.md\n');
}
