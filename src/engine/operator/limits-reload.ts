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

/** The effect of a reload on the limits. */
export interface PlannedLimits {
  /** The new limits in force; `undefined`: unchanged. */
  readonly limits?: Limits | undefined;
  /** The differences. */
  readonly changes: readonly LimitChange[];
  /** The differences that allow more than before, in words. */
  readonly loosened: readonly string[];
  /** Loosened limits in the file that are refused, and why. */
  readonly kept: readonly string[];
  /** Approvals to request before the limits may be loosened. */
  readonly wish?: Wish | undefined;
  /** The approved request that this reload carries out. */
  readonly approval?: string | undefined;
}

const NOTHING: PlannedLimits = { changes: [], loosened: [], kept: [] };

/**
 * Compares the limits of the file with those in force. Tighter limits apply immediately; looser ones only when a person reloads and no
 * further approval is needed.
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

/** Whether the policy in force allows loosening these limits now; an approval covers exactly these changes. */
const mayLoosen = (desk: LimitsReloadContext, loosened: readonly string[], asker: ReloadedBy): Verdict =>
  desk.state.limits.raised === undefined
    ? mayChange(
        desk,
        {
          request: 'limits',
          asks: `loosen ${loosened.join(', ')}`,
          difference: loosened,
          subject: sha256(JSON.stringify(['limits', ...loosened])),
          unasked: 'a limit is loosened only on request: run tranche reload',
        },
        asker,
      )
    : { why: 'other limits were raised at the start, and wait until two people re-arm the desk' };

/** Describes each limit on one line. */
export const limitLines = ({ changes, loosened, kept }: PlannedLimits): readonly string[] => [
  ...changes.map((change) => {
    const words = changeWords(change);
    return `  limit ${words}${loosened.includes(words) ? ' (allows more)' : ''}`;
  }),
  ...kept.map((words) => `  limit is NOT changed: ${words}`),
];
