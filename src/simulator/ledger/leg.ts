import { holding, negate, NO_QUANTITY, price } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { Side, Transaction } from '../../core/venue.ts';
import type { TransactionDetail } from '../../wire/account.ts';
import type { Booked, Trade } from '../exchange/fills.ts';

/** A transaction as stored: empty fields are omitted. */
export type LedgerRow = Transaction & Optional<Omit<TransactionDetail, keyof Transaction>>;
export type Optional<Of> = { readonly [Key in keyof Of]?: Of[Key] | undefined };

export const DONE = 'done';
export const UNIT_PRICE = price('1');

/** One leg of a trade. Its row is created on read, because most rows are never read. */
export class Leg {
  readonly id: number;
  readonly trade: Trade;
  readonly isBase: boolean;
  /** Balance after the leg. */
  readonly balance: Quantity;

  constructor(trade: Trade, { id, base, quote }: Booked, isBase: boolean) {
    this.id = isBase ? id : id + 1;
    this.trade = trade;
    this.isBase = isBase;
    this.balance = isBase ? base : quote;
  }

  get at(): Instant {
    return this.trade.at;
  }

  /** When its row becomes visible in the transactions; `undefined`: when it is booked. */
  get shownAt(): Instant | undefined {
    const { showing } = this.trade;
    return this.isBase ? showing?.base : showing?.quote;
  }

  get action(): Side {
    return this.trade.side;
  }

  get status(): string {
    return DONE;
  }

  get currency(): string {
    return this.isBase ? this.trade.base : this.trade.quote;
  }

  row(): LedgerRow {
    const { orderId, clientId, tradeId, at, side, pair, quantity, amount, algorithm } = this.trade;
    const moved = this.isBase ? quantity : holding(amount);
    return {
      id: this.id,
      orderId,
      clientId,
      tradeId,
      at,
      action: side,
      status: DONE,
      pair,
      ...(algorithm === undefined ? {} : { algorithm: algorithm.name, algorithmId: String(algorithm.id) }),
      currency: this.currency,
      amount: this.isBase === (side === 'buy') ? moved : negate(moved),
      price: this.isBase ? this.trade.price : UNIT_PRICE,
      fees: this.isBase ? NO_QUANTITY : holding(this.trade.fees),
      balance: this.balance,
    };
  }
}
