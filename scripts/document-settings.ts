/** Writes docs/settings.md, the table of all settings, from the schemas. */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { jsonSchema } from '../src/app/config/schema.ts';
import type { SchemaName } from '../src/app/config/schema.ts';
import { cell } from './document-fields.ts';

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

export interface Setting {
  /** Its keys, joined by dots; `*` stands for a name that the file chooses. Lists and single values are written alike. */
  readonly path: string;
  readonly meaning: string;
  /** JSON text; empty without a default. */
  readonly otherwise: string;
  /** Titles of the branches that have it: the kinds of strategies. */
  readonly kinds: readonly string[];
}

type Place = Pick<Setting, 'path' | 'meaning' | 'kinds'>;

/** The settings that a schema describes. An amount with its currency is one setting, and so are the spellings of one setting. */
export function settingsOf(name: SchemaName): readonly Setting[] {
  const whole = jsonSchema(name);
  const found = new Map<string, Setting>();
  for (const one of leaves(whole, whole, { path: '', meaning: '', kinds: [] })) {
    const known = found.get(one.path);
    found.set(one.path, known === undefined ? one : { ...known, kinds: [...known.kinds, ...one.kinds] });
  }
  const paths = [...found.keys()];
  // The simulated venue has a schema of its own.
  return [...found.values()].filter(
    ({ path }) => !path.startsWith('venue.simulated') && !paths.some((each) => each.startsWith(`${path}.`)),
  );
}

function leaves(node: unknown, whole: Node, place: Place): readonly Setting[] {
  if (!isNode(node)) return [];
  const { $ref, properties, items, additionalProperties, description, title } = node;
  if (typeof $ref === 'string') {
    const target = $ref.split('/').slice(1).reduce<unknown>((at, key) => (isNode(at) ? at[key] : undefined), whole); // prettier-ignore
    return leaves(isNode(target) ? { ...target, ...node, $ref: undefined } : target, whole, place);
  }
  const { path } = place;
  const here: Place = {
    path,
    meaning: path === '' || typeof description !== 'string' ? place.meaning : description,
    kinds: typeof title === 'string' && path === '' ? [title] : place.kinds,
  };
  const below = (key: string): Place => ({ ...here, path: path === '' ? key : `${path}.${key}` });
  const own = isNode(properties) ? Object.entries(properties) : [];
  const isAmount = own.length > 0 && own.every(([key]) => key === 'amount' || key === 'currency');
  if (own.length > 0 && !isAmount) return own.flatMap(([key, each]) => leaves(each, whole, below(key)));
  const branches = node['anyOf'] ?? node['oneOf'] ?? node['allOf'];
  if (Array.isArray(branches)) return branches.flatMap((each) => leaves(each, whole, here));
  if (isNode(items)) return leaves(items, whole, here);
  if (isNode(additionalProperties)) return leaves(additionalProperties, whole, below('*'));
  const { default: value } = node;
  return [{ ...here, otherwise: value === undefined ? '' : JSON.stringify(value) }];
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

const code = (text: string): string => (text === '' ? '' : `\`${text}\``);

const plainTable = (name: SchemaName): string =>
  table(
    ['setting', 'default', 'meaning'],
    settingsOf(name).map(({ path, otherwise, meaning }) => [code(path), code(otherwise), meaning]),
  );

export const settingsPage = (): string => `# Settings

All settings of a desk, of its strategies and of the simulated venue. \`*\` stands for a name that the file chooses, such as a currency. Durations are
ISO 8601, amounts are decimals as quoted strings. What has no setting is a constant of the program.

<!-- prettier-ignore-start -->

## The config

[config/live.yaml](../config/live.yaml) is an example of all of them. Some meanings state a default that depends on the mode.

${plainTable('config')}

## Strategies

The pages of the [kinds](strategies/twap.md) explain them.

${table(
  ['setting', 'kinds', 'meaning'],
  settingsOf('strategy').map(({ path, kinds, meaning }) => [
    code(path),
    [...new Set(kinds)].join(', '),
    meaning,
  ]),
)}

## The simulated venue

In the file of \`tranche venue --config\`, or under \`venue.simulated\` in the config of a desk in paper mode.

${plainTable('venue')}

<!-- prettier-ignore-end -->
`;

if (import.meta.main) {
  writeFileSync(new URL('../docs/settings.md', import.meta.url), settingsPage());
  process.stderr.write('wrote docs/settings.md\n');
}
