import { requirementWords } from '../../core/approvals/approval-policy.ts';
import { strategySubject } from '../../core/approvals/approval-request.ts';
import type { UsedToken } from '../../core/record.ts';
import type { Desk } from '../desk.ts';
import type { StrategySource } from '../state/strategy-source.ts';
import { blockedWords, missingWords, requirementFor } from './approvals.ts';
import { isOver } from './approval-requests.ts';
import type { Wish } from './proposals.ts';
import { differences } from './text-differences.ts';

/** The parts of a desk that this file uses. */
export type StrategyApprovalsContext = Pick<Desk, 'policy' | 'ports' | 'proposals' | 'state'>;

/** Whether a document may start to run. */
export type StrategyApproval =
  /** It may start. `request`: the request that allowed it, if one was needed. */
  | { readonly may: true; readonly request?: string | undefined }
  /** It may not start: the reason, and the request to make if there is none yet. */
  | { readonly may: false; readonly why: string; readonly wish?: Wish | undefined };

/** Who reloads the files; omitted if a change of the files triggered the reload, and at a start. */
export interface ReloadedBy {
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

/**
 * Whether this document may start, or replace a running one, under the policy in force. An approval covers the document
 * by its hash. An edited document needs another approval, and a document that has started has used up its approval.
 * After a rejection or expiry, only a person's reload requests approval again.
 */
export function strategyApproval(
  desk: StrategyApprovalsContext,
  { id, kind, hash, document }: StrategySource,
  asker: ReloadedBy,
): StrategyApproval {
  const subject = strategySubject(id, hash);
  const [request, known] = desk.state.overrides.of(subject) ?? [];
  const isUsable = known?.usedBy === undefined && known?.ended === undefined;
  if (request !== undefined && known !== undefined && isUsable && !isOver(desk, request)) {
    return known.approvedBy === undefined
      ? { may: false, why: `${request} needs ${missingWords(desk, known)}` }
      : { may: true, request };
  }
  const person = asker.token?.kind === 'person' ? asker.token.name : undefined;
  const requirement = requirementFor(desk, { kind: 'strategy', strategy: id, by: person });
  if (requirement.outcome === 'allow') return { may: true };
  if (requirement.outcome === 'block') return { may: false, why: blockedWords(requirement) };
  if (known !== undefined && known.usedBy === undefined && person === undefined)
    return {
      may: false,
      why: `${request ?? ''} is ${known.ended?.how ?? 'expired'}; tranche reload by a person asks again`,
    };
  const before = desk.state.lives.get(id);
  const does = before === undefined ? 'begin' : 'change';
  const wish: Wish = {
    request: 'strategy',
    asks: `${does} strategy ${id} (${kind}, ${hash.slice(0, 12)})`,
    subject,
    requirement,
    difference: differences(before?.document ?? {}, document),
    strategy: id,
    ...asker,
  };
  return { may: false, why: requirementWords(requirement), wish };
}
