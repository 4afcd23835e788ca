import { sha256 } from '../ids.ts';
import { canonicalValue } from '../text/json.ts';
import type { FillRecord, OverrideRecord, UsedToken } from '../record.ts';
import { sameName } from './approval-policy.ts';
import type { RequestKind } from './approval-policy.ts';

/** The desk that a request is of: its name and account, as its journal has them. */
export interface RequestOrigin {
  readonly desk: string;
  readonly account: string;
}

/** What a request says, as it was proposed: what follows from it repeats these fields. */
export type RequestFields = Omit<OverrideRecord, 'kind' | 'step' | 'hash' | 'assertion'>;

/**
 * What a person agrees to, as one text: every field of the request as it was proposed, with the desk and the account, in the one
 * spelling of plain JSON. Its SHA-256 is the `hash` of the request, and the challenge of a passkey.
 */
export function requestText(proposal: OverrideRecord, { desk, account }: RequestOrigin): string {
  const { kind: _kind, step: _step, hash: _hash, assertion: _assertion, ...fields } = proposal;
  return canonicalValue({ ...fields, desk, account });
}

/** SHA-256 of the canonical request, in hexadecimal. */
export const requestHash = (proposal: OverrideRecord, origin: RequestOrigin): string =>
  sha256(requestText(proposal, origin));

/** What a request is for; those of older journals name the limit alone. */
export function kindOf({ request, limit }: Pick<OverrideRecord, 'request' | 'limit'>): RequestKind {
  if (request !== undefined) return request;
  return limit === 'halt' ? 'rearm' : limit === 'doubt' ? 'doubt' : 'override';
}

/** What an approval of a strategy is of: this text under this id. */
export const strategySubject = (id: string, hash: string): string =>
  sha256(JSON.stringify(['strategy', id, hash]));

/** What an approval of a parent is of: its id, or the life of the strategy that plans it whole. */
export const parentSubject = (parts: readonly (string | number)[]): string =>
  sha256(JSON.stringify(['parent', ...parts]));

/** Figures of a trade that a person states, in the words of the request. */
export const figureWords = (
  clientOrderId: string,
  {
    order_id: orderId,
    quantity,
    amount,
    fees,
  }: Pick<FillRecord, 'order_id' | 'quantity' | 'amount' | 'fees'>,
): string => `${clientOrderId} filled as ${orderId}: ${quantity} for ${amount}, fees ${fees}`;

/** The token where it is that of a person. */
export const personOf = (token: UsedToken | undefined): UsedToken | undefined =>
  token?.kind === 'person' ? token : undefined;

/** Who asked: the name of the token where there is one, which no body can claim. */
export const nameOf = ({ token, by }: Pick<OverrideRecord, 'token' | 'by'>): string => token?.name ?? by;

/** Whether a person who acts is the one who asked, under any spelling, by name or by token. */
export const isInitiator = (
  proposal: Pick<OverrideRecord, 'token' | 'by'>,
  actor: Pick<OverrideRecord, 'token' | 'by'>,
): boolean =>
  [proposal.by, ...(proposal.token === undefined ? [] : [proposal.token.name])].some((name) =>
    [actor.by, ...(actor.token === undefined ? [] : [actor.token.name])].some((other) =>
      sameName(name, other),
    ),
  );
