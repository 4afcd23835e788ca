import type { IntentRecord } from '../../core/record.ts';
import { after, MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';

/** An order that was sent. */
export interface LeftOrder {
  readonly clientId: string;
  readonly pair: string;
  readonly side: Side;
  /** Requested size with its unit, which is equal for identical orders. */
  readonly size: string;
  readonly parent: string;
  readonly slice: number;
  readonly at: Instant;
}

export const leftOrder = (intent: IntentRecord, at: Instant): LeftOrder => ({
  clientId: intent.client_order_id,
  pair: intent.pair,
  side: intent.side,
  size: `${intent.size} ${intent.by}`,
  parent: intent.parent,
  slice: intent.slice,
  at,
});

const ORDERS_MAX = 10_000;

/** Orders that were sent in the minute before the newest one, and orders with a future time after the clock was set back. */
export class RecentOrders {
  /** In the order in which they left. */
  #all: readonly LeftOrder[];

  constructor(orders: readonly LeftOrder[] = []) {
    this.#all = orders;
  }

  /** In the order in which they left, as plain data. */
  saved(): LeftOrder[] {
    return [...this.#all];
  }

  /** Adds an order unless it is known, and drops orders that are a minute older. */
  add(intent: IntentRecord, at: Instant): void {
    if (this.#all.some(({ clientId }) => clientId === intent.client_order_id)) return;
    this.#all = [...this.since(after(at, -MINUTE_MS)).slice(-ORDERS_MAX), leftOrder(intent, at)];
  }

  /** Orders that were sent after `from`, in the order in which they left. */
  since(from: Instant): readonly LeftOrder[] {
    return this.#all.filter(({ at }) => at > from);
  }
}
