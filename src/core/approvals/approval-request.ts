import { sha256 } from '../ids.ts';
import { canonicalValue } from '../text/json.ts';
import type { FillRecord, OverrideRecord, UsedToken } from '../record.ts';
import { requirementOf, sameName } from './approval-policy.ts';
import type { ApprovalPolicy, RequestKind, Requirement } from './approval-policy.ts';
import { money } from '../money.ts';

/** The desk that a request belongs to: its name and account, as in its journal. */
export interface RequestOrigin {
  readonly desk: string;
  readonly account: string;
}

/**
 * The canonical request: every field as proposed, with the desk and the account, as canonical JSON. Its SHA-256 is the `hash` of
 * the request, and the challenge for a passkey.
 */
export function requestText(proposal: OverrideRecord, { desk, account }: RequestOrigin): string {
  const { kind: _kind, step: _step, hash: _hash, assertion: _assertion, ...fields } = proposal;
  return canonicalValue({ ...fields, desk, account });
}

/** SHA-256 of the canonical request, in hexadecimal. */
export const requestHash = (proposal: OverrideRecord, origin: RequestOrigin): string =>
  sha256(requestText(proposal, origin));

/** The kind of a request; for older journals, it is derived from the limit. */
export function kindOf({ request, limit }: Pick<OverrideRecord, 'request' | 'limit'>): RequestKind {
  if (request !== undefined) return request;
  return limit === 'halt' ? 'rearm' : limit === 'doubt' ? 'doubt' : 'override';
}

/** Subject of a strategy's approval: this document under this id. */
export const strategySubject = (id: string, hash: string): string =>
  sha256(JSON.stringify(['strategy', id, hash]));

/** Subject of a parent's approval: the parent's id or, if the strategy plans the whole parent at once, the run of that strategy. */
export const parentSubject = (parts: readonly (string | number)[]): string =>
  sha256(JSON.stringify(['parent', ...parts]));

/** The figures of a trade that a person states, as words for the request. */
export const figureWords = (
  clientOrderId: string,
  {
    order_id: orderId,
    quantity,
    amount,
    fees,
  }: Pick<FillRecord, 'order_id' | 'quantity' | 'amount' | 'fees'>,
): string => `${clientOrderId} filled as ${orderId}: ${quantity} for ${amount}, fees ${fees}`;

/** The token, if it belongs to a person. */
export const personOf = (token: UsedToken | undefined): UsedToken | undefined =>
  token?.kind === 'person' ? token : undefined;

/** The requester: the name of the token if there is one. A request body cannot claim a name. */
export const nameOf = ({ token, by }: Pick<OverrideRecord, 'token' | 'by'>): string => token?.name ?? by;

/** What the policy requires for a request, based on the request's fields. */
export const requirementOfRequest = (policy: ApprovalPolicy, proposal: OverrideRecord): Requirement => {
  const { strategy, limit, amount } = proposal;
  const kind = kindOf(proposal);
  const isOfFile = kind === 'parent' || kind === 'strategy';
  return requirementOf(policy, {
    kind,
    by: isOfFile ? personOf(proposal.token)?.name : nameOf(proposal),
    strategy,
    limit,
    amount: amount === undefined || amount === 'unknown' ? undefined : money(amount),
  });
};

/** Whether a person who acts is the requester, by name (in any case) or by token. */
export const isInitiator = (
  proposal: Pick<OverrideRecord, 'token' | 'by'>,
  actor: Pick<OverrideRecord, 'token' | 'by'>,
): boolean =>
  [proposal.by, ...(proposal.token === undefined ? [] : [proposal.token.name])].some((name) =>
    [actor.by, ...(actor.token === undefined ? [] : [actor.token.name])].some((other) =>
      sameName(name, other),
    ),
  );
