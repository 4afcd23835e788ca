import { invariant } from '../../core/errors.ts';
import { add, subtract } from '../../core/money.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { OrderDetail } from '../../wire/order-body.ts';
import type { OwnTrade } from '../../wire/orders.ts';
import type { Changes } from './exchange-changes.ts';
import type { Fills, Trade } from './fills.ts';

const FINISHED = new Set(['Done', 'Canceled']);
export const isFinished = ({ status }: OrderDetail): boolean => FINISHED.has(status);

/** The orders and fills of an account. */
interface Kept {
  /** In the order of their ids. A number is the position of an order that is stored among the fills. */
  readonly orders: (OrderDetail | number)[];
  /** Index of the newest order of a client id, among the first `placed` orders. The others are indexed on request. */
  readonly places: Map<string, number>;
  placed: number;
  /** When each client id was used, for as long as the id may not be used again. */
  readonly taken: Map<string, Instant>;
  /** Ids of unfinished orders. */
  readonly open: Set<string>;
  /** Oldest first. */
  readonly trades: (Trade | number)[];
}

/** All orders and fills of all accounts, and the source of their numbers. */
export class OrderRegistry {
  private readonly accounts = new Map<string, Kept>();
  private readonly changes: Changes;
  private readonly fills: Fills;
  private lastNumber: number;

  /** Numbers start at the time at which the venue opened. */
  constructor(changes: Changes, startedAt: Instant, fills: Fills) {
    this.changes = changes;
    this.fills = fills;
    this.lastNumber = Math.floor(startedAt);
  }

  /** A unique number for a quote, an order, a trade, a rule or an address. */
  nextNumber(): string {
    return String(this.nextCount());
  }

  /** Like `nextNumber`, as a number. */
  nextCount(): number {
    this.lastNumber += 1;
    return this.lastNumber;
  }

  /** Whether the client order id was used in the last 24 hours, during which it may not be used again. */
  isTaken(account: string, clientId: string, now: Instant): boolean {
    const at = this.of(account).taken.get(clientId);
    return at !== undefined && at + DAY_MS > now;
  }

  /** Stores a new order, whose id is above all earlier ones. */
  add(account: string, order: OrderDetail, now: Instant): void {
    const kept = this.of(account);
    kept.orders.push(order);
    if (order.clientId !== '') cameNow(kept, order.clientId, now);
    if (!isFinished(order)) kept.open.add(order.orderId);
    if (this.changes.isHeard) this.changes.tell({ kind: 'order', account, order });
  }

  /** Like `add`, for an order that is stored among the fills. */
  addFilled(account: string, order: OrderDetail, place: number, now: Instant): void {
    const kept = this.of(account);
    kept.orders.push(place);
    if (order.clientId !== '') cameNow(kept, order.clientId, now);
    if (this.changes.isHeard) this.changes.tell({ kind: 'order', account, order });
  }

  /** Stores the result of an order. */
  update(account: string, order: OrderDetail): void {
    const { orders, open } = this.of(account);
    const place = this.placeOf(orders, order.orderId);
    invariant(
      this.orderAt(orders, place)?.orderId === order.orderId,
      `order ${order.orderId} of ${account} is known`,
    );
    orders[place] = order;
    if (isFinished(order)) open.delete(order.orderId);
    else open.add(order.orderId);
    if (this.changes.isHeard) this.changes.tell({ kind: 'order', account, order });
  }

  /** Finds an order only by the venue's id. */
  byId(account: string, orderId: string): OrderDetail | undefined {
    const { orders } = this.of(account);
    const order = this.orderAt(orders, this.placeOf(orders, orderId));
    return order?.orderId === orderId ? order : undefined;
  }

  /** Finds an order by the venue's id or the client's. */
  find(account: string, id: string): OrderDetail | undefined {
    return this.byId(account, id) ?? this.byClientId(account, id);
  }

  /** Newest first. */
  openOf(account: string): readonly OrderDetail[] {
    return [...this.of(account).open].flatMap((id) => this.byId(account, id) ?? []).toReversed();
  }

  /** Stores a fill, and notifies listeners. */
  addTrade(account: string, trade: Trade | number): void {
    this.of(account).trades.push(trade);
    if (this.changes.isHeard)
      this.changes.tell({ kind: 'trade', account, trade: ownTrade(this.tradeOf(trade)) });
  }

  /** Newest first. */
  tradesOf(account: string): readonly OwnTrade[] {
    return this.of(account)
      .trades.toReversed()
      .map((trade) => ownTrade(this.tradeOf(trade)));
  }

  private tradeOf(trade: Trade | number): Trade {
    return typeof trade === 'number' ? this.fills.trade(trade) : trade;
  }

  private orderAt(orders: Kept['orders'], place: number): OrderDetail | undefined {
    const order = orders[place];
    return typeof order === 'number' ? this.fills.order(order) : order;
  }

  private numberAt(orders: Kept['orders'], place: number): number {
    const order = orders[place];
    return typeof order === 'number' ? this.fills.orderNumber(order) : Number(order?.orderId);
  }

  /** Index of the order with this id, or its insertion point, because ids are ascending. */
  private placeOf(orders: Kept['orders'], orderId: string): number {
    const id = Number(orderId);
    let [low, high] = [0, orders.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.numberAt(orders, middle) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private byClientId(account: string, id: string): OrderDetail | undefined {
    const kept = this.of(account);
    const { orders, places } = kept;
    for (; kept.placed < orders.length; kept.placed++) {
      const order = orders[kept.placed];
      const clientId = typeof order === 'number' ? this.fills.clientId(order) : (order?.clientId ?? '');
      if (clientId !== '') places.set(clientId, kept.placed);
    }
    return this.orderAt(orders, places.get(id) ?? -1);
  }

  private of(account: string): Kept {
    const known = this.accounts.get(account);
    if (known !== undefined) return known;
    const opened: Kept = {
      orders: [],
      places: new Map(),
      placed: 0,
      taken: new Map(),
      open: new Set(),
      trades: [],
    };
    this.accounts.set(account, opened);
    return opened;
  }
}

/** Records when a client id was used, and drops the oldest that may be used again. */
function cameNow({ taken }: Kept, clientId: string, now: Instant): void {
  for (const [id, at] of taken) {
    if (at + DAY_MS > now) break;
    taken.delete(id);
  }
  taken.set(clientId, now);
}

function ownTrade(trade: Trade): OwnTrade {
  const { tradeId, orderId, side, pair, at, quantity, amount, fees } = trade;
  const netAmount = side === 'buy' ? add(amount, fees) : subtract(amount, fees);
  return { tradeId, orderId, side, pair, at, quantity, amount, price: trade.price, fees, netAmount };
}
