import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { propertiesOf, wireJsonSchema } from '../../src/wire/documents/json-schema.ts';
import { strategies } from '../../src/strategy/registry.ts';
import { STRATEGIES } from '../golden/backtests.ts';
import { everyKind } from '../research/every-kind.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

const folder = 'strategies/examples/';
const examples = ['strategies/btc-twap.yaml', 'strategies/treasury-rebalance.yaml']
  .concat(
    readdirSync(new URL(folder, root))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => folder + file),
  )
  .map(read)
  .join('\n');
const lookAhead = new Set(
  Object.values(everyKind).flatMap((desk) => desk.strategies.map(({ kind }) => kind)),
);

const fieldsOf = (kind: string): readonly string[] => {
  const params = strategies.get(kind)?.params;
  return params === undefined ? [] : propertiesOf(wireJsonSchema(params)).map(([name]) => name);
};

const has = (kind: string, ...fields: readonly string[]): boolean =>
  fields.every((field) => fieldsOf(kind).includes(field));

const names = (file: string, pattern: string): boolean => new RegExp(pattern, 'mu').test(read(file));

/** The entries of STRATEGIES that begin with a document of `kind`. */
const goldenOf = (kind: string): readonly string[] =>
  Object.entries(STRATEGIES).flatMap(([id, { text }]) => (text.startsWith(`kind: ${kind}\n`) ? [id] : []));

/** Whether a sentence of docs/tactics.md that begins with `opening` names `kind` before it ends. */
const namesKind = (opening: string, kind: string): boolean =>
  read('docs/tactics.md')
    .replaceAll(/\s+/gu, ' ')
    .split(opening)
    .slice(1)
    .some((rest) => (/^.*?[.:](?= )/u.exec(rest)?.[0] ?? rest).includes(`\`${kind}\``));

/** Where a kind must appear, and whether it does. */
const places: Readonly<Record<string, (kind: string) => boolean>> = {
  'docs/strategies/KIND.md: the page of the kind': (kind) =>
    existsSync(new URL(`docs/strategies/${kind}.md`, root)),
  'README.md: a row in the table of kinds': (kind) =>
    read('README.md').includes(`(docs/strategies/${kind}.md)`),
  'docs/README.md: a link in the row of strategies': (kind) =>
    read('docs/README.md').includes(`(strategies/${kind}.md)`),
  'strategies/: a document that runs as it is': (kind) =>
    new RegExp(`^kind: ${kind}\\b`, 'mu').test(examples),
  'test/research/every-kind.ts: a desk for the proof that no backtest looks ahead': (kind) =>
    lookAhead.has(kind),
  'test/golden/backtests.ts: an entry of STRATEGIES': (kind) => goldenOf(kind).length > 0,
  'test/golden/expected.txt: its backtests, which npm run golden writes': (kind) =>
    goldenOf(kind).every((id) => read('test/golden/expected.txt').includes(`\nbacktest ${id}, `)),
  'test/system/kinds.slow.test.ts: an entry of runs': (kind) =>
    names('test/system/kinds.slow.test.ts', `^ {2}${kind}: \\{`),
  'docs/tactics.md: the kinds that take its fields': (kind) =>
    has(kind, 'max_slippage_bps') === namesKind('Every kind that trades in slices', kind),
  'docs/tactics.md: the kinds that take size_ladder': (kind) =>
    has(kind, 'size_ladder') === namesKind('With `size_ladder`', kind),
  'test/strategy/KIND.test.ts: the tests of its kernel': (kind) =>
    existsSync(new URL(`test/strategy/${kind}.test.ts`, root)),
  'test/app/sizes.test.ts: an entry of KINDS': (kind) =>
    !has(kind, 'size_ladder') || names('test/app/sizes.test.ts', `^const KINDS = .*'${kind}'`),
  'test/engine/sliced.test.ts: an entry of kinds': (kind) =>
    !has(kind, 'size_ladder', 'total_quantity') || names('test/engine/sliced.test.ts', `^ {2}${kind}: `),
};

/** What a kind still lacks, one line for each place. */
const missing = (kind: string): readonly string[] =>
  Object.entries(places).flatMap(([place, holds]) => (holds(kind) ? [] : [place.replace('KIND', kind)]));

describe('the lists of all strategy kinds', () => {
  it.each([...strategies.keys()])('contain %s', (kind) => {
    expect(missing(kind)).toEqual([]);
  });

  it('report each place that lacks a new kind', () => {
    expect(missing('trial')).toEqual([
      'docs/strategies/trial.md: the page of the kind',
      'README.md: a row in the table of kinds',
      'docs/README.md: a link in the row of strategies',
      'strategies/: a document that runs as it is',
      'test/research/every-kind.ts: a desk for the proof that no backtest looks ahead',
      'test/golden/backtests.ts: an entry of STRATEGIES',
      'test/system/kinds.slow.test.ts: an entry of runs',
      'test/strategy/trial.test.ts: the tests of its kernel',
    ]);
  });
});
