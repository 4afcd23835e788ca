/** Writes the tables of the fields of `report.json` in docs/report.md, and of its headline figures in docs/backtest.md, from its schema. */
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

const tableOf = (lines: readonly string[], head = 'field | type | description'): string =>
  [`| ${head} |`, '| --- | --- | --- |', ...lines].join('\n');

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

/** The figures of the terminal and of `report.html` by the words there: part, and field in it. */
const HEADLINES: readonly (readonly [words: string, part: string, field: string])[] = [
  ['value', 'backtest', 'value_usd'],
  ['worth', 'valuation', 'value'],
  ['return', 'course', 'return'],
  ['money-weighted', 'course', 'money_weighted_return'],
  ['targets held', 'course', 'target_return'],
  ['bought and held', 'performance', 'return'],
  ['drawdown', 'course', 'drawdown'],
  ['CAGR', 'performance', 'cagr'],
  ['volatility', 'performance', 'volatility'],
  ['Sharpe', 'performance', 'sharpe'],
  ['Sortino', 'performance', 'sortino'],
  ['Calmar', 'performance', 'calmar'],
  ['turnover', 'course', 'turnover'],
  ['drift', 'valuation', 'drift'],
  ['largest drift', 'course', 'drift_max'],
  ['mean drift', 'course', 'drift_mean'],
  ['tracking error', 'course', 'tracking_error'],
  ['gain by asset', 'portfolio', 'gains[].gain'],
  ['paid: spread and impact', 'portfolio', 'paid.spread'],
  ['paid: fees', 'portfolio', 'paid.fees'],
  ['paid: interest', 'portfolio', 'paid.interest'],
  ['against the targets held', 'gap', 'total'],
  ['delay', 'costs', 'delay'],
  ['trading', 'costs', 'trading'],
  ['timing', 'costs', 'timing'],
  ['execution', 'costs', 'execution'],
  ['opportunity', 'costs', 'opportunity'],
  ['fees', 'costs', 'fees'],
  ['shortfall', 'costs', 'total'],
  ['the same in basis points', 'costs', 'bps.total'],
  ['slippage', 'costs', 'arrival_slippage_bps'],
  ['half spread', 'fills', 'spread_bps'],
  ['TWAP', 'group', 'twap_slippage_bps'],
  ['VWAP', 'group', 'vwap_slippage_bps'],
  ['mark-out', 'fills', 'mark_outs[].bps'],
];

/** Returns the rows of the headline figures: words, field, and its description. */
export function headlines(): readonly (readonly [words: string, field: string, description: string])[] {
  const schema = jsonSchema('report') as Shape;
  return HEADLINES.map(([words, part, field]) => {
    const found = field.split('.').reduce<Shape | undefined>((shape, name) => {
      const next = shape?.properties?.[name.replace('[]', '')];
      return name.endsWith('[]') ? next?.items : next;
    }, part === '' ? schema : schema.$defs?.[part]);
    if (found?.description === undefined) throw new Error(`report.json has no ${part} ${field}`);
    return [words, part === '' ? `\`${field}\`` : `[${part}](report.md#${part}) \`${field}\``, cell(found.description)];
  });
} // prettier-ignore

/** Returns `page` with tables between the marks of that name. The formatter would pad every cell to the widest one. */
export function withTables(page: string, name: string, tables: string): string {
  const marks = new RegExp(`(<!-- fields: ${name} -->\n)[^]*?(<!-- /fields -->)`, 'u');
  if (!marks.test(page)) throw new Error(`the page has no place for the fields of ${name}`);
  const marked = `<!-- prettier-ignore-start -->\n\n${tables}\n\n<!-- prettier-ignore-end -->`;
  return page.replace(marks, (_, from: string, to: string) => `${from}${marked}\n${to}`);
}
export const withReportTables = (page: string): string => withTables(page, 'report', reportTables());
export const withHeadlines = (page: string): string =>
  withTables(page, 'headlines', tableOf(headlines().map((row) => `| ${row.join(' | ')} |`), 'figure | field | formula; unit, sign')); // prettier-ignore

if (import.meta.main) {
  for (const [name, written] of [['report', withReportTables], ['backtest', withHeadlines]] as const) {
    const file = new URL(`../docs/${name}.md`, import.meta.url);
    writeFileSync(file, written(readFileSync(file, 'utf8')));
    process.stderr.write(`wrote docs/${name}.md\n`);
  } // prettier-ignore
}
