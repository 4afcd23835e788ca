import {
  add,
  cost,
  decimalsOf,
  holding,
  money,
  negate,
  NO_MONEY,
  NO_QUANTITY,
  price,
  quantity,
} from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { after, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { OrderDetail } from '../../wire/order-body.ts';
import type { CanceledOrder, CancelOneStatus, LimitOrder } from '../../wire/orders.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { priceDecimals } from './listing.ts';
import type { Listing } from './listing.ts';
import type { Market } from '../market/market.ts';
import type { VenueOptions } from '../options/options.ts';
import type { OrderRegistry } from './orders.ts';
import { isFinished } from './orders.ts';
import { amountAgainst, feeFor } from './pricing.ts';
import { assumed, created, documented, found } from '../http/reply.ts';
import type { Refusal, Reply } from '../http/reply.ts';

export interface RestingSetup {
  readonly options: VenueOptions;
  readonly market: Market;
  readonly ledger: Ledger;
  readonly registry: OrderRegistry;
}

interface Working {
  readonly account: string;
  order: OrderDetail;
  /** The part of a balance that is reserved for the order. */
  readonly held: { readonly currency: string; readonly amount: Quantity };
  /** Time until which a cancellation is pending. */
  cancelAt: Instant | undefined;
}

/** Minimum orders. Source: public documentation, "Create order". */
const MIN_USD_NOTIONAL = money('5');
const MIN_BASE = quantity('0.001');
const PRICE_DECIMALS = { fiat: 2, crypto: 8 };

/**
 * Limit orders, so that there is something to cancel: an order rests with its funds reserved until it is canceled, and never
 * fills. It pays only from own funds, without credit. No document defines more than fields and minimums.
 */
export class RestingOrders {
  private readonly setup: RestingSetup;
  private readonly working = new Map<string, Working>();

  constructor(setup: RestingSetup) {
    this.setup = setup;
  }

  place(account: string, asked: LimitOrder, now: Instant): Reply<OrderDetail> {
    const { market, registry, ledger } = this.setup;
    const listing = market.listings.get(asked.pair);
    if (listing === undefined) return documented.invalidPair(asked.pair);
    const refused = this.problem(listing, account, asked, now);
    if (refused !== undefined) return refused;
    const held = this.costOf(listing, asked);
    if (ledger.available(account, held.currency).lt(held.amount)) return assumed.noFunds(held.currency);
    const order = newOrder(asked, registry.nextNumber(), now);
    ledger.hold(account, held.currency, held.amount);
    registry.add(account, order, now);
    this.working.set(order.orderId, { account, order, held, cancelAt: undefined });
    return created(order);
  }

  /** Cancels one order. Spec: "DELETE /v1/orders/:order_id". */
  cancelOne(account: string, orderId: string, now: Instant): Reply<CancelOneStatus> {
    const order = this.setup.registry.byId(account, orderId);
    if (order === undefined) return documented.cancelUnknown();
    if (isFinished(order)) return found('order already finished');
    return found(this.cancel(orderId, now) === 'Canceled' ? 'canceled' : 'cancel pending');
  }

  /** Cancels, of several orders, those that can still be canceled. Spec: "DELETE /v1/orders?ids=". */
  cancelMany(account: string, ids: readonly string[], now: Instant): Reply<readonly CanceledOrder[]> {
    const { registry } = this.setup;
    const open = [...new Set(ids)].filter((id) => {
      const order = registry.byId(account, id);
      return order !== undefined && !isFinished(order);
    });
    if (open.length === 0) return documented.cancelNone();
    return found(open.map((orderId) => ({ orderId, status: this.cancel(orderId, now) })));
  }

  /** Real time at which the next pending cancellation ends. */
  nextDue(): Instant | undefined {
    return this.nextCanceled()?.cancelAt;
  }

  runNext(): void {
    const next = this.nextCanceled();
    if (next?.cancelAt !== undefined) this.end(next, next.cancelAt);
  }

  private nextCanceled(): Working | undefined {
    let next: Working | undefined;
    for (const work of this.working.values())
      if (work.cancelAt !== undefined && work.cancelAt < (next?.cancelAt ?? Infinity)) next = work;
    return next;
  }

  private problem(listing: Listing, account: string, asked: LimitOrder, now: Instant): Refusal | undefined {
    const { registry, market } = this.setup;
    const { quantity: size, price: limit, clientId } = asked;
    const isFiat = market.currencies.get(listing.quote)?.isFiat ?? false;
    const decimals = Math.max(
      isFiat ? PRICE_DECIMALS.fiat : PRICE_DECIMALS.crypto,
      priceDecimals(listing, limit),
    );
    if (!size.gt(0)) return assumed.invalidSize('quantity must be above zero');
    if (!limit.gt(0)) return assumed.invalidSize('price must be above zero');
    if (decimalsOf(size) > listing.basePrecision)
      return assumed.invalidSize(
        `quantity has more than the ${listing.basePrecision} decimals of ${listing.base}`,
      );
    if (decimalsOf(limit) > decimals) return assumed.invalidSize(`price has more than ${decimals} decimals`);
    if (listing.quote === 'usd' && cost(limit, size).lt(MIN_USD_NOTIONAL))
      return assumed.invalidSize('price times quantity must be at least 5 usd');
    if (!isFiat && size.lt(MIN_BASE)) return assumed.invalidSize('quantity must be at least 0.001');
    if (clientId !== undefined && registry.isTaken(account, clientId, now)) return assumed.orderIdTaken();
    return undefined;
  }

  /** What the whole order costs at its limit. */
  private costOf(listing: Listing, { side, quantity: size, price: limit }: LimitOrder): Working['held'] {
    if (side === 'sell') return { currency: listing.base, amount: size };
    const amount = amountAgainst(listing, side, cost(limit, size));
    const whole = add(amount, feeFor(listing, amount, this.setup.options.feeBps));
    return { currency: listing.quote, amount: holding(whole) };
  }

  private cancel(orderId: string, now: Instant): 'Canceled' | 'Cancel pending' {
    const work = this.working.get(orderId);
    if (work === undefined) return 'Canceled';
    const { cancelDelayMs } = this.setup.options;
    if (cancelDelayMs === 0) {
      this.end(work, now);
      return 'Canceled';
    }
    if (work.cancelAt === undefined) {
      work.cancelAt = after(now, cancelDelayMs);
      this.update(work, 'Cancel Pending', now);
    }
    return 'Cancel pending';
  }

  private end(work: Working, now: Instant): void {
    const { account, order, held } = work;
    this.setup.ledger.hold(account, held.currency, negate(held.amount));
    this.working.delete(order.orderId);
    this.update(work, 'Canceled', now);
  }

  private update(work: Working, status: 'Canceled' | 'Cancel Pending', now: Instant): void {
    work.order = { ...work.order, status, updatedAt: instant(Math.floor(now)) };
    this.setup.registry.update(work.account, work.order);
  }
}

const newOrder = (asked: LimitOrder, orderId: string, now: Instant): OrderDetail => ({
  orderId,
  clientId: asked.clientId ?? '',
  quoteId: '',
  pair: asked.pair,
  side: asked.side,
  status: 'Started',
  quantity: asked.quantity,
  price: asked.price,
  filled: NO_QUANTITY,
  filledAmount: NO_MONEY,
  vwap: price('0'),
  fees: NO_MONEY,
  updatedAt: instant(Math.floor(now)),
  working: {
    algorithm: asked.algorithm,
    addedAt: instant(Math.floor(now)),
  },
});
