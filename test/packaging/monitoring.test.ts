import { spawnSync } from 'node:child_process';
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
    '%s queries only documented metrics and links to an existing section of the runbook',
    (_, { annotations, expr }) => {
      expect(unknown(expr)).toEqual([]);
      const [file = '', heading = ''] = annotations.runbook_url
        .replace('file:///opt/tranche/', '')
        .split('#');
      const wanted = heading === '{{ $labels.alert }}' ? Object.keys(alerts) : [heading];
      expect(headings(file)).toEqual(expect.arrayContaining(wanted));
    },
  );

  it('have a test of each rule, with one case that fires and others that stay silent', () => {
    const { tests } = parse(readFileSync(RULE_TESTS, 'utf8')) as {
      tests: readonly {
        readonly name: string;
        readonly input_series: readonly object[];
        readonly promql_expr_test: readonly { readonly exp_samples: readonly object[] }[];
      }[];
    };
    for (const { alert } of rules()) {
      const own = tests.filter(({ name }) => name === alert);
      const cases = own.flatMap((each) => [...each.input_series, ...each.promql_expr_test]);
      const fired = own.flatMap((each) => each.promql_expr_test).flatMap((each) => each.exp_samples);
      expect([alert, cases.length > 2, fired.length]).toEqual([alert, true, 1]);
    }
  });
});

describe('the sample route of Alertmanager', () => {
  const file = 'packaging/prometheus/alertmanager.yml';
  interface Route {
    readonly receiver: string;
    readonly matchers?: readonly string[];
    readonly routes?: readonly Route[];
  }
  const parsed = parse(readFileSync(file, 'utf8')) as {
    readonly route: Route;
    readonly receivers: readonly { readonly name: string }[];
    readonly inhibit_rules: readonly { readonly source_matchers: readonly string[]; readonly target_matchers: readonly string[] }[]; // prettier-ignore
  };
  const { route, receivers, inhibit_rules: inhibits } = parsed;

  it('uses receivers, severities and alerts that exist', () => {
    const routes = [route, ...(route.routes ?? [])];
    const names = receivers.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(routes.map(({ receiver }) => receiver)));
    const known = new Set(rules().flatMap(({ alert, labels }) => [alert, labels.severity]));
    const matchers = [
      ...routes.flatMap((each) => each.matchers ?? []),
      ...inhibits.flatMap((each) => [...each.source_matchers, ...each.target_matchers]),
    ];
    const values = matchers.flatMap((text) => text.replace(/^\w+ =~? /u, '').match(/\w+/gu) ?? []);
    expect(values.filter((value) => !known.has(value))).toEqual([]);
  });

  const isThere = spawnSync('amtool', ['--version']).status === 0;
  const why = 'amtool is not installed: it comes with the package prometheus-alertmanager of Debian';
  it(`is accepted by amtool${isThere ? '' : ` (skipped: ${why})`}`, (ctx) => {
    if (!isThere) return ctx.skip(why);
    const { status, stdout, stderr } = spawnSync('amtool', ['check-config', file], { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
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
