import { map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import { refusal } from '../core/controls.ts';
import type { Refusal, World } from '../core/controls.ts';
import type { Next } from '../core/cycle.ts';
import type { Price, Quantity, Money } from '../core/money.ts';
import { price } from '../core/money.ts';
import type { Reason } from '../core/reasons.ts';
import type { Desk } from './desk.ts';
import { stopped } from './item.ts';
import type { Paced, Sized, Stopped } from './item.ts';

/** Checks the limits before anything is asked of the venue. The gate checks them again with the quote in hand. */
export function control(desk: Desk): OperatorFunction<Sized | Stopped, Sized | Stopped> {
  return map((item) => controlled(desk, item));
}

/** One item against the limits, as they are at this moment. */
export function controlled(desk: Desk, item: Sized | Stopped): Sized | Stopped {
  if (item.stage === 'stopped') return item;
  if (item.slice.intent.side === 'sell' && !desk.policy.isSellingOn) {
    return stopped(item.slice, 'selling_off', 'venue.sell_path is not set', { do: 'stop' });
  }
  const refused = refuses(desk, item, {
    price: item.reference.mid,
    quantity: item.quantity,
    notional: item.notional,
  });
  return refused === undefined
    ? item
    : stopped(item.slice, refused.reason, refused.detail, nextAfter(desk, refused.reason));
}

interface Figures {
  readonly price: Price;
  readonly quantity: Quantity;
  readonly notional: Money | undefined;
  /** The limit price, once there is a quote to hold against it. */
  readonly limit?: Price | undefined;
  /** The attempt that asks: its own reservation does not count against it. */
  readonly clientId?: string | undefined;
}

/** Why the item may not go ahead with these figures; `undefined` when it may. */
export function refuses(desk: Desk, item: Sized | Paced, figures: Figures): Refusal | undefined {
  const { intent } = item.slice;
  return refusal(
    {
      pair: intent.pair,
      side: intent.side,
      quantity: figures.quantity,
      price: figures.price,
      notional: figures.notional,
      limit: figures.limit,
      reference: desk.references.get(intent.pair)?.mid ?? item.reference.mid,
      decisionPrice: intent.decision_price === undefined ? undefined : price(intent.decision_price),
    },
    worldOf(desk, intent.pair, figures.clientId),
    desk.policy.limits,
  );
}

/** A pause ends nothing that was begun: what has asked for its quote may go on to its order. */
function worldOf(desk: Desk, pair: string, clientId: string | undefined): World {
  const world = desk.world(pair, clientId);
  return clientId !== undefined && world.control === 'paused' ? { ...world, control: 'active' } : world;
}

/**
 * Reasons that time may cure are tried again until the slice is over; the others end it. What other attempts hold back
 * comes free when they end.
 */
export function nextAfter(desk: Desk, reason: Reason): Next {
  switch (reason) {
    case 'pair_not_allowed':
    case 'side_not_allowed':
    case 'order_quantity':
    case 'order_notional':
      return { do: 'stop' };
    case 'day_notional':
    case 'no_funds':
    case 'below_minimum':
      return { do: desk.state.attempts.size > 0 ? 'again' : 'stop' };
    default:
      return { do: 'again' };
  }
}
