import type { IntentRecord } from '../../core/record.ts';
import { after, MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import { sliceKey } from './strategy-run.ts';

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

/**
 * Orders that were sent in the minute before the newest one, and orders with a future time after the clock was set back.
 * Indexed, because each check of an order looks up similar orders, and a desk that sends fifty orders a second keeps
 * 3,000 of them.
 */
export class RecentOrders {
  /** In the order in which they left. */
  #all: LeftOrder[] = [];
  readonly #byClientId = new Map<string, LeftOrder>();
  readonly #byLikeness = new Map<string, LeftOrder[]>();
  /** Orders by slice, by pair. */
  readonly #byPair = new Map<string, Map<string, LeftOrder[]>>();

  constructor(orders: readonly LeftOrder[] = []) {
    for (const order of orders) this.#push(order);
  }

  /** In the order in which they left, as plain data. */
  saved(): LeftOrder[] {
    return [...this.#all];
  }

  /** Adds an order unless it is known, and drops orders that are a minute older. */
  add(intent: IntentRecord, at: Instant): void {
    if (this.#byClientId.has(intent.client_order_id)) return;
    this.#forgetUntil(after(at, -MINUTE_MS));
    this.#push(leftOrder(intent, at));
  }

  /** Whether any order was sent after `from`. */
  hasAny(from: Instant): boolean {
    return this.#all.findLast(({ at }) => at > from) !== undefined;
  }

  /** Whether the order was sent after `from`. */
  hasLeft(clientId: string, from: Instant): boolean {
    const order = this.#byClientId.get(clientId);
    return order !== undefined && order.at > from;
  }

  /** Orders of the same pair, side and size, in the order in which they left. */
  alike(order: Likeness): readonly LeftOrder[] {
    return this.#byLikeness.get(likenessKey(order)) ?? NO_ORDERS;
  }

  /** How many slices of the pair have an order that was sent after `from`. */
  slicesSince(pair: string, from: Instant): number {
    const slices = this.#byPair.get(pair);
    if (slices === undefined) return 0;
    const over = new Set<string>();
    for (const order of this.#all)
      if (order.at <= from && order.pair === pair && !this.hasSlice(order, from)) over.add(keyOf(order));
    return slices.size - over.size;
  }

  /** Whether an order of this slice in this pair left after `from`. */
  hasSlice(of: SliceInPair, from: Instant): boolean {
    const orders = this.#byPair.get(of.pair)?.get(keyOf(of));
    return orders?.some(({ at }) => at > from) === true;
  }

  #push(order: LeftOrder): void {
    this.#all.push(order);
    this.#byClientId.set(order.clientId, order);
    addTo(this.#byLikeness, likenessKey(order), order);
    const slices = this.#byPair.get(order.pair) ?? new Map<string, LeftOrder[]>();
    this.#byPair.set(order.pair, slices);
    addTo(slices, keyOf(order), order);
  }

  #forgetUntil(from: Instant): void {
    const recent = this.#all.filter(({ at }) => at > from).slice(-ORDERS_MAX);
    if (recent.length === this.#all.length) return;
    if (recent.length === 0) {
      for (const index of [this.#byClientId, this.#byLikeness, this.#byPair]) index.clear();
    } else {
      const kept = new Set(recent);
      for (const each of this.#all) if (!kept.has(each)) this.#forget(each);
    }
    this.#all = recent;
  }

  #forget(order: LeftOrder): void {
    this.#byClientId.delete(order.clientId);
    removeFrom(this.#byLikeness, likenessKey(order), order);
    const slices = this.#byPair.get(order.pair);
    if (slices !== undefined) removeFrom(slices, keyOf(order), order);
  }
}

type Likeness = Pick<LeftOrder, 'pair' | 'side' | 'size'>;
type SliceInPair = Pick<LeftOrder, 'pair' | 'parent' | 'slice'>;

const NO_ORDERS: readonly LeftOrder[] = [];
const likenessKey = ({ pair, side, size }: Likeness): string => `${pair} ${side} ${size}`;
const keyOf = ({ parent, slice }: SliceInPair): string => sliceKey(parent, slice);

function addTo(lists: Map<string, LeftOrder[]>, key: string, order: LeftOrder): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [order]);
  else list.push(order);
}

function removeFrom(lists: Map<string, LeftOrder[]>, key: string, order: LeftOrder): void {
  const rest = lists.get(key)?.filter((each) => each !== order) ?? [];
  if (rest.length === 0) lists.delete(key);
  else lists.set(key, rest);
}
