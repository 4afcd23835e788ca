import {
  EMPTY,
  distinctUntilChanged,
  filter,
  finalize,
  merge,
  mergeMap,
  observeOn,
  of,
  switchMap,
  tap,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { assertionFault } from '../../core/approvals/passkey-assertion.ts';
import { isAtLeast, isMember, sameName } from '../../core/approvals/approval-policy.ts';
import type { Requirement, RequestKind } from '../../core/approvals/approval-policy.ts';
import {
  isInitiator,
  kindOf,
  nameOf,
  requestHash,
  requirementOfRequest,
} from '../../core/approvals/approval-request.ts';
import type { RequestOrigin } from '../../core/approvals/approval-request.ts';
import type { OverrideRecord, UsedToken } from '../../core/record.ts';
import { MINUTE_MS, after } from '../../core/time.ts';
import type { Desk } from '../desk.ts';
import type { Command, CommandAnswer } from '../ports.ts';
import { isDurable, isUndecided } from '../state/override-state.ts';
import type { Agreement, Override } from '../state/override-state.ts';
import { untilTime } from '../time/watch-clocks.ts';
import type { WatchClocksContext } from '../time/watch-clocks.ts';
import { watch } from '../watch.ts';
import {
  asked,
  blockedWords,
  commandRequirement,
  isComplete,
  isHeld,
  isStrict,
  missingWords,
  personFault,
  policyInForce,
} from './approvals.ts';
import type { Guarded, Wish } from './proposals.ts';
import { kindOfRearm, raisedParts } from '../../core/approvals/limits-in-force.ts';

/** The parts of a desk that this file uses. */
export type RequestsContext = Pick<
  Desk,
  | 'agreed$'
  | 'approved$'
  | 'changed$'
  | 'journal'
  | 'observer'
  | 'policy'
  | 'ports'
  | 'proposals'
  | 'state'
  | 'wished$'
> &
  WatchClocksContext;

type Approve = Command & { readonly do: 'approve' };
type TakeBack = Command & { readonly do: 'withdraw' | 'reject' };

/**
 * Handles requests that need approval. A person or the desk proposes, others approve, and the journal records every
 * step. An approved command is executed immediately; approvals for files and parents are looked up by subject. Never
 * emits.
 */
export const approvalRequests = (desk: RequestsContext): Observable<unknown> =>
  merge(
    desk.ports.operator$.pipe(
      mergeMap((command) => {
        if (command.do === 'approve') return approve(desk, command);
        if (command.do === 'withdraw' || command.do === 'reject') return takeBack(desk, command);
        return isHeld(desk, command) ? ask(desk, command) : EMPTY;
      }),
    ),
    desk.wished$.pipe(
      // Deferred by a tick, because the stage that needs the approval is still running.
      observeOn(desk.ports.clock.scheduler),
      filter(
        ({ subject }) => desk.state.overrides.of(subject) === undefined && desk.proposals.mayWish(subject),
      ),
      mergeMap((wish) => askFor(desk, wish)),
    ),
    expire(desk),
  );

/** A command that needs approval waits for it. */
function ask(desk: RequestsContext, command: Guarded): Observable<unknown> {
  const { by, why } = command;
  const requirement = commandRequirement(desk, command);
  const fault =
    guardedFault(desk, command) ??
    (requirement.outcome === 'block' ? blockedWords(requirement) : proposerFault(desk, command));
  if (fault !== undefined) {
    command.answer?.({ isDone: false, says: fault });
    return EMPTY;
  }
  const { limits } = desk.state;
  const parts = raisedParts(limits.agreed, limits.raised);
  const request: RequestKind = command.do === 'rearm' ? kindOfRearm(parts) : 'doubt';
  const difference = [...parts.limits, ...parts.policy];
  const wish = {
    ...asked(desk, command),
    request,
    ...(command.do === 'rearm' && difference.length > 0 ? { difference } : {}),
  };
  return proposed(desk, { wish, requirement, by, why, command });
}

function guardedFault(desk: RequestsContext, command: Guarded): string | undefined {
  if (command.by.trim() === '') return 'name the proposer';
  if (command.why.trim() === '') return 'give the reason';
  return command.do === 'rearm' && desk.state.control !== 'halted' ? 'the desk is not halted' : undefined;
}

/** If the desk distinguishes people, the requester must be one. */
export const proposerFault = (
  desk: Pick<Desk, 'policy' | 'state'>,
  { token }: { readonly token?: UsedToken | undefined },
): string | undefined => (isStrict(desk) ? personFault(token) : undefined);

interface Proposing {
  readonly wish: Pick<OverrideRecord, 'limit'> & Partial<OverrideRecord>;
  readonly requirement: Requirement;
  readonly by: string;
  readonly why: string;
  /**
   * A person's proposal. The person receives a response once it is durable. The desk executes the guarded command once
   * the others approve.
   */
  readonly command: (Command & { readonly do: 'propose' }) | Guarded;
}

/** Records the proposal, and responds with the time by which others must approve it. */
export function proposed(
  desk: RequestsContext,
  { wish, requirement, by, why, command }: Proposing,
): Observable<unknown> {
  const { clock } = desk.ports;
  const { token } = command;
  const { withinMs } = requirement;
  const fault = tooManyFault(desk, { by, token });
  if (fault !== undefined) {
    command.answer?.({ isDone: false, says: fault });
    return EMPTY;
  }
  const id = desk.proposals.nextId(desk.state.overrides.proposed);
  // The monotonic clock also limits the proposal, because setting the wall clock back must not extend it.
  const until = after(clock.monotonic(), withinMs);
  const held = command.do === 'propose' ? undefined : command;
  desk.proposals.set(id, { until, token, command: held }, clock.monotonic());
  const record = proposalRecord(desk, { id, wish, requirement, by, why, token });
  const isAllowed = requirement.outcome === 'allow';
  const allowed = { ...record, step: 'approved' as const, by: 'tranche', why: 'operate.policy allows it' };
  return desk.journal.append(isAllowed ? [record, withoutToken(allowed)] : [record]).pipe(
    tap(() => {
      if (!isAllowed) desk.observer.alert('approval_asked', { request: id, asks: wish.asks ?? wish.limit });
      const minutes = Math.round(withinMs / MINUTE_MS);
      const says = isAllowed
        ? `${id} is approved for one order: operate.policy requires nobody else`
        : `${id} is proposed; another person must approve it within ${minutes} min${manyWords(requirement)}`;
      command.answer?.({ isDone: true, says });
    }),
  );
}

/** Number of undecided or unused requests of one person, so that nobody fills the shared list. */
const OPEN_MAX = 20;

function tooManyFault(
  desk: RequestsContext,
  asker: Pick<OverrideRecord, 'by' | 'token'>,
): string | undefined {
  const name = nameOf(asker);
  const open = [...desk.state.overrides.all()].filter(
    ([id, { proposal, ended, usedBy }]) =>
      ended === undefined && usedBy === undefined && isInitiator(proposal, asker) && !isOver(desk, id),
  );
  return open.length < OPEN_MAX
    ? undefined
    : `${name} has ${OPEN_MAX} open requests, the maximum for one person: withdraw some, or wait until they are decided`;
}

/** Returns a note that one more person must approve, or that not every person counts. */
const manyWords = ({ needs, rule }: Requirement): string =>
  needs.length === 1 && needs[0]?.count === 1 && needs[0].groups[0] === 'approvers'
    ? ''
    : ` (${needs.map(({ count, groups }) => `${count} of ${groups.join(' or ')}`).join(' and ')}, by rule ${rule ?? 0} of operate.policy)`;

const withoutToken = ({ token: _token, ...record }: OverrideRecord): OverrideRecord => record;

/** Records a request of the desk itself, unless the same request is open, approved or rejected. */
function askFor(desk: RequestsContext, wish: Wish): Observable<unknown> {
  const record = wishRecord(desk, wish);
  return desk.journal.append([record]).pipe(
    tap(() => {
      desk.observer.alert('approval_asked', { request: record.override, asks: record.asks ?? '' });
    }),
    finalize(() => {
      desk.proposals.granted(wish.subject);
    }),
  );
}

/** The record of the request for approval. */
export function wishRecord(
  desk: Pick<RequestsContext, 'policy' | 'ports' | 'proposals' | 'state'>,
  { requirement, by, why, token, ...rest }: Wish,
): OverrideRecord {
  const id = desk.proposals.nextId(desk.state.overrides.proposed);
  const wish = { ...rest, limit: rest.request };
  return proposalRecord(desk, { id, wish, requirement, by, why, token });
}

function proposalRecord(
  desk: Pick<RequestsContext, 'policy' | 'ports' | 'state'>,
  {
    id,
    wish,
    requirement,
    by,
    why,
    token,
  }: Omit<Proposing, 'command'> & {
    readonly id: string;
    readonly token: UsedToken | undefined;
  },
): OverrideRecord {
  const needsPasskey =
    requirement.outcome === 'require' &&
    (requirement.passkey === 'required' || (requirement.passkey === undefined && havePasskeys(desk)));
  const record: OverrideRecord = {
    kind: 'override',
    override: id,
    step: 'proposed',
    ...withoutGaps(wish),
    ...(requirement.outcome === 'require' ? { needs: requirement.needs } : {}),
    ...(needsPasskey ? { passkey: 'required' } : {}),
    expires_at: after(desk.ports.clock.wall(), requirement.withinMs),
    by,
    why,
    ...(token === undefined ? {} : { token }),
  };
  return { ...record, hash: requestHash(record, originOf(desk)) };
}

/** Omitted rather than `undefined`, because the journal holds plain JSON. */
const withoutGaps = <T extends object>(fields: T): T =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same without what is not there
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

export const originOf = ({ policy: { desk, account } }: Pick<Desk, 'policy'>): RequestOrigin => ({
  desk,
  account,
});

/**
 * Once anyone has a passkey, a copied token alone must not be enough to approve. This still holds after those people are removed, which
 * a single admin can do.
 */
const havePasskeys = ({ state }: Pick<Desk, 'state'>): boolean =>
  [...state.people.all()].some(({ passkeys, hadPasskey }) => passkeys.length > 0 || hadPasskey === true);

function approve(desk: RequestsContext, command: Approve): Observable<unknown> {
  const { override: id, by, why, token, assertion } = command;
  const known = desk.state.overrides.get(id);
  const fault = approveFault(desk, known, command);
  if (fault !== undefined || known === undefined) {
    command.answer({ isDone: false, says: fault ?? `there is no override ${id}` });
    return EMPTY;
  }
  const isLast = isComplete(desk, known, { by, token });
  const step = isLast ? ('approved' as const) : ('agreed' as const);
  const record = {
    ...withoutToken(known.proposal),
    step,
    by,
    why,
    ...(token === undefined ? {} : { token }),
    ...(assertion === undefined ? {} : { assertion }),
  };
  desk.proposals.begin(id);
  return desk.journal.append([record]).pipe(
    finalize(() => {
      desk.proposals.end(id);
    }),
    tap(() => {
      desk.proposals.end(id);
      desk.changed$.next();
      const now = desk.state.overrides.get(id) ?? known;
      if (!isLast) {
        command.answer({
          isDone: true,
          says: `${id} has your approval; still missing: ${missingWords(desk, now)}`,
        });
        return;
      }
      carryOut(desk, now, command);
    }),
  );
}

/** Acts on the last approval. A command is taken only once, so it cannot run twice. */
function carryOut(desk: RequestsContext, { proposal, agreed: people }: Override, approval: Approve): void {
  const { override: id } = proposal;
  const held = desk.proposals.takeCommand(id);
  if (held !== undefined) {
    desk.agreed$.next(agreed(held, people, approval));
    return;
  }
  const isOfLimit = kindOf(proposal) === 'override';
  approval.answer({
    isDone: true,
    says: isOfLimit ? `${id} is approved for one order` : `${id} is approved`,
  });
  if (isDurable(proposal)) desk.approved$.next(proposal);
}

/** Ends a request that has not been used. */
function takeBack(desk: RequestsContext, command: TakeBack): Observable<unknown> {
  const { override: id, by, why, token } = command;
  const known = desk.state.overrides.get(id);
  const fault = takeBackFault(desk, known, command);
  if (fault !== undefined || known === undefined) {
    command.answer({ isDone: false, says: fault ?? `there is no override ${id}` });
    return EMPTY;
  }
  const step = command.do === 'withdraw' ? 'withdrawn' : 'rejected';
  desk.proposals.begin(id);
  return desk.journal
    .append([{ ...withoutToken(known.proposal), step, by, why, ...(token === undefined ? {} : { token }) }])
    .pipe(
      finalize(() => {
        desk.proposals.end(id);
      }),
      tap(() => {
        desk.proposals.forget(id);
        desk.changed$.next();
        command.answer({ isDone: true, says: `${id} is ${step}` });
      }),
    );
}

function takeBackFault(
  desk: RequestsContext,
  known: Override | undefined,
  { do: what, override: id, by, why, token, hash }: TakeBack,
): string | undefined {
  if (by.trim() === '') return `name the person who ${what}s it`;
  if (why.trim() === '') return 'give the reason';
  const fault = mayTakeBackFault(desk, known, { do: what, id, by, token });
  if (fault !== undefined) return fault;
  if (hash !== undefined && hash !== known?.proposal.hash) return OTHER_REQUEST;
  return desk.proposals.isBusy(id) ? BUSY : undefined;
}

/** Why this person may not reject the request as it stands, or may not withdraw it. */
export function mayTakeBackFault(
  desk: Pick<RequestsContext, 'ports' | 'proposals' | 'state'>,
  known: Override | undefined,
  {
    do: what,
    id,
    by,
    token,
  }: { do: 'withdraw' | 'reject'; id: string; by: string; token?: UsedToken | undefined },
): string | undefined {
  if (known === undefined) return `there is no override ${id}`;
  if (known.usedBy !== undefined) return `${id} is used by ${known.usedBy}: it cannot be withdrawn`;
  if (known.ended !== undefined) return `${id} is ${known.ended.how} already`;
  if (isOver(desk, id)) return `${id} has expired`;
  return what === 'withdraw' && !isInitiator(known.proposal, { by, token })
    ? `${known.proposal.by} has proposed it: reject it instead`
    : undefined;
}

const OTHER_REQUEST = 'the request differs from the one that you reviewed: review it again';
const BUSY = 'another decision on this request is being written: try again';

/** Executes the approved command. The last approver receives its result. */
function agreed(held: Guarded, people: readonly Agreement[], approval: Approve): Guarded {
  const { override: id } = approval;
  const both = {
    by: [held, ...people].map(({ by }) => by).join(' and '),
    answer: ({ says, ...rest }: CommandAnswer) => {
      approval.answer({ ...rest, says: `${id} is approved: ${says}` });
    },
  };
  return { ...held, ...both };
}

/** Why this approval does not count; `undefined` when it does. */
export function approveFault(
  desk: RequestsContext,
  known: Override | undefined,
  { override: id, by, why, token, hash, assertion }: Omit<Approve, 'do' | 'answer'>,
): string | undefined {
  if (by.trim() === '') return 'name the approver';
  if (why.trim() === '') return 'give the reason';
  const fault = mayApproveFault(desk, known, { id, by, token });
  if (fault !== undefined || known === undefined) return fault;
  const { proposal } = known;
  if (hash !== undefined && hash !== proposal.hash) return OTHER_REQUEST;
  if (desk.proposals.isBusy(id)) return BUSY;
  if (assertion === undefined)
    return proposal.passkey === 'required'
      ? 'this request needs a passkey: sign in to the dashboard and approve it there'
      : undefined;
  const { passkeys = [], state, role } = desk.state.people.get(nameOf({ by, token })) ?? {};
  const passkey = passkeys.find((one) => one.id === assertion.credential_id);
  if (passkey === undefined || state !== 'active')
    return `the passkey does not belong to ${nameOf({ by, token })}`;
  // An approver's token combined with a viewer's passkey of the same name is not an approver.
  if (role !== 'approver' && role !== 'admin')
    return `the passkey belongs to a person with ${role === undefined ? 'no role' : `the ${role} role`}, who may not approve`;
  const { id: credential, publicKey, home } = passkey;
  if (home === undefined)
    return 'the desk does not know the page on which this passkey signs: sign in with it once, then approve';
  const signed = assertionFault(assertion, {
    challenge: proposal.hash ?? '',
    passkey: { id: credential, public_key: publicKey },
    home,
  });
  return signed === undefined ? undefined : `the approval is not valid: ${signed}`;
}

/** Why this person may not approve the request as it stands, regardless of signatures. */
export function mayApproveFault(
  desk: Pick<RequestsContext, 'policy' | 'ports' | 'proposals' | 'state'>,
  known: Override | undefined,
  { id, by, token }: { id: string; by: string; token?: UsedToken | undefined },
): string | undefined {
  if (known === undefined) return `there is no override ${id}`;
  const { proposal, ended, approvedBy } = known;
  if (ended !== undefined) return `${id} was ${ended.how} by ${ended.by}`;
  if (approvedBy !== undefined) return `${id} is approved already`;
  if (isOver(desk, id)) return `${id} has expired`;
  const fault = personFault(token);
  if (fault !== undefined) return fault;
  const held = desk.proposals.get(id)?.command;
  if (held !== undefined && asked(desk, held).subject !== proposal.subject)
    return `the desk has changed since ${id} was proposed: propose it again`;
  if (token !== undefined && proposal.token?.name === token.name && !sameName(by, proposal.by))
    return 'it was proposed with the same token: another person must approve it with a different token';
  if (isInitiator(proposal, { by, token })) return `${by} has proposed it: another person must approve it`;
  const name = nameOf({ by, token });
  if (desk.state.people.get(name)?.state === 'removed')
    return `${name} was removed, and can no longer approve`;
  if (known.agreed.some((one) => isInitiator(one, { by, token }))) return `${name} has approved it already`;
  const isKnown = kindOf(proposal) !== 'parent' || proposal.amount !== undefined;
  if (proposal.needs !== undefined && isDurable(proposal) && isKnown) {
    // A request may outlive a restart that brings another policy, so each approval is judged by the policy in force
    // when it is given.
    const now = requirementOfRequest(policyInForce(desk), proposal);
    if (now.outcome === 'block') return `${id} can no longer be approved: ${blockedWords(now)}`;
    if (now.outcome === 'require' && !isAtLeast(proposal.needs, now))
      return `operate.policy asks for more than ${id} does, because it changed since the proposal: reject the request, and have it proposed again`;
    if (now.outcome === 'require' && now.passkey === 'required' && proposal.passkey === undefined)
      return `operate.policy requires passkeys since ${id} was proposed: reject the request, and have it proposed again`;
  }
  const groups = proposal.needs?.flatMap((need) => need.groups);
  return groups === undefined || isMember(policyInForce(desk), name, groups)
    ? undefined
    : `${name} is in none of the groups that must agree: ${missingWords(desk, known)}`;
}

/**
 * Expires by either clock, because the monotonic clock stops while the machine sleeps. A person's proposal to an
 * earlier process has expired, because its age is unknown. Requests that outlive a process use the wall clock and the
 * latest time of any record.
 */
export function isOver(desk: Pick<RequestsContext, 'ports' | 'proposals' | 'state'>, id: string): boolean {
  const { clock } = desk.ports;
  const known = desk.state.overrides.get(id);
  const expiresAt = known?.proposal.expires_at ?? Number.NEGATIVE_INFINITY;
  if (known !== undefined && isDurable(known.proposal))
    return Math.max(clock.wall(), desk.state.newestRecordAt ?? 0) >= expiresAt;
  const until = desk.proposals.get(id)?.until ?? Number.NEGATIVE_INFINITY;
  return clock.monotonic() >= until || clock.wall() >= expiresAt;
}

/** Records the rejection of requests that outlive a process and that nobody decided in time. */
function expire(desk: RequestsContext): Observable<unknown> {
  return watch(desk.changed$, () => nextToExpire(desk)).pipe(
    distinctUntilChanged(),
    switchMap((next) =>
      next === undefined
        ? EMPTY
        : merge(of(undefined), untilTime(desk, next.proposal.expires_at)).pipe(
            filter(
              () => isOver(desk, next.proposal.override) && !desk.proposals.isBusy(next.proposal.override),
            ),
            mergeMap(() => {
              desk.proposals.begin(next.proposal.override);
              const why = 'nobody decided in time';
              return desk.journal
                .append([{ ...withoutToken(next.proposal), step: 'expired', by: 'tranche', why }])
                .pipe(
                  finalize(() => {
                    desk.proposals.end(next.proposal.override);
                  }),
                );
            }),
          ),
    ),
  );
}

function nextToExpire({ state }: Pick<Desk, 'state'>): Override | undefined {
  let next: Override | undefined;
  for (const [, one] of state.overrides.all())
    if (isDurable(one.proposal) && isUndecided(one))
      if (next === undefined || one.proposal.expires_at < next.proposal.expires_at) next = one;
  return next;
}
