import { sha256 } from '../ids.ts';
import type { People } from '../people.ts';
import type { ApprovalRecord, FillRecord, UsedToken } from '../record.ts';
import { canonicalValue } from '../text/json.ts';
import type { Instant } from '../time.ts';
import { countWords, isLasting } from './approval-settings.ts';
import type { SettingChange } from '../risk/setting-changes.ts';
import type { Requirement } from './approval-settings.ts';
import { assertionFault } from './passkey-assertion.ts';

/** The desk that a request belongs to: its name and account, as in its journal. */
export interface RequestOrigin {
  readonly desk: string;
  readonly account: string;
}

/**
 * The canonical request: every field as proposed, with the desk and the account, as canonical JSON. Its SHA-256 is the
 * `hash` of the request, and the challenge for a passkey.
 */
export function requestText(
  proposal: Omit<ApprovalRecord, 'hash'> & { readonly hash?: string | undefined },
  { desk, account }: RequestOrigin,
): string {
  const { kind: _kind, step: _step, hash: _hash, assertion: _assertion, ...fields } = proposal;
  return canonicalValue({ ...fields, desk, account });
}

/** SHA-256 of the canonical request, in hexadecimal. */
export const requestHash = (...request: Parameters<typeof requestText>): string =>
  sha256(requestText(...request));

const subjectOf = (...parts: readonly (string | number)[]): string => sha256(JSON.stringify(parts));

/** Subject of a strategy's approval: this document under this id. */
export const strategySubject = (id: string, hash: string): string => subjectOf('strategy', id, hash);

/** Subject of a parent's approval. Its id changes with the strategy's document and run. */
export const parentSubject = (id: string): string => subjectOf('parent', id);

/** Subject of looser limits: exactly these changes. */
export const limitsSubject = (difference: readonly string[]): string => subjectOf('limits', ...difference);

/** Subject of a rearm: this halt. */
export const rearmSubject = (asks: string, haltedAt: number): string => subjectOf('rearm', asks, haltedAt);

/** Subject of a doubt's resolution: exactly this statement. */
export const doubtSubject = (asks: string): string => subjectOf('doubt', asks);

/** What a person states about an order in doubt, in words: the figures of its trade, or whose rows of the account are. */
export const statementWords = (
  order: string,
  said:
    | Pick<FillRecord, 'order_id' | 'quantity' | 'amount' | 'fees'>
    | { readonly verdict: string; readonly rows: readonly string[] },
): string =>
  'rows' in said
    ? `${order}: rows ${said.rows.join(', ')} ${said.verdict}`
    : `${order} filled as ${said.order_id}: ${said.quantity} for ${said.amount}, fees ${said.fees}`;

/** The token, if it belongs to a person. */
export const personOf = (token: UsedToken | undefined): UsedToken | undefined =>
  token?.kind === 'person' ? token : undefined;

/** A person who acts on a request. */
export type Actor = Pick<ApprovalRecord, 'by' | 'token'>;

/** The requester or approver: the name of the token if there is one. A request body cannot claim a name. */
export const nameOf = ({ token, by }: Actor): string => token?.name ?? by;

/** Names that differ only in case are the same person. */
export const sameName = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();

/** Whether two actors are the same person, by name or by token. */
export const isSamePerson = (one: Actor, other: Actor): boolean =>
  namesOf(one).some((name) => namesOf(other).some((its) => sameName(name, its)));

const namesOf = ({ by, token }: Actor): readonly string[] => (token === undefined ? [by] : [by, token.name]);

/** A request for approval and its state. */
export interface ApprovalRequest {
  readonly proposal: ApprovalRecord;
  /** When it was proposed. */
  readonly at: Instant;
  /** The people who approved. */
  readonly agreed: readonly Actor[];
  /** Whether enough people approved. */
  readonly isApproved: boolean;
  /** Set if the request was rejected or has expired, so that nothing can use it any longer. */
  readonly ended?:
    { readonly how: 'rejected' | 'expired'; readonly by: string; readonly why: string } | undefined;
  /** The action that used up the approval. */
  readonly usedBy?: ApprovalRecord['for'] | undefined;
}

/** Number of requests that are kept, besides those that can still be decided or used. */
const KEPT = 1_000;

/** Whether the request is undecided. It may have expired. */
export const isUndecided = ({ isApproved, ended }: ApprovalRequest): boolean =>
  !isApproved && ended === undefined;

/** Requests as a fold of the journal. */
export class Approvals {
  /** All data of this class. A snapshot stores this object. */
  data = {
    known: new Map<string, ApprovalRequest>(),
    /** Number of requests in the whole journal, so that no id is given twice. */
    proposed: 0,
  };

  get(id: string): ApprovalRequest | undefined {
    return this.data.known.get(id);
  }

  all(): Iterable<ApprovalRequest> {
    return this.data.known.values();
  }

  /** The newest request of this subject. */
  of(subject: string): ApprovalRequest | undefined {
    return [...this.data.known.values()].findLast(({ proposal }) => proposal.subject === subject);
  }

  apply(body: ApprovalRecord, at: Instant): void {
    const { known } = this.data;
    const { request: id, step, by, why, token } = body;
    const one = known.get(id);
    if (step === 'proposed') {
      this.data.proposed++;
      known.set(id, { proposal: body, at, agreed: [], isApproved: false });
    } else if (one !== undefined && step === 'approved') {
      const agreed = [...one.agreed, { by, ...(token === undefined ? {} : { token }) }];
      known.set(id, { ...one, agreed, isApproved: one.isApproved || agreed.length >= one.proposal.count });
    } else if (one?.ended === undefined && one !== undefined && step !== 'approved')
      known.set(id, { ...one, ended: { how: step, by, why } });
    for (const [old, { ended, usedBy, proposal }] of known) {
      if (known.size <= KEPT) break;
      if (ended !== undefined || usedBy !== undefined || at >= proposal.expires_at) known.delete(old);
    }
  }

  /**
   * A person or a token was removed. Requests that they approved and that nothing has used need another approval, even if
   * the person returns. A parent that may trade does not stop halfway.
   */
  forgetAgreements(name: string): void {
    for (const [id, one] of this.data.known) {
      const { proposal, usedBy, ended } = one;
      const isUnused = isLasting(proposal.for) && proposal.for !== 'parent' && usedBy === undefined;
      if (ended !== undefined || (one.isApproved && !isUnused)) continue;
      const agreed = one.agreed.filter((actor) => !isSamePerson(actor, { by: name }));
      this.data.known.set(id, { ...one, agreed, isApproved: agreed.length >= proposal.count });
    }
  }

  /** Tokens that can no longer approve after a start count as removed. */
  settingsChanged(changes: readonly SettingChange[]): void {
    for (const { path, before, after = '' } of changes) {
      const name = /^operate\.tokens\.(?<name>.+)$/u.exec(path)?.groups?.['name'];
      if (name !== undefined && before !== undefined && !/^(?:approver|admin), person$/u.test(after))
        this.forgetAgreements(name);
    }
  }

  /** The age of a request to a dead process is unknown, so a person must make it again unless it outlives a process. */
  restart(): void {
    for (const [id, { proposal }] of this.data.known)
      if (!isLasting(proposal.for)) this.data.known.delete(id);
  }

  /** A reload carried out these requests. The record of a strategy that it starts uses up that request. */
  reloaded(ids: readonly string[]): void {
    for (const { proposal } of ids.flatMap((id) => this.get(id) ?? []))
      if (proposal.for === 'limits') this.use(proposal.subject);
  }

  /** An action uses up the newest approved request of its subject. Returns the request; `undefined`: there is none. */
  use(subject: string): ApprovalRecord | undefined {
    const one = this.of(subject);
    if (one?.isApproved !== true || one.ended !== undefined || one.usedBy !== undefined) return undefined;
    this.data.known.set(one.proposal.request, { ...one, usedBy: one.proposal.for });
    return one.proposal;
  }
}

/** Why this token does not count as one of two people; `undefined` if it does, or if no token was given. */
export function personFault(token: UsedToken | undefined): string | undefined {
  if (token === undefined || token.kind === 'person') return undefined;
  const whose = token.kind === 'machine' ? 'the token of this machine' : `${token.name} is a program`;
  return `${whose} does not count as one of two people: use the token of a person in operate.tokens, with --url`;
}

/** Why a request demands less than is now needed, in words. */
export function demandFault(
  { request, count, passkey }: ApprovalRecord,
  needed: Requirement | undefined,
): string | undefined {
  if (needed === undefined) return undefined;
  if (count >= needed.count && (needed.passkey === undefined || passkey === 'required')) return undefined;
  const keys = needed.passkey === undefined ? '' : ', each with a passkey';
  return `operate.approvals demands more than ${request} does: ${countWords(needed.count)}${keys}`;
}

/** Why an approval of this person does not count, regardless of its signature; `undefined` if it does. */
export function approvalFault(
  { proposal, ended, isApproved, agreed }: ApprovalRequest,
  actor: Actor,
  { people, needed, isOver }: { people: People; needed: Requirement | undefined; isOver: boolean },
): string | undefined {
  const { request: id } = proposal;
  if (ended !== undefined) return `${id} was ${ended.how} by ${ended.by}`;
  if (isApproved) return `${id} is approved already`;
  if (isOver) return `${id} has expired`;
  const name = nameOf(actor);
  if (isSamePerson(proposal, actor)) return `${name} has proposed it: another person must approve it`;
  if (agreed.some((one) => isSamePerson(one, actor))) return `${name} has approved it already`;
  if (people.get(name)?.state === 'removed') return `${name} was removed, and can no longer approve`;
  return personFault(actor.token) ?? demandFault(proposal, needed);
}

/** Why an approval lacks the signature that its request needs, or has an invalid one; `undefined` if it does not. */
export function signatureFault(
  { passkey: needed, hash }: ApprovalRecord,
  { assertion, ...actor }: Actor & Pick<ApprovalRecord, 'assertion'>,
  people: People,
): string | undefined {
  if (assertion === undefined)
    return needed === 'required'
      ? 'this request needs a passkey: sign in to the dashboard and approve it there'
      : undefined;
  const { passkeys = [], role } = people.get(nameOf(actor)) ?? {};
  const passkey = passkeys.find(({ id }) => id === assertion.credential_id);
  if (passkey === undefined) return `the passkey does not belong to ${nameOf(actor)}`;
  // An approver's token combined with a viewer's passkey of the same name is not an approver.
  if (role !== 'approver' && role !== 'admin')
    return `the passkey belongs to a person with the ${role ?? 'viewer'} role, who may not approve`;
  const fault = assertionFault(assertion, hash, passkey);
  return fault === undefined ? undefined : `the approval is not valid: ${fault}`;
}
