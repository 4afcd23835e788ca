import { requirementOf, requirementWords } from '../core/approvals/approval-policy.ts';
import type { ApprovalPolicy } from '../core/approvals/approval-policy.ts';
import { NO_MONEY, add, text } from '../core/money.ts';
import type { Money } from '../core/money.ts';
import { estimatedOf, openSlices, worthOf } from './plan.ts';
import type { Check, PlanFacts, PlannedStrategy } from './plan.ts';

export interface ApprovalFacts {
  /** The config's policy; `undefined`: there are no rules, and no parent waits. */
  readonly policy: ApprovalPolicy | undefined;
  /** Whether the journal shows that exactly this text has begun. */
  readonly isBegun: (strategy: string) => boolean;
}

/** States which strategies wait for approval under the policy, of their text or of their trades in the span at their worst case. */
export function approvalChecks(
  planned: readonly PlannedStrategy[],
  facts: PlanFacts,
  { policy, isBegun }: ApprovalFacts,
): readonly Check[] {
  if (policy === undefined) return [];
  return planned
    .filter(({ standing }) => standing !== 'finished')
    .flatMap((one) => [
      ...(isBegun(one.id) ? [] : textCheck(policy, one.id)),
      ...parentCheck(policy, one, facts),
    ]);
}

function textCheck(policy: ApprovalPolicy, strategy: string): readonly Check[] {
  const requirement = requirementOf(policy, { kind: 'strategy', strategy });
  if (requirement.outcome === 'allow') return [];
  return [
    {
      check: 'approval',
      verdict: 'note',
      strategy,
      says: `to start with this text ${requirementWords(requirement)}`,
    },
  ];
}

function parentCheck(policy: ApprovalPolicy, one: PlannedStrategy, facts: PlanFacts): readonly Check[] {
  const slices = [...openSlices([one]), ...estimatedOf(one)];
  if (slices.length === 0) return [];
  const amount = slices.reduce<Money | undefined>((sum, slice) => {
    const { notional } = worthOf(slice, facts);
    return sum === undefined || notional === undefined ? undefined : add(sum, notional);
  }, NO_MONEY);
  const requirement = requirementOf(policy, { kind: 'parent', strategy: one.id, amount });
  if (requirement.outcome === 'allow') return [];
  const worth = amount === undefined ? 'an unknown amount' : `${text(amount)} ${facts.limits.currency}`;
  const says = `its first slice waits: a parent of ${worth} ${requirementWords(requirement)}`;
  return [{ check: 'approval', verdict: 'note', strategy: one.id, says }];
}
