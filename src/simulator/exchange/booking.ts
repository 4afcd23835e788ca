import type { Instant } from '../../core/time.ts';
import { tradeOf } from './fills.ts';
import type { Filled } from './fills.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { OrderRegistry } from './orders.ts';
import type { Positions } from './positions.ts';
import type { TickerBoard } from '../market/ticker.ts';

export interface BookingSetup {
  readonly ledger: Ledger;
  readonly registry: OrderRegistry;
  readonly positions: Positions;
  readonly board: TickerBoard;
}

/** Books a fill everywhere: in the ledger, the own trades, the positions on credit and the pair's day. */
export class Booking {
  readonly ledger: Ledger;
  private readonly setup: BookingSetup;

  constructor(setup: BookingSetup) {
    this.ledger = setup.ledger;
    this.setup = setup;
  }

  /** Returns the place of the fill in the columns; `undefined` when it is not stored there. */
  fill(account: string, filled: Filled, now: Instant): number | undefined {
    const { ledger, registry, positions, board } = this.setup;
    const { base, quote } = filled.listing;
    const before = { base: ledger.balance(account, base), quote: ledger.balance(account, quote) };
    const place = ledger.bookFill(account, filled);
    positions.traded(account, filled, before, now);
    registry.addTrade(account, place ?? tradeOf(filled));
    board.traded(filled, place, now);
    return place;
  }

  /** Runs `move`, which changes a balance without a trade. Incoming money repays debts. */
  moved(account: string, currency: string, now: Instant, move: () => void): void {
    const { ledger, positions } = this.setup;
    const before = ledger.balance(account, currency);
    move();
    positions.received(account, currency, before, now);
  }
}
