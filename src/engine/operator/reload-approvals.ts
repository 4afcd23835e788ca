import { requirementWords } from '../../core/approvals/approval-policy.ts';
import type { Desk } from '../desk.ts';
import { blockedWords, isStrict, missingWords, personFault, requirementFor } from './approvals.ts';
import { isOver } from './approval-requests.ts';
import type { Wish } from './proposals.ts';
import type { ReloadedBy } from './strategy-approvals.ts';

/** The parts of a desk that this file uses. */
export type ReloadApprovalsContext = Pick<Desk, 'policy' | 'ports' | 'proposals' | 'state'>;

/** Whether a reload may change settings. */
export interface Verdict {
  /** Why not. */
  readonly why?: string | undefined;
  /** Approvals to request first. */
  readonly wish?: Wish | undefined;
  /** The approved request that this reload carries out. */
  readonly approval?: string | undefined;
}

/** Settings that a reload would change. */
export interface SettingsQuestion {
  readonly request: 'limits' | 'channels';
  readonly asks: string;
  /** One line per setting. */
  readonly difference: readonly string[];
  /** An approval covers exactly these changes. */
  readonly subject: string;
  /** Why an unrequested change of the file has no effect. */
  readonly unasked: string;
}

const NOBODY = 'a signal names no person: reload with the token of a person and --url';

/** Whether the policy in force allows these changes now. */
export function mayChange(
  desk: ReloadApprovalsContext,
  { request: kind, asks, difference, subject, unasked }: SettingsQuestion,
  { by, why, token }: ReloadedBy,
): Verdict {
  const [request, known] = desk.state.overrides.of(subject) ?? [];
  const isUsable = known?.usedBy === undefined && known?.ended === undefined;
  if (request !== undefined && known !== undefined && isUsable && !isOver(desk, request))
    return known.approvedBy === undefined
      ? { why: `takes two people: ${request} needs ${missingWords(desk, known)}` }
      : { approval: request };
  if (by === 'tranche') return { why: unasked };
  const requirement = requirementFor(desk, { kind, by: token?.name ?? by });
  if (requirement.outcome === 'allow') return {};
  if (requirement.outcome === 'block') return { why: blockedWords(requirement) };
  // Otherwise, a person with shell access and a token could act as both people.
  const fault = isStrict(desk) ? (token === undefined ? NOBODY : personFault(token)) : undefined;
  if (fault !== undefined) return { why: `takes two people: ${fault}` };
  const wish = { request: kind, asks, subject, requirement, difference, by, why, token } as const;
  return { why: `takes two people: it ${requirementWords(requirement)}, see tranche approvals`, wish };
}
