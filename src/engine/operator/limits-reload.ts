import type { Desk } from '../desk.ts';
import { changeWords, limitDifference, loosenedLimits } from '../../core/risk/limit-changes.ts';
import type { LimitChange } from '../../core/risk/limit-changes.ts';
import type { Limits } from '../../core/risk/limits.ts';
import { limitTexts, tighterLimits } from '../../core/risk/limit-table.ts';
import { limitsVerdict } from './reload-approvals.ts';
import type { ReloadedBy, Verdict } from './reload-approvals.ts';

/** The effect of a reload on the limits. */
export interface PlannedLimits extends Pick<Verdict, 'wish' | 'approval'> {
  /** The new limits in force; `undefined`: unchanged. */
  readonly limits?: Limits | undefined;
  /** The differences. */
  readonly changes: readonly LimitChange[];
  /** The differences that allow more than before, in words. */
  readonly loosened: readonly string[];
  /** Loosened limits in the file that are refused, and why. */
  readonly kept: readonly string[];
}

const NOTHING: PlannedLimits = { changes: [], loosened: [], kept: [] };

/**
 * Compares the limits of the file with those in force. Tighter limits apply immediately; looser ones only when a person
 * reloads and no further approval is needed.
 */
export function planLimits(desk: Desk, wanted: Limits | undefined, asker: ReloadedBy): PlannedLimits {
  const { policy } = desk;
  if (wanted === undefined) return NOTHING;
  const before = limitTexts(policy.limits);
  if (wanted.currency !== policy.limits.currency)
    return { ...NOTHING, kept: [`${changeWords({ limit: 'currency', before: policy.limits.currency, after: wanted.currency })}: totals of the day are in the currency of the limits, so all limits take effect at the next start`] }; // prettier-ignore
  const loosened = loosenedLimits(before, limitTexts(wanted));
  const verdict: Verdict = loosened.length === 0 ? {} : limitsVerdict(desk, loosened, asker);
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

/** Describes each limit on one line. */
export const limitLines = ({ changes, loosened, kept }: PlannedLimits): readonly string[] => [
  ...changes.map((change) => {
    const words = changeWords(change);
    return `  limit ${words}${loosened.includes(words) ? ' (allows more)' : ''}`;
  }),
  ...kept.map((words) => `  limit is NOT changed: ${words}`),
];
