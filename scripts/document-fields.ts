/** Writes the tables of fields in docs/strategies from the schemas. */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { z } from 'zod';
import { strategies } from '../src/strategy/registry.ts';

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: Shape;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const ended = (sentence: string): string => (/[.!?]$/u.test(sentence) ? sentence : `${sentence}.`);

const valuesOf = (field: Shape): string =>
  field.enum === undefined ? '' : `One of ${field.enum.map((value) => `\`${value}\``).join(', ')}.`;

/** Returns the range of a numeric field as text; empty if its schema sets no bounds. */
function range({ minimum, exclusiveMinimum, maximum }: Shape): string {
  const from = exclusiveMinimum === undefined ? minimum : exclusiveMinimum;
  const bounds = [
    from === undefined ? '' : `${exclusiveMinimum === undefined ? 'at least' : 'above'} ${from}`,
    maximum === undefined ? '' : `at most ${maximum}`,
  ].filter((bound) => bound !== '');
  return bounds.length === 0 ? '' : `Range: ${bounds.join(', ')}.`;
}

function rows(shape: Shape, prefix = ''): string[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, field]) => {
    const isRequired = shape.required?.includes(name) === true && field.default === undefined;
    const otherwise =
      field.default === undefined ? (isRequired ? 'required' : '') : `\`${JSON.stringify(field.default)}\``;
    const facts = [valuesOf(field), range(field), range(field.items ?? {})].filter((fact) => fact !== '');
    const meaning =
      facts.length === 0 ? field.description : `${ended(field.description ?? '')} ${facts.join(' ')}`;
    const own = `| \`${prefix}${name}\` | ${cell(otherwise)} | ${cell(meaning ?? '')} |`;
    const isAmount = field.properties?.['amount'] !== undefined && field.properties['currency'] !== undefined;
    const below = isAmount ? [] : rows(field.items ?? field, `${prefix}${name}.`);
    return [own, ...below];
  });
}

/** Kinds whose tables describe the fields that other kinds share with them. */
const SHARED = ['twap', 'recurring'] as const;

function rowsOf(kind: string): readonly string[] {
  const params = strategies.get(kind)?.params;
  if (params === undefined) throw new Error(`there is no kind ${kind}`);
  return rows(z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' }) as Shape);
}

const nameOf = (row: string): string => row.split(' ')[1] ?? '';

/** Returns the table of a kind: its own fields, then the names of fields that the page of another kind describes in the same words. */
export function fieldTable(kind: string): string {
  const bases = SHARED.slice(0, SHARED.findIndex((base) => base === kind) >>> 0);
  let own = rowsOf(kind);
  const links = bases.flatMap((base) => {
    const described = new Set(rowsOf(base));
    const shared = own.filter((row) => described.has(row)).map(nameOf);
    own = own.filter((row) => !described.has(row));
    return shared.length === 0 ? [] : [`As in [${base}](${base}.md#fields): ${shared.join(', ')}.`];
  });
  return [['| field | default | meaning |', '| --- | --- | --- |', ...own].join('\n'), ...links].join('\n\n');
}

/** Returns `page` with the table of `kind` between its marks. The formatter would pad every cell to the widest one. */
export function withTable(page: string, kind: string): string {
  const marks = new RegExp(`(<!-- fields: ${kind} -->\n)[^]*?(<!-- /fields -->)`, 'u');
  if (!marks.test(page)) throw new Error(`docs/strategies/${kind}.md has no place for its table`);
  const table = `<!-- prettier-ignore-start -->\n\n${fieldTable(kind)}\n\n<!-- prettier-ignore-end -->`;
  return page.replace(marks, (_, from: string, to: string) => `${from}${table}\n${to}`);
}

if (import.meta.main) {
  for (const kind of strategies.keys()) {
    const file = new URL(`../docs/strategies/${kind}.md`, import.meta.url);
    writeFileSync(file, withTable(readFileSync(file, 'utf8'), kind));
    process.stderr.write(`wrote docs/strategies/${kind}.md\n`);
  }
}
