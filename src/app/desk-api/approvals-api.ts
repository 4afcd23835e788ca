import { metNeeds } from '../../core/approvals/approval-policy.ts';
import { kindOf, nameOf, requestHash, requestText } from '../../core/approvals/approval-request.ts';
import { isoOf } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import { policyInForce } from '../../engine/operator/approvals.ts';
import {
  isOver,
  mayApproveFault,
  mayTakeBackFault,
  originOf,
} from '../../engine/operator/approval-requests.ts';
import type { Override } from '../../engine/state/override-state.ts';
import { mayAct } from '../../operate/access.ts';
import type { Caller, Role } from '../../operate/access.ts';
import type { ApprovalItem } from '../../operate/api/operated-desk.ts';

export type ApprovalState = 'open' | 'approved' | 'rejected' | 'expired' | 'used' | 'withdrawn';

/** Returns the desk's requests, newest first, as one caller sees them. */
export const approvalsOf = (desk: Desk, viewer: Caller): readonly ApprovalItem[] =>
  [...desk.state.overrides.all()].map(([id, known]) => approvalOf(desk, viewer, id, known)).toReversed();

/** Returns the requests that wait for people now. */
export const openApprovals = (desk: Pick<Desk, 'ports' | 'proposals' | 'state'>): readonly Override[] =>
  [...desk.state.overrides.all()].flatMap(([id, known]) =>
    stateOf(desk, id, known) === 'open' ? [known] : [],
  );

/** Returns the request that each strategy waits for. */
export const awaitedByStrategy = (desk: Parameters<typeof openApprovals>[0]): ReadonlyMap<string, string> =>
  new Map(
    openApprovals(desk).flatMap(({ proposal: { strategy, override } }) =>
      strategy === undefined ? [] : [[strategy, override]],
    ),
  );

/** Counts the requests that wait for people, by kind. */
export function approvalCounts(desk: Parameters<typeof openApprovals>[0]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { proposal } of openApprovals(desk)) {
    const kind = kindOf(proposal);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function approvalOf(desk: Desk, viewer: Caller, id: string, known: Override): ApprovalItem {
  const { proposal, agreed, usedBy, ended } = known;
  const { needs = [], passkey, difference, strategy, parent, expires_at: expiresAt } = proposal;
  return {
    id,
    // Requests in older journals have no recorded hash; they have ended.
    hash: proposal.hash ?? requestHash(proposal, originOf(desk)),
    kind: kindOf(proposal),
    state: stateOf(desk, id, known),
    asks: asksOf(known),
    difference,
    strategy,
    parent,
    request: requestText(proposal, originOf(desk)),
    proposed_by: nameOf(proposal),
    why: proposal.why,
    proposed_at: isoOf(known.at),
    expires_at: isoOf(expiresAt),
    needs: metNeeds(policyInForce(desk), needs, agreed.map(nameOf), nameOf(proposal)),
    passkey,
    approved_by: agreed.map(nameOf),
    ended_by: ended?.by,
    ended_why: ended?.why,
    used_by: usedBy,
    ...whatMayI(desk, viewer, id, known),
  };
}

/** Describes the request in words. An override of a limit has fields of its own. */
export function asksOf({ proposal }: Override): string {
  const { asks, limit, value, parent, slice, side, pair } = proposal;
  if (asks !== undefined) return asks;
  const order =
    parent === undefined
      ? `${side ?? ''} ${pair ?? ''}`
      : `parent ${parent}${slice === undefined ? '' : ` slice ${slice}`}`;
  return `${limit} ${value ?? 'lifted'} for one order of ${order}`;
}

function stateOf(
  desk: Pick<Desk, 'ports' | 'proposals' | 'state'>,
  id: string,
  { usedBy, ended, approvedBy }: Override,
): ApprovalState {
  if (usedBy !== undefined) return 'used';
  if (ended !== undefined) return ended.how;
  if (approvedBy !== undefined) return 'approved';
  return isOver(desk, id) ? 'expired' : 'open';
}

/** Returns how the server would respond to each decision of this caller, before the caller sends it. */
function whatMayI(
  desk: Desk,
  caller: Caller,
  id: string,
  known: Override,
): Readonly<Record<'may_i' | 'may_reject' | 'may_withdraw', string>> {
  const { name, kind, role } = caller;
  const me = { id, by: name, token: { name, kind } };
  const words = (needed: Role, fault: () => string | undefined): string => {
    const why = mayAct(caller, needed) ? fault() : `it requires the ${needed} role, not the ${role} role`;
    return why === undefined ? 'yes' : `no: ${why}`;
  };
  return {
    may_i: words('approver', () => mayApproveFault(desk, known, me)),
    may_reject: words('operator', () => mayTakeBackFault(desk, known, { do: 'reject', ...me })),
    may_withdraw: words('operator', () => mayTakeBackFault(desk, known, { do: 'withdraw', ...me })),
  };
}
