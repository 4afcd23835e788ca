import { policyFaults } from '../../../core/approvals/policy-faults.ts';
import type { RawConfig } from '../config-schema.ts';
import type { FileProblem } from '../problems.ts';
import type { YamlDocument } from '../yaml.ts';
import { approvalPolicyOf } from './approval-policy-of.ts';

/** Finds policies that cannot work: unknown groups, too few people, and unreachable rules. */
export function checkApprovals(
  { operate, controls }: RawConfig,
  document: YamlDocument,
): readonly FileProblem[] {
  if (operate === false) return [];
  const { policy: rules, groups, tokens, four_eyes: fourEyes } = operate;
  const at = (path: readonly (string | number)[], message: string): FileProblem =>
    document.problem(['operate', ...path], message);
  if (rules === undefined)
    return Object.keys(groups).length === 0
      ? []
      : [at(['groups'], 'operate.groups needs operate.policy: add a policy, or remove the groups')];
  const problems: FileProblem[] = [];
  if (fourEyes !== undefined)
    problems.push(at(['four_eyes'], 'four_eyes has no effect with operate.policy: remove four_eyes'));
  const currency = controls.max_order_notional?.currency ?? 'usd';
  rules.forEach(({ above }, rule) => {
    if (above !== undefined && above.currency !== currency)
      problems.push(
        at(['policy', rule, 'above'], `write the amount in ${currency}, the currency of the limits`),
      );
  });
  const policy = approvalPolicyOf(rules, groups);
  const people = tokens.map(({ name, kind, role }) => ({
    name,
    mayApprove: kind === 'person' && (role === 'approver' || role === 'admin'),
  }));
  const faults = policy === undefined ? [] : policyFaults(policy, people);
  for (const { rule, group, problem } of faults)
    problems.push(
      group === undefined
        ? at(rule === undefined ? ['policy'] : ['policy', rule], problem)
        : at(['groups', group], problem),
    );
  return problems;
}
