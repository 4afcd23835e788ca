import type { Instant } from '../core/time.ts';
import { tradeOf } from './fills.ts';
import type { Filled } from './fills.ts';
import type { Ledger } from './ledger.ts';
import type { OrderRegistry } from './orders.ts';
import type { Positions } from './positions.ts';
import type { TickerBoard } from './ticker.ts';

export interface BookingSetup {
  readonly ledger: Ledger;
  readonly registry: OrderRegistry;
  readonly positions: Positions;
  readonly board: TickerBoard;
}

/** Writes a fill everywhere it belongs: the ledger, the own trades, the positions on credit and the day of the pair. */
export class Booking {
  private readonly setup: BookingSetup;

  constructor(setup: BookingSetup) {
    this.setup = setup;
  }

  /** Returns where the fill is kept in columns; `undefined` when it is not. */
  fill(
    account: string,
    { order, listing, fill, wholeOrder }: Omit<Filled, 'number'>,
    now: Instant,
  ): number | undefined {
    const { ledger, registry, positions, board } = this.setup;
    const { pair, base, quote } = listing;
    const { orderId } = order;
    const [baseBefore, quoteBefore] = [ledger.balance(account, base), ledger.balance(account, quote)];
    const filled = { order, listing, fill, wholeOrder, number: registry.nextCount() };
    const place = ledger.bookFill(account, filled);
    positions.traded(account, { listing, orderId, fill, currency: quote, before: quoteBefore }, now);
    positions.traded(account, { listing, orderId, fill, currency: base, before: baseBefore }, now);
    registry.addTrade(account, place ?? tradeOf(filled));
    board.traded(pair, fill, now);
    return place;
  }
}
