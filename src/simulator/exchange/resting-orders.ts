import {
  add,
  cost,
  decimalsOf,
  greatest,
  holding,
  least,
  money,
  NO_MONEY,
  NO_QUANTITY,
  price,
  priceOf,
  quantity,
  quantityDown,
  roundEven,
  subtract,
} from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import { after, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { OrderDetail } from '../../wire/order-body.ts';
import type { CanceledOrder, CancelOneStatus, LimitOrder } from '../../wire/orders.ts';
import type { Booking } from './booking.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { priceDecimals } from './listing.ts';
import type { Listing } from './listing.ts';
import type { Market } from '../market/market.ts';
import type { VenueOptions } from '../options/options.ts';
import type { OrderRegistry } from './orders.ts';
import { isFinished } from './orders.ts';
import { amountAgainst, dealerPrice, feeFor } from './pricing.ts';
import { assumed, created, documented, found } from '../http/reply.ts';
import type { Refusal, Reply } from '../http/reply.ts';

export interface RestingSetup {
  readonly options: VenueOptions;
  readonly market: Market;
  readonly ledger: Ledger;
  readonly registry: OrderRegistry;
  readonly booking: Booking;
}

interface Working {
  readonly account: string;
  readonly listing: Listing;
  order: OrderDetail;
  /** Exact sum of price times quantity over all fills; the paid amount is this sum, rounded once. */
  exact: Money;
  /** The part of the balance that is reserved for the rest of the order. */
  held: Quantity;
  /** Until then, a cancellation is pending. */
  cancelAt: Instant | undefined;
}

/** Minimum orders. Source: public documentation, "Create order". */
const MIN_USD_NOTIONAL = money('5');
const MIN_BASE = quantity('0.001');
const PRICE_DECIMALS = { fiat: 2, crypto: 8 };
const VWAP_DECIMALS = 8;

/**
 * Limit orders. An order that the dealer's price crosses fills immediately at that price. Any other waits with its funds
 * reserved, and fills at its limit when a check of the market (every `orders.check_interval_ms`) finds the price there.
 * It pays from own funds only, without credit. Except for fields and minimums, all of this is chosen here: no document
 * defines it.
 */
export class RestingOrders {
  private readonly setup: RestingSetup;
  private readonly working = new Map<string, Working>();
  private lookedAt: Instant;

  constructor(setup: RestingSetup, startedAt: Instant) {
    this.setup = setup;
    this.lookedAt = startedAt;
  }

  place(account: string, asked: LimitOrder, now: Instant): Reply<OrderDetail> {
    const { market, registry, ledger } = this.setup;
    const listing = market.listings.get(asked.pair);
    if (listing === undefined) return documented.invalidPair(asked.pair);
    const refused = this.problem(listing, account, asked, now);
    if (refused !== undefined) return refused;
    const held = this.promise(listing, asked, { exact: NO_MONEY, rest: asked.quantity, spent: NO_MONEY });
    const currency = asked.side === 'buy' ? listing.quote : listing.base;
    if (ledger.available(account, currency).lt(held)) return assumed.noFunds(currency);

    const order = newOrder(asked, registry.nextNumber(), now);
    const work: Working = {
      account,
      listing,
      order,
      exact: NO_MONEY,
      held: NO_QUANTITY,
      cancelAt: undefined,
    };
    this.hold(work, held);
    registry.add(account, order, now);
    if (this.working.size === 0) this.lookedAt = now;
    this.working.set(order.orderId, work);
    const each = this.crossing(work, asked.quantity, now);
    const part = each === undefined ? NO_QUANTITY : this.partOf(work, each, now);
    const isAll = part.eq(asked.quantity);
    if (each !== undefined && part.gt(0) && (isAll || asked.timeInForce !== 'FOK'))
      this.take(work, part, each, now);
    if (asked.timeInForce === 'IOC' || asked.timeInForce === 'FOK') this.end(work, now);
    return created(work.order);
  }

  /** Cancels one order. Spec: "DELETE /v1/orders/:order_id". */
  cancelOne(account: string, orderId: string, now: Instant): Reply<CancelOneStatus> {
    const order = this.setup.registry.byId(account, orderId);
    if (order === undefined) return documented.cancelUnknown();
    if (isFinished(order)) return found('order already finished');
    return found(this.cancel(orderId, now) === 'Canceled' ? 'canceled' : 'cancel pending');
  }

  /** Cancels those of several orders that can still be canceled. Spec: "DELETE /v1/orders?ids=". */
  cancelMany(account: string, ids: readonly string[], now: Instant): Reply<readonly CanceledOrder[]> {
    const { registry } = this.setup;
    const open = [...new Set(ids)].filter((id) => {
      const order = registry.byId(account, id);
      return order !== undefined && !isFinished(order);
    });
    if (open.length === 0) return documented.cancelNone();
    return found(open.map((orderId) => ({ orderId, status: this.cancel(orderId, now) })));
  }

  /** Cancels every open order of an account. Without any, the answer is an empty list, which is chosen here. */
  cancelAll(account: string, now: Instant): Reply<readonly CanceledOrder[]> {
    const open = [...this.working.values()].filter((work) => work.account === account);
    return found(open.map(({ order: { orderId } }) => ({ orderId, status: this.cancel(orderId, now) })));
  }

  /** Real time of the next check of the market; `undefined` without resting orders. */
  nextDue(): Instant | undefined {
    if (this.working.size === 0) return undefined;
    const { checkIntervalMs } = this.setup.options.orders;
    return instant((Math.floor(this.lookedAt / checkIntervalMs) + 1) * checkIntervalMs);
  }

  /** Checks the market at the due time: ends canceled and expired orders, fills crossed ones. */
  runNext(): void {
    const now = this.nextDue();
    if (now === undefined) return;
    this.lookedAt = now;
    for (const work of this.working.values()) {
      const expiresAt = work.order.working?.expiresAt;
      const each = this.crossing(work, rest(work.order), now);
      const part = each === undefined ? NO_QUANTITY : this.partOf(work, work.order.price, now);
      if (expiresAt !== undefined && expiresAt <= now) this.end(work, now);
      else if (work.cancelAt !== undefined && work.cancelAt <= now) this.end(work, now);
      else if (part.gt(0)) this.take(work, part, work.order.price, now);
    }
  }

  private problem(listing: Listing, account: string, asked: LimitOrder, now: Instant): Refusal | undefined {
    const { registry, market } = this.setup;
    const { quantity: size, price: limit, timeInForce, algorithm, clientId, expiresAt } = asked;
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
    if (timeInForce === 'FOK' && algorithm !== 201)
      return assumed.invalidOrder('time_in_force FOK needs algorithm_id 201');
    if (timeInForce === 'GTD' && (expiresAt === undefined || expiresAt <= now))
      return assumed.invalidOrder('time_in_force GTD needs expires in the future');
    if (clientId !== undefined && registry.isTaken(account, clientId, now)) return assumed.orderIdTaken();
    return undefined;
  }

  /** The dealer's current price for `size`, unless it is worse than the limit. */
  private crossing({ listing, order }: Working, size: Quantity, now: Instant): Price | undefined {
    const { market } = this.setup;
    const mid = market.mid(listing.pair, now);
    const usd = market.usdValue(listing.quote, holding(cost(mid, size)), now);
    const each = dealerPrice(listing, order.side, mid, usd);
    if (each.lte(0)) return undefined;
    return (order.side === 'buy' ? each.lte(order.price) : each.gte(order.price)) ? each : undefined;
  }

  /** The part of the rest that one check fills. */
  private partOf({ listing, order }: Working, each: Price, now: Instant): Quantity {
    const { options, market } = this.setup;
    const left = rest(order);
    if (options.orders.fillUsdMax === undefined) return left;
    const usdRate = market.usdValue(listing.quote, quantity('1'), now);
    const usdEach = price(cost(each, holding(usdRate)).toFixed());
    return least(left, quantityDown(money(options.orders.fillUsdMax), usdEach, listing.basePrecision));
  }

  private take(work: Working, part: Quantity, each: Price, now: Instant): void {
    const { options, registry, booking } = this.setup;
    const { account, listing, order } = work;
    work.exact = add(work.exact, cost(each, part));
    const filled = add(order.filled, part);
    const filledAmount = amountAgainst(listing, order.side, work.exact);
    const fees = feeFor(listing, filledAmount, options.feeBps);
    const isWhole = filled.eq(order.quantity);
    const before = order;
    work.order = {
      ...order,
      filled,
      filledAmount,
      fees,
      vwap: roundEven(priceOf(work.exact, filled), VWAP_DECIMALS),
      status: isWhole ? 'Done' : order.status,
      updatedAt: instant(Math.floor(now)),
    };
    this.hold(work, isWhole ? NO_QUANTITY : this.promised(work));
    booking.fill(
      account,
      {
        order: work.order,
        listing,
        number: registry.nextCount(),
        fill: {
          quantity: part,
          amount: subtract(filledAmount, before.filledAmount),
          fees: subtract(fees, before.fees),
          price: each,
        },
      },
      now,
    );
    if (isWhole) this.working.delete(order.orderId);
    registry.update(account, work.order);
  }

  private cancel(orderId: string, now: Instant): 'Canceled' | 'Cancel pending' {
    const work = this.working.get(orderId);
    if (work === undefined) return 'Canceled';
    const { cancelDelayMs } = this.setup.options.orders;
    if (cancelDelayMs === 0) {
      this.end(work, now);
      return 'Canceled';
    }
    if (work.cancelAt === undefined) {
      work.cancelAt = after(now, cancelDelayMs);
      work.order = { ...work.order, status: 'Cancel Pending', updatedAt: instant(Math.floor(now)) };
      this.setup.registry.update(work.account, work.order);
    }
    return 'Cancel pending';
  }

  /** Ends open orders as canceled, with their fills so far. */
  private end(work: Working, now: Instant): void {
    if (isFinished(work.order)) return;
    this.hold(work, NO_QUANTITY);
    work.order = { ...work.order, status: 'Canceled', updatedAt: instant(Math.floor(now)) };
    this.working.delete(work.order.orderId);
    this.setup.registry.update(work.account, work.order);
  }

  private hold(work: Working, amount: Quantity): void {
    const currency = work.order.side === 'buy' ? work.listing.quote : work.listing.base;
    this.setup.ledger.hold(work.account, currency, subtract(amount, work.held));
    work.held = amount;
  }

  private promised({ listing, order, exact }: Working): Quantity {
    const spent = add(order.filledAmount, order.fees);
    return this.promise(listing, order, { exact, rest: rest(order), spent });
  }

  /** The largest remaining cost: everything at the limit, rounded once, minus the amount already spent. */
  private promise(
    listing: Listing,
    { side, price: limit }: Pick<LimitOrder, 'side' | 'price'>,
    so: { exact: Money; rest: Quantity; spent: Money },
  ): Quantity {
    if (side === 'sell') return so.rest;
    const amount = amountAgainst(listing, side, add(so.exact, cost(limit, so.rest)));
    const whole = add(amount, feeFor(listing, amount, this.setup.options.feeBps));
    return holding(greatest(subtract(whole, so.spent), NO_MONEY));
  }
}

const rest = (order: OrderDetail): Quantity => subtract(order.quantity, order.filled);

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
    timeInForce: asked.timeInForce,
    expiresAt: asked.timeInForce === 'GTD' ? asked.expiresAt : undefined,
    routingType: asked.routingType,
    routingOption: asked.routingOption,
    destination: asked.destination,
    addedAt: instant(Math.floor(now)),
  },
});
