import type { ApprovalPolicy, ApprovalRule } from '../../../core/approvals/approval-policy.ts';
import { text } from '../../../core/money.ts';
import type { RawPolicy } from './policy-schema.ts';

/** Returns the policy as plain JSON, for the engine and the journal; `undefined` if the config has none. */
export const approvalPolicyOf = (
  policy: RawPolicy | undefined,
  groups: Readonly<Record<string, readonly string[]>>,
): ApprovalPolicy | undefined =>
  policy === undefined ? undefined : { rules: policy.map(ruleOf), groups, unknown_asker: 'one_more' };

function ruleOf({ above, by, strategies, limits, passkey, within, ...raw }: RawPolicy[number]): ApprovalRule {
  const needs = raw.require?.map(({ count, group }) => ({ count, groups: group }));
  return {
    for: raw.for,
    ...(above === undefined ? {} : { above: text(above.amount) }),
    ...(by === undefined ? {} : { by }),
    ...(strategies === undefined ? {} : { strategies }),
    ...(limits === undefined ? {} : { limits }),
    outcome: raw.outcome ?? needs ?? 'block',
    ...(passkey === undefined ? {} : { passkey }),
    ...(within === undefined ? {} : { within_ms: within }),
  };
}
