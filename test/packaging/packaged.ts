import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { board } from '../../packaging/grafana/board.ts';

export const RULES = 'packaging/prometheus/tranche.rules.yaml';
export const RULE_TESTS = 'test/packaging/rules.test.yaml';

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url: string };
}

export function rules(): readonly Rule[] {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] };
  return groups.flatMap((group) => group.rules);
}

/** The queries of the dashboard, as Grafana sends them. */
export const boardQueries = (): readonly string[] =>
  (board().panels ?? [])
    .flatMap((panel) => ('targets' in panel ? (panel.targets ?? []) : []))
    .flatMap((target) => ('expr' in target ? [String(target.expr)] : []))
    .map((expr) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$desk', '.+'));
