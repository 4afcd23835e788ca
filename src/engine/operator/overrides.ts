import { EMPTY, filter, mergeMap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Limits } from '../../core/risk/limits.ts';
import { ceilingFault, concerns, loosened, overrideFault } from '../../core/risk/override.ts';
import type { OverriddenOrder } from '../../core/risk/override.ts';
import { nameOf } from '../../core/approvals/approval-request.ts';
import { quantity, text } from '../../core/money.ts';
import { DAY_MS, MINUTE_MS } from '../../core/time.ts';
import type { Desk } from '../desk.ts';
import type { OpenSlice } from '../state/engine-state.ts';
import type { Command } from '../ports.ts';
import { blockedWords, requirementFor } from './approvals.ts';
import { isOver, proposed, proposerFault } from './approval-requests.ts';
import type { RequestsContext } from './approval-requests.ts';

/** The parts of a desk that this file uses. */
export type OverridesContext = Pick<Desk, 'instruments' | 'limitDay'> & RequestsContext;

type Propose = Command & { readonly do: 'propose' };

/**
 * Overrides of a limit for one order: proposed here, approved like any request. Only the attempt whose intent names
 * an override uses it, once. An override ends after its minutes, or with the process.
 */
export const overrides = (desk: OverridesContext): Observable<unknown> =>
  desk.ports.operator$.pipe(
    filter((command): command is Propose => command.do === 'propose'),
    mergeMap((command) => propose(desk, command)),
  );

function propose(desk: OverridesContext, command: Propose): Observable<unknown> {
  const requirement = requirementFor(desk, { kind: 'override', limit: command.limit, by: nameOf(command) });
  const fault =
    overrideFault(command) ??
    ceilingFault(command, desk.policy.limits.overrideCeilings) ??
    targetFault(desk, command) ??
    (requirement.outcome === 'block' ? blockedWords(requirement) : proposerFault(desk, command));
  if (fault !== undefined) {
    command.answer({ isDone: false, says: fault });
    return EMPTY;
  }
  const { limit, value, parent, slice, pair, side, minutes, by, why } = command;
  const withinMs = Math.min(requirement.withinMs, (minutes ?? Number.POSITIVE_INFINITY) * MINUTE_MS);
  const wish = {
    request: 'override' as const,
    limit,
    ...(value === undefined ? {} : { value: text(quantity(value)) }),
    ...(parent === undefined ? {} : { parent }),
    ...(slice === undefined ? {} : { slice }),
    ...(pair === undefined ? {} : { pair }),
    ...(side === undefined ? {} : { side }),
  };
  return proposed(desk, { wish, requirement: { ...requirement, withinMs }, by, why, command });
}

/** The subject must exist, because an override for a wrong id would wait unnoticed. */
function targetFault(desk: OverridesContext, { parent, pair }: Propose): string | undefined {
  if (pair !== undefined && 'problem' in desk.instruments.pair(pair))
    return `the account has no pair ${pair}`;
  return parent === undefined || desk.state.totals.parent(parent) !== undefined
    ? undefined
    : `there is no parent ${parent} yet`;
}

/** The currencies are unknown before the venue was queried, and for a pair that it no longer lists. */
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
    // With an open doubt, more than this one order is at stake, and nobody has reviewed that.
    if (proposal.limit === 'max_order_notional' && desk.state.hasDoubts()) continue;
    if (concerns(proposal, order)) yield { id, limits: loosened(desk.policy.limits, proposal, order) };
  }
}

/**
 * The limits for this order, with those of the day loosened by the overrides used today, because their orders were meant to
 * exceed them.
 */
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
