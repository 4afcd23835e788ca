import { countWords, requirementOf } from '../core/approvals/approval-settings.ts';
import type { ApprovalSettings } from '../core/approvals/approval-settings.ts';
import { NO_MONEY, add, text } from '../core/money.ts';
import type { Money } from '../core/money.ts';
import { estimatedOf, openSlices, worthOf } from './plan.ts';
import type { Check, PlanFacts, PlannedStrategy } from './plan.ts';

export interface ApprovalFacts {
  /** `operate.approvals`; `undefined`: nothing waits. */
  readonly settings: ApprovalSettings | undefined;
  /** Whether the journal shows that exactly this text has begun. */
  readonly isBegun: (strategy: string) => boolean;
}

/** States which strategies wait for approval, of their text or of their trades in the span at their worst case. */
export const approvalChecks = (
  planned: readonly PlannedStrategy[],
  facts: PlanFacts,
  { settings, isBegun }: ApprovalFacts,
): readonly Check[] =>
  planned
    .filter(({ standing }) => standing !== 'finished')
    .flatMap((one) => [
      ...(isBegun(one.id) ? [] : textCheck(settings, one.id)),
      ...parentCheck(settings, one, facts),
    ]);

const noteOf = (strategy: string, says: string): Check => ({
  check: 'approval',
  verdict: 'note',
  strategy,
  says,
});

function textCheck(settings: ApprovalSettings | undefined, strategy: string): readonly Check[] {
  const requirement = requirementOf(settings, { kind: 'strategy' });
  return requirement === undefined
    ? []
    : [noteOf(strategy, `to start with this text, ${countWords(requirement.count)} must approve`)];
}

function parentCheck(
  settings: ApprovalSettings | undefined,
  one: PlannedStrategy,
  facts: PlanFacts,
): readonly Check[] {
  const slices = [...openSlices([one]), ...estimatedOf(one)];
  if (slices.length === 0) return [];
  const amount = slices.reduce<Money | undefined>((sum, slice) => {
    const { notional } = worthOf(slice, facts);
    return sum === undefined || notional === undefined ? undefined : add(sum, notional);
  }, NO_MONEY);
  const requirement = requirementOf(settings, { kind: 'parent', amount });
  if (requirement === undefined) return [];
  const worth = amount === undefined ? 'an unknown amount' : `${text(amount)} ${facts.limits.currency}`;
  return [
    noteOf(
      one.id,
      `its first slice waits: for a parent of ${worth}, ${countWords(requirement.count)} must approve`,
    ),
  ];
}
