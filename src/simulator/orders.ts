import { negate } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import type { Side } from '../core/venue.ts';
import { netProceeds } from '../wire/order-body.ts';
import type { OrderDetail } from '../wire/order-body.ts';
import { ORDERS_PAGE_MAX } from '../wire/orders.ts';
import type { OwnTrade } from '../wire/orders.ts';
import { ByAccount } from './by-account.ts';
import type { Changes } from './changes.ts';
import { UsedIds } from './quotes.ts';

/** Which orders are asked for. Source: public documentation, "Open orders" and "Done orders". */
export interface OrdersAsked {
  readonly limit?: number | undefined;
  /** Only orders with a smaller id. */
  readonly before?: number | undefined;
  /** Only orders with a larger id. */
  readonly after?: number | undefined;
  readonly side?: Side | undefined;
  readonly pair?: string | undefined;
  readonly algorithmId?: number | undefined;
  /** Upper and lower case count. */
  readonly status?: string | undefined;
}

export const TRADES_PAGE = 100;
export const TRADES_PAGE_MAX = 1_000;

const FINISHED = new Set(['Done', 'Canceled']);
export const isFinished = ({ status }: OrderDetail): boolean => FINISHED.has(status);

/** Every order and every fill of every account, and the numbers that they get. */
export class OrderRegistry {
  private readonly orders = new ByAccount<OrderDetail>();
  private readonly byClientId = new ByAccount<string>();
  /** Ids by account, in the order in which they were given. */
  private readonly ids = new Map<string, string[]>();
  private readonly open = new Map<string, Set<string>>();
  private readonly fills = new Map<string, OwnTrade[]>();
  private readonly usedIds = new UsedIds();
  private readonly changes: Changes;
  private lastNumber: number;

  /** Numbers go up from the time at which the venue opened. */
  constructor(changes: Changes, startedAt: Instant) {
    this.changes = changes;
    this.lastNumber = Math.floor(startedAt);
  }

  /** A number that nothing else has: of a quote, an order, a trade, a rule, an address. */
  nextNumber(): string {
    this.lastNumber += 1;
    return String(this.lastNumber);
  }

  isTaken(account: string, clientId: string, now: Instant): boolean {
    return this.usedIds.has(account, clientId, now);
  }

  /** Keeps a new order. */
  add(account: string, order: OrderDetail, now: Instant): void {
    const ids = this.ids.get(account) ?? [];
    ids.push(order.orderId);
    this.ids.set(account, ids);
    if (order.clientId !== '') {
      this.usedIds.add(account, order.clientId, now);
      this.byClientId.set(account, order.clientId, order.orderId);
    }
    this.update(account, order);
  }

  /** Keeps what became of an order. */
  update(account: string, order: OrderDetail): void {
    this.orders.set(account, order.orderId, order);
    const open = this.open.get(account) ?? new Set();
    this.open.set(account, open);
    if (isFinished(order)) open.delete(order.orderId);
    else open.add(order.orderId);
    this.changes.tell({ kind: 'order', account, order });
  }

  /** By the id of the venue alone. */
  byId(account: string, orderId: string): OrderDetail | undefined {
    return this.orders.get(account, orderId);
  }

  /** By the id of the venue or of the client. */
  find(account: string, id: string): OrderDetail | undefined {
    return this.byId(account, id) ?? this.byId(account, this.byClientId.get(account, id) ?? '');
  }

  /** Newest first. */
  openOf(account: string, asked: OrdersAsked = {}): readonly OrderDetail[] {
    return this.pick(account, [...(this.open.get(account) ?? [])], asked);
  }

  /** Newest first. */
  doneOf(account: string, asked: OrdersAsked = {}): readonly OrderDetail[] {
    const open = this.open.get(account);
    return this.pick(account, this.ids.get(account) ?? [], asked, (id) => open?.has(id) !== true);
  }

  /** Keeps a fill, and tells of it. */
  addTrade(account: string, fill: Omit<OwnTrade, 'netAmount'>): void {
    const { side, amount, fees } = fill;
    const moved = netProceeds({ side, filledAmount: amount, fees });
    const trade = { ...fill, netAmount: side === 'buy' ? negate(moved) : moved };
    const fills = this.fills.get(account) ?? [];
    fills.push(trade);
    this.fills.set(account, fills);
    this.changes.tell({ kind: 'trade', account, trade });
  }

  /** Newest first, from the one after `lastSeenId` on. */
  tradesOf(
    account: string,
    { limit = TRADES_PAGE, lastSeenId }: { limit?: number | undefined; lastSeenId?: string | undefined },
  ): readonly OwnTrade[] {
    const fills = this.fills.get(account) ?? [];
    const seen = lastSeenId === undefined ? -1 : fills.findLastIndex(({ tradeId }) => tradeId === lastSeenId);
    const until = seen < 0 ? fills.length : seen;
    return fills.slice(Math.max(0, until - Math.min(limit, TRADES_PAGE_MAX)), until).toReversed();
  }

  /** What an account traded from `since` on, oldest first. */
  tradesSince(account: string, since: Instant): readonly OwnTrade[] {
    const fills = this.fills.get(account) ?? [];
    return fills.slice(fills.findLastIndex(({ at }) => at < since) + 1);
  }

  private pick(
    account: string,
    ids: readonly string[],
    asked: OrdersAsked,
    wanted: (id: string) => boolean = () => true,
  ): readonly OrderDetail[] {
    const limit = Math.min(asked.limit ?? ORDERS_PAGE_MAX, ORDERS_PAGE_MAX);
    const found: OrderDetail[] = [];
    for (let index = ids.length - 1; index >= 0 && found.length < limit; index--) {
      const id = ids[index] ?? '';
      if (Number(id) <= (asked.after ?? -1)) break;
      if (Number(id) >= (asked.before ?? Infinity) || !wanted(id)) continue;
      const order = this.byId(account, id);
      if (order !== undefined && matches(order, asked)) found.push(order);
    }
    return found;
  }
}

const matches = (order: OrderDetail, { side, pair, algorithmId, status }: OrdersAsked): boolean =>
  (side === undefined || order.side === side) &&
  (pair === undefined || order.pair === pair) &&
  (algorithmId === undefined || (order.working?.algorithm ?? 150) === algorithmId) &&
  (status === undefined || order.status === status);
