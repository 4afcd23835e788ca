import { map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import { refusal } from '../../core/risk/controls.ts';
import type { Limits, Proposal } from '../../core/risk/limits.ts';
import { stop } from '../../core/risk/refusal.ts';
import type { Refusal } from '../../core/risk/refusal.ts';
import type { Next } from '../../core/cycle/cycle.ts';
import { cost, holding, price } from '../../core/money.ts';
import type { Money, Price } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import type { Desk } from '../desk.ts';
import { stopped } from '../stage-types.ts';
import type { Sized, Stopped } from '../stage-types.ts';
import { overridesFor } from '../operator/overrides.ts';
import { parentRefusal } from '../operator/parent-approvals.ts';
import type { ParentApprovalsContext } from '../operator/parent-approvals.ts';
import { riskContextOf } from '../market/risk-context.ts';
import type { Trial } from '../market/risk-context.ts';
import type { OverridesContext } from '../operator/overrides.ts';
import type { RiskContextSource } from '../market/risk-context.ts';

/** The parts of a desk that this file uses. */
export type ControlContext = Pick<Desk, 'rates'> &
  OverridesContext &
  ParentApprovalsContext &
  RiskContextSource;

/** Checks the limits before the first request to the venue. The gate checks them again with the quote. */
export function control(desk: ControlContext): OperatorFunction<Sized | Stopped, Sized | Stopped> {
  return map((item) => controlled(desk, item));
}

/** Checks one item against the limits at this moment. */
export function controlled(desk: ControlContext, item: Sized | Stopped): Sized | Stopped {
  if (item.stage === 'stopped') return item;
  if (item.slice.intent.side === 'sell' && !desk.policy.isSellingOn) {
    return stopped(item.slice, 'selling_off', 'venue.sell_path is not set', { do: 'stop' });
  }
  const unasked = parentRefusal(desk, item.slice);
  if (unasked !== undefined)
    return stopped(item.slice, unasked.reason, unasked.detail, nextAfter(desk, unasked.reason));
  const figures = {
    price: item.reference.mid,
    quantity: item.quantity,
    amount: amountAtWorst(item),
    notional: item.notional,
  };
  const refused = refuses(desk, item, figures);
  if (refused === undefined) return item;
  // The override is bound to the one attempt whose intent names it, and the gate checks it again.
  for (const { id, limits } of overridesFor(desk, item.slice, undefined))
    if (limitRefusal(desk, item, { ...figures, limits }) === undefined) return { ...item, override: id };
  return stopped(item.slice, refused.reason, refused.detail, nextAfter(desk, refused.reason));
}

/** In quote currency: the most that a buy pays, or what a sell brings at the reference price. */
const amountAtWorst = ({ size, slice, worst, reference }: Sized): Money =>
  size.by === 'amount'
    ? size.amount
    : cost(slice.intent.side === 'buy' ? worst : reference.mid, size.quantity);

interface Figures extends Pick<Proposal, 'price' | 'quantity' | 'notional'> {
  /** Quote currency. */
  readonly amount: Money;
  /** The limit price, once there is a quote to compare it with. */
  readonly limit?: Price | undefined;
  /** The attempt being checked: its own reservation does not count against it. */
  readonly clientId?: string | undefined;
  /** Used instead of the limits of the config. */
  readonly limits?: Limits | undefined;
}

/** Why the item may not proceed with these figures; `undefined` if it may. A limit that cannot be checked refuses. */
export function refuses(desk: ControlContext, item: Sized, figures: Figures): Refusal | undefined {
  const refused = limitRefusal(desk, item, figures);
  if (refused === undefined || item.override === undefined || figures.clientId === undefined) return refused;
  for (const { id, limits } of overridesFor(desk, item.slice, figures.clientId))
    if (id === item.override) return limitRefusal(desk, item, { ...figures, limits });
  return refused;
}

/** Compares the figures with the limits. */
function limitRefusal(desk: ControlContext, item: Sized, figures: Figures): Refusal | undefined {
  const { slice, size } = item;
  const { pair, side, decision_price: decision } = slice.intent;
  try {
    const trial: Proposal & Trial = {
      pair,
      side,
      quantity: figures.quantity,
      price: figures.price,
      notional: figures.notional,
      notionalWhy:
        figures.notional === undefined
          ? desk.rates.refused(desk.instruments.of(pair).quote, desk.policy.limits.currency)
          : undefined,
      limit: figures.limit,
      reference: desk.references.get(pair)?.mid ?? item.reference.mid,
      decisionPrice: decision === undefined ? undefined : price(decision),
      slice,
      size,
      amount: holding(figures.amount),
      clientId: figures.clientId,
    };
    return refusal(trial, riskContextOf(desk, trial), figures.limits ?? desk.policy.limits);
  } catch (error) {
    return stop(
      'control_failed',
      'figures that can be read',
      error instanceof Error ? error.message : 'a throw',
    );
  }
}

/**
 * Retries a refusal that may pass with time until the slice ends; any other refusal ends the slice. Reservations of
 * other attempts become free when those end. Exceeding the planned executions or quantity is not a market condition:
 * the desk halts.
 */
export function nextAfter(desk: ControlContext, reason: Reason): Next {
  switch (reason) {
    case 'approval_refused':
    case 'pair_not_allowed':
    case 'side_not_allowed':
    case 'order_quantity':
    case 'order_notional':
    case 'reused_key':
      return { do: 'stop' };
    case 'repeated_execution':
    case 'parent_cap':
    case 'slice_cap':
      return { do: 'halt' };
    case 'day_notional':
    case 'pair_day_notional':
    case 'position_floor':
    case 'position_ceiling':
    case 'no_funds':
    case 'kept_back':
    case 'below_minimum':
      return { do: desk.state.attempts.size > 0 ? 'again' : 'stop' };
    default:
      return { do: 'again' };
  }
}
