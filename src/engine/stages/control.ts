import { map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import { refusal } from '../../core/risk/controls.ts';
import type { Proposal } from '../../core/risk/limits.ts';
import { stop } from '../../core/risk/refusal.ts';
import type { Refusal } from '../../core/risk/refusal.ts';
import type { Next } from '../../core/cycle/cycle.ts';
import { cost, holding, price } from '../../core/money.ts';
import type { Money, Price } from '../../core/money.ts';
import type { Desk } from '../desk.ts';
import { stopped } from '../stage-types.ts';
import type { Sized, Stopped } from '../stage-types.ts';
import { judgedParent } from '../operator/parent-approvals.ts';
import { riskContextOf } from '../market/risk-context.ts';
import type { Trial } from '../market/risk-context.ts';

/** Checks the limits before the first request to the venue. The gate checks them again with the quote. */
export function control(desk: Desk): OperatorFunction<Sized | Stopped, Sized | Stopped> {
  return map((item) => controlled(desk, item));
}

/** Checks one item against the limits at this moment. */
export function controlled(desk: Desk, item: Sized | Stopped): Sized | Stopped {
  if (item.stage === 'stopped') return item;
  if (item.slice.intent.side === 'sell' && !desk.policy.isSellingOn) {
    return stopped(item.slice, 'selling_off', 'venue.sell_path is not set', { do: 'stop' });
  }
  const unasked = judgedParent(desk, item.slice).refusal;
  if (unasked !== undefined)
    return stopped(item.slice, unasked.reason, unasked.detail, nextAfter(desk, unasked));
  const figures = {
    price: item.reference.mid,
    quantity: item.quantity,
    amount: amountAtWorst(item),
    notional: item.notional,
  };
  const refused = refuses(desk, item, figures);
  if (refused === undefined) return item;
  return stopped(item.slice, refused.reason, refused.detail, nextAfter(desk, refused));
}

/** In quote currency: the most that a buy pays, or what a sell brings at the reference price. */
const amountAtWorst = ({ size, slice, worst, reference }: Sized): Money =>
  size.by === 'amount'
    ? size.amount
    : cost(slice.intent.side === 'buy' ? worst : reference.mid, size.quantity);

interface Figures extends Pick<Proposal, 'price' | 'quantity' | 'notional'> {
  /** Quote currency. */
  readonly amount: Money;
  /** The slice's limit price, once there is a quote to compare with it. */
  readonly limit?: Price | undefined;
  /** The attempt being checked. Its own reservation does not count against it. */
  readonly clientId?: string | undefined;
}

/** Why the item may not proceed with these figures; `undefined` if it may. A limit that cannot be checked refuses. */
export function refuses(desk: Desk, item: Sized, figures: Figures): Refusal | undefined {
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
    return refusal(trial, riskContextOf(desk, trial), desk.policy.limits);
  } catch (error) {
    return stop(
      'control_failed',
      'figures that can be read',
      error instanceof Error ? error.message : 'a throw',
    );
  }
}

/**
 * Retries, until the slice ends, after a refusal that may pass with time. Any other refusal ends the slice.
 * Reservations of other attempts become free when those end. Exceeding the planned executions or quantity is not a
 * market condition, so the desk halts.
 */
export function nextAfter(desk: Desk, { reason, isFinal }: Pick<Refusal, 'reason' | 'isFinal'>): Next {
  if (isFinal === true) return { do: 'stop' };
  switch (reason) {
    case 'approval_refused':
    case 'not_allowed':
    case 'order_size':
      return { do: 'stop' };
    case 'repeated_execution':
    case 'parent_cap':
      return { do: 'halt' };
    case 'day_limit':
    case 'position_limit':
    case 'no_funds':
    case 'kept_back':
    case 'below_minimum':
      return { do: desk.state.attempts.size > 0 ? 'again' : 'stop' };
    default:
      return { do: 'again' };
  }
}
