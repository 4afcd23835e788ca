import { changeWords, limitDifference, limitTexts, loosenedLimits } from '../../core/risk/limit-changes.ts';
import type { LimitChange } from '../../core/risk/limit-changes.ts';
import type { Limits } from '../../core/risk/limits.ts';
import { tighterLimits } from '../../core/risk/tighter-limits.ts';
import type { Desk } from '../desk.ts';
import type { Command } from '../ports.ts';
import { hasFourEyes } from './four-eyes.ts';

/** The parts of a desk that this file uses. */
export type LimitsReloadContext = Pick<Desk, 'policy' | 'state'>;

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
}

const NOTHING: PlannedLimits = { changes: [], loosened: [], kept: [] };

/**
 * The limits of the file against those in force. What is tighter counts at once; what is looser only where somebody asks for it and
 * nobody else must agree.
 */
export function planLimits(
  { policy, state }: LimitsReloadContext,
  wanted: Limits | undefined,
  { by }: Pick<Command & { readonly do: 'reload' }, 'by'>,
): PlannedLimits {
  if (wanted === undefined) return NOTHING;
  const before = limitTexts(policy.limits);
  if (wanted.currency !== policy.limits.currency)
    return { ...NOTHING, kept: [`${changeWords({ limit: 'currency', before: policy.limits.currency, after: wanted.currency })}: totals of the day are in the currency of the limits, so all limits take effect at the next start`] }; // prettier-ignore
  const loosened = loosenedLimits(before, limitTexts(wanted));
  const why = loosened.length === 0 ? undefined : keptWhy({ policy, state }, by);
  const limits = why === undefined ? wanted : tighterLimits(policy.limits, wanted);
  const changes = limitDifference(before, limitTexts(limits));
  return {
    changes,
    ...(changes.length === 0 ? {} : { limits }),
    loosened: why === undefined ? loosened : [],
    kept: why === undefined ? [] : loosened.map((words) => `${words}: ${why}`),
  };
}

/** Why no limit is loosened now. */
function keptWhy(desk: LimitsReloadContext, by: string): string | undefined {
  if (desk.state.limits.raised !== undefined)
    return 'other limits were raised at the start, and wait for tranche rearm by two people';
  if (hasFourEyes(desk))
    return 'to loosen a limit takes two people; the next start begins halted until they agree (limits_raised)';
  return by === 'tranche' ? 'a limit is loosened only when somebody asks for it: tranche reload' : undefined;
}

/** A line for each limit, for people. */
export const limitLines = ({ changes, loosened, kept }: PlannedLimits): readonly string[] => [
  ...changes.map((change) => {
    const words = changeWords(change);
    return `  limit ${words}${loosened.includes(words) ? ' (allows more)' : ''}`;
  }),
  ...kept.map((words) => `  limit is NOT changed: ${words}`),
];
