import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { boardText } from '../../packaging/grafana/board.ts';
import { alerts } from '../../src/core/alerts.ts';
import { RULE_TESTS, boardQueries, rules } from './packaged.ts';

const documented = new Set(
  [...readFileSync('docs/metrics.md', 'utf8').matchAll(/^\| `(?<name>tranche_\w+)`/gmu)].map(
    ({ groups }) => groups?.['name'],
  ),
);
/** Metrics that a query names, without the suffixes of a histogram. */
const metricsIn = (query: string): readonly string[] =>
  [...query.matchAll(/\btranche_\w+/gu)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/u, ''));
const unknown = (query: string): readonly string[] =>
  metricsIn(query).filter((name) => !documented.has(name));

const headings = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (?<heading>.+)$/gmu)].map(({ groups }) =>
    (groups?.['heading'] ?? '').toLowerCase(),
  );

describe('the alert rules', () => {
  it.each(rules().map((rule) => [rule.alert, rule] as const))(
    '%s queries only documented metrics',
    (_, rule) => {
      expect(unknown(rule.expr)).toEqual([]);
    },
  );

  it.each(rules().map((rule) => [rule.alert, rule] as const))(
    '%s links to an existing section of the runbook',
    (_, { annotations }) => {
      const [file = '', heading = ''] = annotations.runbook_url
        .replace('file:///opt/tranche/', '')
        .split('#');
      const wanted = heading === '{{ $labels.alert }}' ? Object.keys(alerts) : [heading];
      expect(headings(file)).toEqual(expect.arrayContaining(wanted));
    },
  );

  it('have one test that fires and one that stays silent for each rule', () => {
    const { tests } = parse(readFileSync(RULE_TESTS, 'utf8')) as {
      tests: readonly { readonly name: string }[];
    };
    expect(new Set(tests.map(({ name }) => name))).toEqual(
      new Set(rules().flatMap(({ alert }) => [`${alert} fires`, `${alert} is silent`])),
    );
  });
});

describe('the Grafana dashboard', () => {
  it('equals the output of its generator', () => {
    expect(readFileSync('packaging/grafana/tranche.json', 'utf8')).toBe(boardText());
  });

  it('queries only documented metrics', () => {
    const queries = boardQueries();
    expect(queries.length).toBeGreaterThan(15);
    expect(queries.flatMap(unknown)).toEqual([]);
  });
});
