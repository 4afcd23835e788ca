import { EMPTY, mergeMap, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Limits } from '../../core/risk/limits.ts';
import {
  OVERRIDE_MAX_MINUTES,
  ceilingFault,
  concerns,
  loosened,
  overrideFault,
} from '../../core/risk/override.ts';
import type { OverriddenOrder } from '../../core/risk/override.ts';
import type { OverrideRecord } from '../../core/record.ts';
import { quantity, text } from '../../core/money.ts';
import { DAY_MS, MINUTE_MS, after } from '../../core/time.ts';
import type { Desk } from '../desk.ts';
import type { OpenSlice } from '../state/engine-state.ts';
import type { Override } from '../state/override-state.ts';
import type { Command, CommandAnswer } from '../ports.ts';
import { asked, hasFourEyes, needsTwo, personFault } from './four-eyes.ts';
import type { Guarded } from './proposals.ts';

/** The parts of a desk that this file uses. */
export type OverridesContext = Pick<
  Desk,
  'agreed$' | 'changed$' | 'instruments' | 'journal' | 'limitDay' | 'policy' | 'ports' | 'proposals' | 'state'
>;

type Propose = Command & { readonly do: 'propose' };
type Approve = Command & { readonly do: 'approve' };
type TakeBack = Command & { readonly do: 'withdraw' | 'reject' };

/**
 * What takes two people: one proposes, another approves, the journal knows both. An override of a limit is used once at the
 * most, by the attempt whose intent names it; a command is carried out when it is approved. None outlives its minutes or
 * the process.
 */
export const overrides = (desk: OverridesContext): Observable<unknown> =>
  desk.ports.operator$.pipe(
    mergeMap((command) => {
      if (command.do === 'propose') return propose(desk, command);
      if (command.do === 'approve') return approve(desk, command);
      if (command.do === 'withdraw' || command.do === 'reject') return takeBack(desk, command);
      return needsTwo(desk, command) ? ask(desk, command) : EMPTY;
    }),
  );

function propose(desk: OverridesContext, command: Propose): Observable<unknown> {
  const fault =
    overrideFault(command) ??
    ceilingFault(command, desk.policy.overrideCeilings) ??
    targetFault(desk, command) ??
    proposerFault(desk, command);
  if (fault !== undefined) {
    command.answer({ isDone: false, says: fault });
    return EMPTY;
  }
  const { limit, value, parent, slice, pair, side, minutes = OVERRIDE_MAX_MINUTES, by, why } = command;
  const wish = {
    limit,
    ...(value === undefined ? {} : { value: text(quantity(value)) }),
    ...(parent === undefined ? {} : { parent }),
    ...(slice === undefined ? {} : { slice }),
    ...(pair === undefined ? {} : { pair }),
    ...(side === undefined ? {} : { side }),
  };
  return proposed(desk, { wish, minutes, by, why, command });
}

/** A command that takes two people waits for the second one. */
function ask(desk: OverridesContext, command: Guarded): Observable<unknown> {
  const fault = guardedFault(desk, command);
  if (fault !== undefined) {
    command.answer?.({ isDone: false, says: fault });
    return EMPTY;
  }
  const { by, why } = command;
  return proposed(desk, { wish: asked(desk, command), minutes: OVERRIDE_MAX_MINUTES, by, why, command });
}

function guardedFault(desk: OverridesContext, command: Guarded): string | undefined {
  if (command.by.trim() === '') return 'name who proposes it';
  if (command.why.trim() === '') return 'give the reason';
  if (command.do === 'rearm' && desk.state.control !== 'halted') return 'the desk is not halted';
  return proposerFault(desk, command);
}

const proposerFault = (
  desk: OverridesContext,
  { token }: Pick<Command & Guarded, 'token'>,
): string | undefined => (hasFourEyes(desk) ? personFault(token) : undefined);

interface Proposing {
  readonly wish: Pick<OverrideRecord, 'limit'> & Partial<OverrideRecord>;
  readonly minutes: number;
  readonly by: string;
  readonly why: string;
  readonly command: Propose | Guarded;
}

/** Writes the proposal down, and says by when another person must approve it. */
function proposed(
  desk: OverridesContext,
  { wish, minutes, by, why, command }: Proposing,
): Observable<unknown> {
  const { clock } = desk.ports;
  const { token } = command;
  // By the steady clock too: one that is set back must not make it last.
  const until = after(clock.monotonic(), minutes * MINUTE_MS);
  const held = command.do === 'propose' ? undefined : command;
  const id = desk.proposals.add({ until, token, command: held }, desk.state.overrides.proposed);
  const record: OverrideRecord = {
    kind: 'override',
    override: id,
    step: 'proposed',
    ...wish,
    expires_at: after(clock.wall(), minutes * MINUTE_MS),
    by,
    why,
    ...(token === undefined ? {} : { token }),
  };
  return desk.journal.append([record]).pipe(
    tap(() => {
      command.answer?.({
        isDone: true,
        says: `${id} is proposed; another person must approve it within ${minutes} min`,
      });
    }),
  );
}

/** What is named must be there: a wrong id must not lie in wait. */
function targetFault(desk: OverridesContext, { parent, pair }: Propose): string | undefined {
  if (pair !== undefined && 'problem' in desk.instruments.pair(pair))
    return `the account has no pair ${pair}`;
  return parent === undefined || desk.state.totals.parent(parent) !== undefined
    ? undefined
    : `there is no parent ${parent} yet`;
}

function approve(desk: OverridesContext, command: Approve): Observable<unknown> {
  const { override: id, by, why, token } = command;
  const known = desk.state.overrides.get(id);
  const fault = approveFault(desk, known, command);
  if (fault !== undefined || known === undefined) {
    command.answer({ isDone: false, says: fault ?? `there is no override ${id}` });
    return EMPTY;
  }
  const held = desk.proposals.get(id)?.command;
  const { token: _proposer, ...proposal } = known.proposal;
  const record = {
    ...proposal,
    step: 'approved' as const,
    by,
    why,
    ...(token === undefined ? {} : { token }),
  };
  return desk.journal.append([record]).pipe(
    tap(() => {
      desk.changed$.next();
      if (held === undefined) command.answer({ isDone: true, says: `${id} is approved for one order` });
      else desk.agreed$.next(agreed(held, command));
    }),
  );
}

/** Ends an override that no order has used. */
function takeBack(desk: OverridesContext, command: TakeBack): Observable<unknown> {
  const { override: id, by, why, token } = command;
  const known = desk.state.overrides.get(id);
  const fault = takeBackFault(desk, known, command);
  if (fault !== undefined || known === undefined) {
    command.answer({ isDone: false, says: fault ?? `there is no override ${id}` });
    return EMPTY;
  }
  const step = command.do === 'withdraw' ? 'withdrawn' : 'rejected';
  const { token: _proposer, ...proposal } = known.proposal;
  return desk.journal
    .append([{ ...proposal, step, by, why, ...(token === undefined ? {} : { token }) }])
    .pipe(
      tap(() => {
        desk.changed$.next();
        command.answer({ isDone: true, says: `${id} is ${step}` });
      }),
    );
}

function takeBackFault(
  desk: OverridesContext,
  known: Override | undefined,
  { do: what, override: id, by, why, token }: TakeBack,
): string | undefined {
  if (by.trim() === '') return `name who ${what}s it`;
  if (why.trim() === '') return 'give the reason';
  if (known === undefined) return `there is no override ${id}`;
  if (known.usedBy !== undefined) return `${id} is used by ${known.usedBy}: it cannot be taken back`;
  if (known.ended !== undefined) return `${id} is ${known.ended.how} already`;
  if (isOver(desk, id)) return `${id} has expired`;
  const proposal = desk.proposals.get(id);
  const isOwn =
    sameName(known.proposal.by, by) || (token !== undefined && proposal?.token?.name === token.name);
  return what === 'withdraw' && !isOwn
    ? `${known.proposal.by} has proposed it: reject it instead`
    : undefined;
}

/** The command of two people. What comes of it the second one hears. */
function agreed(held: Guarded, approval: Approve): Guarded {
  const { override: id, by } = approval;
  const both = {
    by: `${held.by} and ${by}`,
    answer: ({ says, ...rest }: CommandAnswer) => {
      approval.answer({ ...rest, says: `${id} is approved: ${says}` });
    },
  };
  return { ...held, ...both };
}

function approveFault(
  desk: OverridesContext,
  known: Override | undefined,
  { override: id, by, why, token }: Approve,
): string | undefined {
  if (by.trim() === '') return 'name the approver';
  if (why.trim() === '') return 'give the reason';
  if (known === undefined) return `there is no override ${id}`;
  if (known.ended !== undefined) return `${id} was ${known.ended.how} by ${known.ended.by}`;
  if (known.approvedBy !== undefined) return `${id} is approved already`;
  if (isOver(desk, id)) return `${id} has expired`;
  const proposal = desk.proposals.get(id);
  const fault = personFault(token);
  if (fault !== undefined) return fault;
  if (proposal?.command !== undefined && asked(desk, proposal.command).hash !== known.proposal.hash)
    return `the desk has changed since ${id} was proposed: propose it again`;
  if (token !== undefined && proposal?.token?.name === token.name)
    return 'it was proposed with the same token: another person must approve it with a different token';
  return sameName(known.proposal.by, by)
    ? `${by} has proposed it: another person must approve it`
    : undefined;
}

const sameName = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();

/**
 * Expires by either clock, because the monotonic clock stops while the machine sleeps. Overrides of an earlier process
 * are over: their age is unknown.
 */
export function isOver(desk: OverridesContext, id: string): boolean {
  const { clock } = desk.ports;
  const until = desk.proposals.get(id)?.until ?? Number.NEGATIVE_INFINITY;
  const expiresAt = desk.state.overrides.get(id)?.proposal.expires_at ?? Number.NEGATIVE_INFINITY;
  return clock.monotonic() >= until || clock.wall() >= expiresAt;
}

/** Before the venue could be asked, and of a pair that it does not list any more, the currencies are not known. */
const orderOf = (desk: OverridesContext, { intent }: OpenSlice): OverriddenOrder => {
  const { parent, slice, pair, side } = intent;
  const known = desk.instruments.pair(pair);
  const { base, quote } = 'problem' in known ? { base: '', quote: '' } : known;
  return { parent, slice, pair, base, quote, side };
};

/** The approved overrides that this order may use, each with the limits that it leads to. */
export function* overridesFor(
  desk: OverridesContext,
  slice: OpenSlice,
  clientId: string | undefined,
): Generator<{ readonly id: string; readonly limits: Limits }> {
  if (desk.state.overrides.isEmpty) return;
  const order = orderOf(desk, slice);
  for (const [id, { proposal, approvedBy, usedBy, ended }] of desk.state.overrides.all()) {
    if (approvedBy === undefined || ended !== undefined || usedBy !== clientId || isOver(desk, id)) continue;
    // More at stake than this one order: nobody has looked at that.
    if (proposal.limit === 'max_order_notional' && desk.state.hasDoubts()) continue;
    if (concerns(proposal, order)) yield { id, limits: loosened(desk.policy.limits, proposal, order) };
  }
}

/** Limits that the totals of the day are held against: what was overridden today was meant to exceed them. */
export function dayLimits(desk: OverridesContext, slice: OpenSlice | undefined): Limits {
  let { limits } = desk.policy;
  if (slice === undefined || desk.state.overrides.isEmpty) return limits;
  const order = orderOf(desk, slice);
  const today = Math.floor(desk.limitDay.now() / DAY_MS);
  for (const [, { proposal, usedAt, usedPair }] of desk.state.overrides.all()) {
    if (usedAt === undefined || Math.floor(usedAt / DAY_MS) < today) continue;
    const { limit } = proposal;
    if (limit === 'max_day_notional' || (limit === 'max_pair_day_notional' && usedPair === order.pair))
      limits = loosened(limits, proposal, order);
  }
  return limits;
}
