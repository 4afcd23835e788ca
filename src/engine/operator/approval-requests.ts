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
import { countWords, isLasting, waitMsOf } from '../../core/approvals/approval-settings.ts';
import {
  approvalFault,
  isSamePerson,
  isUndecided,
  nameOf,
  personFault,
  requestHash,
  signatureFault,
} from '../../core/approvals/requests.ts';
import type { Actor, ApprovalRequest } from '../../core/approvals/requests.ts';
import type { ApprovalRecord } from '../../core/record.ts';
import { MINUTE_MS, after } from '../../core/time.ts';
import type { Desk } from '../desk.ts';
import type { Command, CommandAnswer } from '../ports.ts';
import { untilTime } from '../time/watch-clocks.ts';
import { watch } from '../watch.ts';
import { asked, isHeld, missingWords, neededNow } from './approvals.ts';
import type { Guarded, Wish } from './proposals.ts';

type Decision = Command & { readonly do: 'approve' | 'reject' };

/**
 * Handles requests that need approval. A person or the desk proposes, others approve, and the journal records every
 * step. An approved command is executed immediately; approvals for files and parents are looked up by subject. Never
 * emits.
 */
export const approvalRequests = (desk: Desk): Observable<unknown> =>
  merge(
    desk.ports.operator$.pipe(
      mergeMap((command) => {
        if (command.do === 'approve' || command.do === 'reject') return decide(desk, command);
        return isHeld(desk, command) ? hold(desk, command) : EMPTY;
      }),
    ),
    desk.wished$.pipe(
      // Deferred by a tick, because the stage that needs the approval is still running.
      observeOn(desk.ports.clock.scheduler),
      filter(
        ({ subject }) =>
          desk.state.approvals.of(subject) === undefined && !desk.proposals.wished.has(subject),
      ),
      mergeMap((wish) => {
        desk.proposals.wished.add(wish.subject);
        return desk.journal.append([proposalOf(desk, wish)]).pipe(
          finalize(() => {
            desk.proposals.wished.delete(wish.subject);
          }),
        );
      }),
    ),
    expire(desk),
  );

/** A command that needs approval waits for it. */
function hold(desk: Desk, command: Guarded): Observable<unknown> {
  const { by, why, token } = command;
  const { clock } = desk.ports;
  const { held } = desk.proposals;
  const wish = asked(desk, command);
  const requirement = neededNow(desk, wish);
  const fault = holdFault(desk, command, wish.subject);
  if (fault !== undefined || requirement === undefined) {
    command.answer?.({ isDone: false, says: fault ?? 'it needs no approval: repeat the command' });
    return EMPTY;
  }
  const record = proposalOf(desk, { ...wish, requirement, by, why, token });
  const waitMs = waitMsOf(record.for);
  for (const [id, { until }] of held) if (until <= clock.monotonic()) held.delete(id);
  // The monotonic clock also limits the request, because setting the wall clock back must not extend it.
  held.set(record.request, { until: after(clock.monotonic(), waitMs), command });
  return desk.journal.append([record]).pipe(
    tap(() => {
      const says = `${record.request} is proposed; ${countWords(record.count)} must approve it within ${waitMs / MINUTE_MS} min`;
      command.answer?.({ isDone: true, says });
    }),
  );
}

/** Largest number of undecided requests of one person, so that nobody fills the shared list. */
const OPEN_MAX = 20;

function holdFault(desk: Desk, command: Guarded, subject: string): string | undefined {
  if (command.do === 'rearm' && desk.state.control !== 'halted') return 'the desk is not halted';
  const standing = standingOf(desk, subject);
  if (standing?.is === 'open')
    return `${standing.request} asks for the same already: approve it, or reject it to ask again`;
  const open = [...desk.state.approvals.all()].filter(
    (one) => isUndecided(one) && isSamePerson(one.proposal, command) && !isOver(desk, one),
  );
  return open.length < OPEN_MAX
    ? personFault(command.token)
    : `${nameOf(command)} has ${OPEN_MAX} open requests, the maximum for one person: reject some first`;
}

/** The record of a request, which also alerts people to it. */
export function proposalOf(
  desk: Pick<Desk, 'observer' | 'policy' | 'ports' | 'proposals' | 'state'>,
  { requirement, by, why, token, ...wish }: Wish,
): ApprovalRecord {
  const record = withoutGaps({
    kind: 'approval' as const,
    request: desk.proposals.nextId(desk.state.approvals.data.proposed),
    step: 'proposed' as const,
    ...wish,
    ...requirement,
    expires_at: after(desk.ports.clock.wall(), waitMsOf(wish.for)),
    by,
    why,
    token,
  });
  desk.observer.alert('approval_asked', { request: record.request, asks: record.asks });
  return { ...record, hash: requestHash(record, desk.policy) };
}

/** Omitted rather than `undefined`, because the journal holds plain JSON. */
const withoutGaps = <T extends object>(fields: T): T =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same without what is not there
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

/** Records the decision of one person. The last approval carries the request out; one rejection ends it. */
function decide(desk: Desk, command: Decision): Observable<unknown> {
  const { request: id, by, why, token } = command;
  const known = desk.state.approvals.get(id);
  const fault = decisionFault(desk, known, command);
  if (fault !== undefined || known === undefined) {
    command.answer({ isDone: false, says: fault ?? `there is no request ${id}` });
    return EMPTY;
  }
  const step = command.do === 'approve' ? 'approved' : 'rejected';
  const assertion = command.do === 'approve' ? command.assertion : undefined;
  return recorded(desk, known, { step, by, why, token, assertion }).pipe(
    tap(() => {
      desk.changed$.next();
      const now = desk.state.approvals.get(id) ?? known;
      if (now.isApproved && step === 'approved') carryOut(desk, now, command);
      else {
        const missing = `has your approval; still missing: ${missingWords(now)}`;
        command.answer({ isDone: true, says: `${id} ${step === 'rejected' ? 'is rejected' : missing}` });
      }
    }),
  );
}

/** Appends a step of a request. Until it is durable, no other step may be decided. */
function recorded(
  { journal, proposals: { busy } }: Desk,
  { proposal: { token: _token, ...proposal } }: ApprovalRequest,
  step: Pick<ApprovalRecord, 'step' | 'by' | 'why' | 'token' | 'assertion'>,
): Observable<unknown> {
  const end = (): boolean => busy.delete(proposal.request);
  busy.add(proposal.request);
  return journal.append([withoutGaps({ ...proposal, ...step })]).pipe(tap(end), finalize(end));
}

/** Acts on the last approval. A command is taken only once, so it cannot run twice. */
function carryOut(desk: Desk, { proposal, agreed }: ApprovalRequest, approval: Decision): void {
  const { request: id } = proposal;
  const held = desk.proposals.takeCommand(id);
  if (held === undefined) {
    approval.answer({ isDone: true, says: `${id} is approved` });
    if (isLasting(proposal.for)) desk.approved$.next(proposal);
    return;
  }
  // The last approver receives the result.
  const answer = ({ says, ...rest }: CommandAnswer): void => {
    approval.answer({ ...rest, says: `${id} is approved: ${says}` });
  };
  desk.agreed$.next({ ...held, by: [held, ...agreed].map(({ by }) => by).join(' and '), answer });
}

/** Why this decision does not count; `undefined` when it does. */
function decisionFault(
  desk: Desk,
  known: ApprovalRequest | undefined,
  command: Decision,
): string | undefined {
  const { do: what, request: id, hash } = command;
  if (known === undefined) return `there is no request ${id}`;
  const fault = what === 'approve' ? mayApproveFault(desk, known, command) : mayRejectFault(desk, known);
  if (fault !== undefined) return fault;
  if (hash !== undefined && hash !== known.proposal.hash)
    return 'the request differs from the one that you reviewed: review it again';
  if (desk.proposals.busy.has(id)) return 'another decision on this request is being written: try again';
  return what === 'approve' ? signatureFault(known.proposal, command, desk.state.people) : undefined;
}

/** Why nobody may reject the request as it stands. */
export function mayRejectFault(desk: Desk, known: ApprovalRequest): string | undefined {
  const { request: id, for: kind } = known.proposal;
  // The last approval of a command carries it out.
  if (known.usedBy !== undefined || (known.isApproved && !isLasting(kind)))
    return `${id} is used: it cannot be rejected`;
  if (known.ended !== undefined) return `${id} is ${known.ended.how} already`;
  return isOver(desk, known) ? `${id} has expired` : undefined;
}

/** Why this person may not approve the request as it stands, regardless of signatures. */
export function mayApproveFault(desk: Desk, known: ApprovalRequest, actor: Actor): string | undefined {
  const { proposal } = known;
  const { people } = desk.state;
  // A request may outlive a restart that brings other settings, so each approval is judged by those in force.
  const needed = neededNow(desk, proposal);
  const fault = approvalFault(known, actor, { people, needed, isOver: isOver(desk, known) });
  if (fault !== undefined) return fault;
  const held = desk.proposals.held.get(proposal.request)?.command;
  return held === undefined || asked(desk, held).subject === proposal.subject
    ? undefined
    : `the desk has changed since ${proposal.request} was proposed: propose it again`;
}

/**
 * Expires by either clock, because the monotonic clock stops while the machine sleeps. A person's command to an earlier
 * process has expired, because its age is unknown. Requests that outlive a process use the wall clock and the latest
 * time of any record.
 */
export function isOver(
  { ports: { clock }, proposals, state }: Pick<Desk, 'ports' | 'proposals' | 'state'>,
  { proposal: { request: id, for: kind, expires_at: expiresAt } }: ApprovalRequest,
): boolean {
  if (isLasting(kind)) return Math.max(clock.wall(), state.newestRecordAt ?? 0) >= expiresAt;
  const until = proposals.held.get(id)?.until ?? Number.NEGATIVE_INFINITY;
  return clock.monotonic() >= until || clock.wall() >= expiresAt;
}

/** How the newest request of a subject stands, for what waits for it; `undefined`: there is none. */
export function standingOf(
  desk: Pick<Desk, 'ports' | 'proposals' | 'state'>,
  subject: string,
):
  { readonly request: string; readonly is: 'approved' | 'open' | 'over'; readonly says: string } | undefined {
  const known = desk.state.approvals.of(subject);
  if (known === undefined) return undefined;
  const { request } = known.proposal;
  // While a decision is being recorded, nothing may use the request.
  if (desk.proposals.busy.has(request))
    return { request, is: 'open', says: `a decision about ${request} is being written` };
  const end = known.ended?.how ?? (known.usedBy === undefined ? undefined : 'used');
  if (end !== undefined) return { request, is: 'over', says: `${request} is ${end}` };
  // A parent that may trade does not stop halfway, but an approved file that nobody used in time is asked for again.
  if (known.isApproved && (known.proposal.for === 'parent' || !isOver(desk, known)))
    return { request, is: 'approved', says: `${request} is approved` };
  return isOver(desk, known)
    ? { request, is: 'over', says: `${request} is expired` }
    : { request, is: 'open', says: `${request} needs ${missingWords(known)}` };
}

/** Records that nobody decided a request that outlives a process in time. */
const expire = (desk: Desk): Observable<unknown> =>
  watch(desk.changed$, () => nextToExpire(desk)).pipe(
    distinctUntilChanged(),
    switchMap((next) =>
      next === undefined
        ? EMPTY
        : merge(of(undefined), untilTime(desk, next.proposal.expires_at)).pipe(
            filter(() => isOver(desk, next) && !desk.proposals.busy.has(next.proposal.request)),
            mergeMap(() =>
              recorded(desk, next, { step: 'expired', by: 'tranche', why: 'nobody decided in time' }),
            ),
          ),
    ),
  );

const nextToExpire = ({ state }: Pick<Desk, 'state'>): ApprovalRequest | undefined =>
  [...state.approvals.all()]
    .filter((one) => isLasting(one.proposal.for) && isUndecided(one))
    .toSorted((a, b) => a.proposal.expires_at - b.proposal.expires_at)[0];
