import { add, holding, negate, NO_QUANTITY, price } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import type { BookedTransaction } from '../../wire/account-bodies.ts';
import type { Amendment, Booked, Trade } from '../exchange/fills.ts';

/** A transaction as stored. */
export type LedgerRow = BookedTransaction;

export const DONE = 'done';
export const UNIT_PRICE = price('1');
const NO_ORDER = { orderId: undefined, tradeId: undefined };

/** One leg of a trade. Its row is created on read, because most rows are never read. */
export class Leg {
  readonly id: number;
  readonly trade: Trade;
  readonly isBase: boolean;
  /** Balance after the leg. It follows later amendments of this leg and of earlier ones. */
  balance: Quantity;
  /** Sum of later amendments. */
  private amended: Amendment | undefined;

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

  /** Adds to the amount (without its sign) and to the fee. */
  amend({ amount, fee }: Amendment): void {
    const { amended } = this;
    this.amended =
      amended === undefined
        ? { amount, fee }
        : { amount: add(amended.amount, amount), fee: add(amended.fee, fee) };
  }

  /** Whether the leg leaves the account. */
  get isOutgoing(): boolean {
    return this.isBase !== (this.trade.side === 'buy');
  }

  get currency(): string {
    return this.isBase ? this.trade.base : this.trade.quote;
  }

  row(): LedgerRow {
    const { description, clientId, at, side, pair, quantity, amount } = this.trade;
    const { orderId, tradeId } = description === undefined ? this.trade : NO_ORDER;
    const { amended } = this;
    const size = this.isBase ? quantity : holding(amount);
    const fees = this.isBase ? (this.trade.baseFees ?? NO_QUANTITY) : holding(this.trade.fees);
    const moved = amended === undefined ? size : add(size, amended.amount);
    return {
      id: this.id,
      orderId,
      clientId,
      tradeId,
      description,
      at,
      action: side,
      status: DONE,
      pair,
      currency: this.currency,
      amount: this.isOutgoing ? negate(moved) : moved,
      price: this.isBase ? this.trade.price : UNIT_PRICE,
      fees: amended === undefined ? fees : add(fees, amended.fee),
      balance: this.balance,
    };
  }
}
