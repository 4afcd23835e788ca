import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { propertiesOf, wireJsonSchema } from '../../src/wire/documents/json-schema.ts';
import { strategies } from '../../src/strategy/registry.ts';
import { STRATEGIES } from '../golden/backtests.ts';
import { everyKind } from '../research/every-kind.ts';

const read = (file: string): string => readFileSync(file, 'utf8');
const examples = globSync('strategies/{*,examples/*}.yaml').map(read).join('\n');
const lookAhead = new Set(
  Object.values(everyKind).flatMap((desk) => desk.strategies.map(({ kind }) => kind)),
);

function has(kind: string, field: string): boolean {
  const params = strategies.get(kind)?.params;
  return params !== undefined && propertiesOf(wireJsonSchema(params)).some(([name]) => name === field);
}

/** Whether a sentence of docs/tactics.md that begins with `opening` names `kind` before it ends. */
const namesKind = (opening: string, kind: string): boolean =>
  read('docs/tactics.md')
    .replaceAll(/\s+/gu, ' ')
    .split(opening)
    .slice(1)
    .some((rest) => (/^.*?[.:](?= )/u.exec(rest)?.[0] ?? rest).includes(`\`${kind}\``));

/** Where a kind must appear, and whether it does. */
const places: Readonly<Record<string, (kind: string) => boolean>> = {
  'docs/strategies/KIND.md: the page of the kind': (kind) => existsSync(`docs/strategies/${kind}.md`),
  'README.md: a row in the table of kinds': (kind) =>
    read('README.md').includes(`| [\`${kind}\`](docs/strategies/${kind}.md) `),
  'docs/README.md: a link in the row of strategies': (kind) =>
    read('docs/README.md').includes(`(strategies/${kind}.md)`),
  'strategies/: a document that runs as it is': (kind) =>
    new RegExp(`^kind: ${kind}\\b`, 'mu').test(examples),
  'test/research/every-kind.ts: a desk for the proof that no backtest looks ahead': (kind) =>
    lookAhead.has(kind),
  'test/golden/backtests.ts: an entry of STRATEGIES': (kind) =>
    Object.values(STRATEGIES).some(({ text }) => text.startsWith(`kind: ${kind}\n`)),
  'docs/tactics.md: the kinds that take its fields': (kind) =>
    has(kind, 'max_slippage_bps') === namesKind('Every kind that trades in slices', kind),
  'docs/tactics.md: the kinds that take size_ladder': (kind) =>
    has(kind, 'size_ladder') === namesKind('With `size_ladder`', kind),
};

describe('the lists of all strategy kinds', () => {
  it.each([...strategies.keys()])('contain %s', (kind) => {
    const missing = Object.entries(places).flatMap(([place, holds]) => (holds(kind) ? [] : [place]));
    expect(missing).toEqual([]);
  });
});
