import { nameOf, requestText } from '../../core/approvals/requests.ts';
import { isoOf } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import { isOver, mayApproveFault, mayRejectFault } from '../../engine/operator/approval-requests.ts';
import type { ApprovalRequest } from '../../core/approvals/requests.ts';
import { mayAct } from '../../operate/access.ts';
import type { Caller, Role } from '../../operate/access.ts';
import type { ApprovalItem } from '../../operate/api/operated-desk.ts';

export type ApprovalState = 'open' | 'approved' | 'rejected' | 'expired' | 'used';

/** Returns the desk's requests, newest first, as one caller sees them. */
export const approvalsOf = (desk: Desk, viewer: Caller): readonly ApprovalItem[] =>
  [...desk.state.approvals.all()].map((known) => approvalOf(desk, viewer, known)).toReversed();

/** Returns the requests that wait for people now. */
export const openApprovals = (
  desk: Pick<Desk, 'ports' | 'proposals' | 'state'>,
): readonly ApprovalRequest[] =>
  [...desk.state.approvals.all()].filter((known) => stateOf(desk, known) === 'open');

/** Returns the request that each strategy waits for. */
export const awaitedByStrategy = (desk: Parameters<typeof openApprovals>[0]): ReadonlyMap<string, string> =>
  new Map(
    openApprovals(desk).flatMap(({ proposal: { strategy, request } }) =>
      strategy === undefined ? [] : [[strategy, request]],
    ),
  );

/** Counts the requests that wait for people, by kind. */
export function approvalCounts(desk: Parameters<typeof openApprovals>[0]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { proposal } of openApprovals(desk))
    counts.set(proposal.for, (counts.get(proposal.for) ?? 0) + 1);
  return counts;
}

function approvalOf(desk: Desk, viewer: Caller, known: ApprovalRequest): ApprovalItem {
  const { proposal, agreed, usedBy, ended } = known;
  const { passkey, difference, strategy, parent, asks, hash, why, count } = proposal;
  return {
    id: proposal.request,
    hash,
    kind: proposal.for,
    state: stateOf(desk, known),
    asks,
    difference,
    strategy,
    parent,
    request: requestText(proposal, desk.policy),
    proposed_by: nameOf(proposal),
    why,
    proposed_at: isoOf(known.at),
    expires_at: isoOf(proposal.expires_at),
    count,
    passkey,
    approved_by: agreed.map(nameOf),
    ended_by: ended?.by,
    ended_why: ended?.why,
    used_by: usedBy,
    ...whatMayI(desk, viewer, known),
  };
}

function stateOf(desk: Pick<Desk, 'ports' | 'proposals' | 'state'>, known: ApprovalRequest): ApprovalState {
  if (known.usedBy !== undefined) return 'used';
  if (known.ended !== undefined) return known.ended.how;
  if (known.isApproved) return 'approved';
  return isOver(desk, known) ? 'expired' : 'open';
}

/** Returns how the server would respond to each decision of this caller, before the caller sends it. */
function whatMayI(
  desk: Desk,
  caller: Caller,
  known: ApprovalRequest,
): Readonly<Record<'may_i' | 'may_reject', string>> {
  const { name, kind } = caller;
  const words = (needed: Role, fault: () => string | undefined): string => {
    const why = mayAct(caller, needed)
      ? fault()
      : `it requires the ${needed} role, not the ${caller.role} role`;
    return why === undefined ? 'yes' : `no: ${why}`;
  };
  return {
    may_i: words('approver', () => mayApproveFault(desk, known, { by: name, token: { name, kind } })),
    may_reject: words('operator', () => mayRejectFault(desk, known)),
  };
}
