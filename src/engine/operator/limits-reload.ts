import { changeWords, limitDifference, limitTexts, loosenedLimits } from '../../core/risk/limit-changes.ts';
import type { LimitChange } from '../../core/risk/limit-changes.ts';
import type { Limits } from '../../core/risk/limits.ts';
import { tighterLimits } from '../../core/risk/tighter-limits.ts';
import { sha256 } from '../../core/ids.ts';
import { mayChange } from './reload-approvals.ts';
import type { ReloadApprovalsContext, Verdict } from './reload-approvals.ts';
import type { Wish } from './proposals.ts';
import type { ReloadedBy } from './strategy-approvals.ts';

/** The parts of a desk that this file uses. */
export type LimitsReloadContext = ReloadApprovalsContext;

/** What a reload makes of the limits. */
export interface PlannedLimits {
  /** In force from now on; `undefined`: those that are. */
  readonly limits?: Limits | undefined;
  /** What differs then. */
  readonly changes: readonly LimitChange[];
  /** Those of them that allow more than before, in words. */
  readonly loosened: readonly string[];
  /** What the file would loosen, and why it is not. */
  readonly kept: readonly string[];
  /** What people must be asked for before it is loosened. */
  readonly wish?: Wish | undefined;
  /** The approved request that this carries out. */
  readonly approval?: string | undefined;
}

const NOTHING: PlannedLimits = { changes: [], loosened: [], kept: [] };

/**
 * The limits of the file against those in force. What is tighter counts at once; what is looser only where somebody asks for it and
 * nobody else must agree.
 */
export function planLimits(
  desk: LimitsReloadContext,
  wanted: Limits | undefined,
  asker: ReloadedBy,
): PlannedLimits {
  const { policy } = desk;
  if (wanted === undefined) return NOTHING;
  const before = limitTexts(policy.limits);
  if (wanted.currency !== policy.limits.currency)
    return { ...NOTHING, kept: [`${changeWords({ limit: 'currency', before: policy.limits.currency, after: wanted.currency })}: totals of the day are in the currency of the limits, so all limits take effect at the next start`] }; // prettier-ignore
  const loosened = loosenedLimits(before, limitTexts(wanted));
  const verdict: Verdict = loosened.length === 0 ? {} : mayLoosen(desk, loosened, asker);
  const { why, wish, approval } = verdict;
  const limits = why === undefined ? wanted : tighterLimits(policy.limits, wanted);
  const changes = limitDifference(before, limitTexts(limits));
  return {
    changes,
    ...(changes.length === 0 ? {} : { limits }),
    loosened: why === undefined ? loosened : [],
    kept: why === undefined ? [] : loosened.map((words) => `${words}: ${why}`),
    wish,
    approval,
  };
}

/** Whether these limits may be loosened now, by the policy in force; an approval is of exactly these changes. */
const mayLoosen = (desk: LimitsReloadContext, loosened: readonly string[], asker: ReloadedBy): Verdict =>
  desk.state.limits.raised === undefined
    ? mayChange(
        desk,
        {
          request: 'limits',
          asks: `loosen ${loosened.join(', ')}`,
          difference: loosened,
          subject: sha256(JSON.stringify(['limits', ...loosened])),
          unasked: 'a limit is loosened only when somebody asks for it: tranche reload',
        },
        asker,
      )
    : { why: 'other limits were raised at the start, and wait for tranche rearm by two people' };

/** A line for each limit, for people. */
export const limitLines = ({ changes, loosened, kept }: PlannedLimits): readonly string[] => [
  ...changes.map((change) => {
    const words = changeWords(change);
    return `  limit ${words}${loosened.includes(words) ? ' (allows more)' : ''}`;
  }),
  ...kept.map((words) => `  limit is NOT changed: ${words}`),
];
