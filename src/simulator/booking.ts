import { holding } from '../core/money.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { OrderDetail } from '../wire/order-body.ts';
import { limitAlgorithms } from '../wire/orders.ts';
import type { Ledger } from './ledger.ts';
import type { Listing } from './listing.ts';
import type { Money } from '../core/money.ts';
import type { OrderRegistry } from './orders.ts';
import type { Positions } from './positions.ts';
import type { Priced } from './pricing.ts';
import type { TickerBoard } from './ticker.ts';

export interface BookingSetup {
  readonly ledger: Ledger;
  readonly registry: OrderRegistry;
  readonly positions: Positions;
  readonly board: TickerBoard;
}

/** What of an order filled, and what it cost besides. */
export interface Fill extends Priced {
  /** Quote currency. */
  readonly fees: Money;
}

/** Writes a fill everywhere it belongs: the ledger, the own trades, the positions on credit and the day of the pair. */
export class Booking {
  private readonly setup: BookingSetup;

  constructor(setup: BookingSetup) {
    this.setup = setup;
  }

  fill(
    account: string,
    { order, listing, fill }: { order: OrderDetail; listing: Listing; fill: Fill },
    now: Instant,
  ): void {
    const { ledger, registry, positions, board } = this.setup;
    const { pair, base, quote } = listing;
    const { orderId, side, working } = order;
    const tradeId = registry.nextNumber();
    const before = { base: ledger.balance(account, base), quote: ledger.balance(account, quote) };
    ledger.book(
      account,
      {
        orderId,
        tradeId,
        pair,
        base,
        quote,
        side,
        clientId: order.clientId === '' ? undefined : order.clientId,
        quantity: fill.quantity,
        amount: holding(fill.amount),
        fees: holding(fill.fees),
        price: fill.price,
        algorithm:
          working === undefined
            ? undefined
            : { id: working.algorithm, name: limitAlgorithms[working.algorithm] },
      },
      now,
    );
    const trade = { listing, side, orderId, fill };
    positions.traded(account, { ...trade, currency: quote, before: before.quote }, now);
    positions.traded(account, { ...trade, currency: base, before: before.base }, now);
    registry.addTrade(account, {
      tradeId,
      orderId,
      side,
      pair,
      at: instant(Math.floor(now)),
      quantity: fill.quantity,
      amount: fill.amount,
      price: fill.price,
      fees: fill.fees,
    });
    board.traded(pair, { quantity: fill.quantity, amount: fill.amount }, now);
  }
}
