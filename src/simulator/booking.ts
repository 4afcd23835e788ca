import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { OrderDetail } from '../wire/order-body.ts';
import { limitAlgorithms } from '../wire/words.ts';
import type { Ledger, Trade } from './ledger.ts';
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
    const [baseBefore, quoteBefore] = [ledger.balance(account, base), ledger.balance(account, quote)];
    const trade: Trade = {
      orderId,
      clientId: order.clientId === '' ? undefined : order.clientId,
      tradeId: registry.nextNumber(),
      at: instant(Math.floor(now)),
      pair,
      base,
      quote,
      side,
      quantity: fill.quantity,
      amount: fill.amount,
      fees: fill.fees,
      price: fill.price,
      algorithm:
        working === undefined
          ? undefined
          : { id: working.algorithm, name: limitAlgorithms[working.algorithm] },
    };
    ledger.book(account, trade);
    positions.traded(account, { listing, orderId, fill, currency: quote, before: quoteBefore }, now);
    positions.traded(account, { listing, orderId, fill, currency: base, before: baseBefore }, now);
    registry.addTrade(account, trade);
    board.traded(pair, fill, now);
  }
}
