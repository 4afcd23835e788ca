import { invariant } from '../core/errors.ts';
import { add, negate, NO_QUANTITY, price, subtract } from '../core/money.ts';
import type { Price, Quantity } from '../core/money.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Side, Transaction } from '../core/venue.ts';

/** Both legs of a trade, as they are booked. Amounts are unsigned. */
export interface Trade {
  readonly orderId: string;
  readonly clientId: string | undefined;
  readonly tradeId: string;
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly side: Side;
  readonly quantity: Quantity;
  /** Quote currency, without the fee. */
  readonly amount: Quantity;
  /** Quote currency. */
  readonly fees: Quantity;
  readonly price: Price;
}

/** Which transactions are asked for. Spec: "GET /v1/account/transactions". */
export interface LedgerQuery {
  readonly from: Instant;
  readonly to: Instant;
  readonly limit: number;
  /** Only transactions with a larger id. */
  readonly after?: number | undefined;
  /** Place of the first row that is wanted, from 1: after 500 rows, 501 gives the next. 0 is the first as well. */
  readonly offset: number;
  readonly types?: ReadonlySet<string> | undefined;
  /** Whether deposits and withdrawals that are not done are wanted too. */
  readonly pending: boolean;
}

interface Account {
  readonly balances: Map<string, Quantity>;
  /** Oldest first. */
  readonly rows: Transaction[];
}

const DONE = 'done';
const UNIT_PRICE = price('1');

/**
 * Who holds what, exactly, and how it came to be. Every trade is between an account and the dealer, so for each currency
 * the accounts, the dealer and the fees together hold what was deposited less what was withdrawn: nothing is made or lost.
 */
export class Ledger {
  private readonly accounts = new Map<string, Account>();
  private readonly dealerHoldings = new Map<string, Quantity>();
  private readonly feeHoldings = new Map<string, Quantity>();
  private lastId: number;

  /** Ids of transactions go up from `firstId`. */
  constructor(firstId: number) {
    this.lastId = firstId - 1;
  }

  open(account: string): void {
    invariant(!this.accounts.has(account), `the account ${account} is opened once`);
    this.accounts.set(account, { balances: new Map(), rows: [] });
  }

  balance(account: string, currency: string): Quantity {
    return this.of(account).balances.get(currency) ?? NO_QUANTITY;
  }

  /** What the account holds, by currency; below zero is owed. */
  balances(account: string): ReadonlyMap<string, Quantity> {
    return this.of(account).balances;
  }

  /** What the dealer holds: the other side of every trade. */
  dealer(): ReadonlyMap<string, Quantity> {
    return this.dealerHoldings;
  }

  /** What was taken in fees. */
  fees(): ReadonlyMap<string, Quantity> {
    return this.feeHoldings;
  }

  /** Brings money in (`amount` above zero) or takes it out. Returns the id of the transaction. */
  move(account: string, currency: string, amount: Quantity, at: Instant): number {
    const { balances } = this.of(account);
    balances.set(currency, add(this.balance(account, currency), amount));
    return this.append(account, { ...this.moved(account, currency, amount, at), status: DONE });
  }

  /** A deposit that was seen but does not count yet. Returns the id of the transaction. */
  announce(account: string, currency: string, amount: Quantity, at: Instant): number {
    return this.append(account, { ...this.moved(account, currency, amount, at), status: 'In Progress' });
  }

  /** An announced deposit arrives: its transaction gives way to a done one with a new id, so that ids tell the order of balances. */
  settle(account: string, id: number, at: Instant): number {
    const { rows } = this.of(account);
    const index = rows.findIndex((row) => row.id === id && row.status !== DONE);
    const [pending] = index < 0 ? [] : rows.splice(index, 1);
    invariant(pending !== undefined, `transaction ${id} of ${account} is pending`);
    return this.move(account, pending.currency, pending.amount, at);
  }

  /** Books a trade: two transactions, the base leg first, that share order and trade. */
  book(account: string, trade: Trade, at: Instant): void {
    const { side, quantity, amount, fees } = trade;
    const isBuy = side === 'buy';
    this.exchange(account, trade.base, isBuy ? quantity : negate(quantity));
    this.append(account, {
      ...this.leg(account, trade, at),
      currency: trade.base,
      amount: isBuy ? quantity : negate(quantity),
      price: trade.price,
      fees: NO_QUANTITY,
      balance: this.balance(account, trade.base),
    });
    this.exchange(account, trade.quote, isBuy ? negate(amount) : amount);
    this.take(account, trade.quote, fees);
    this.append(account, {
      ...this.leg(account, trade, at),
      currency: trade.quote,
      amount: isBuy ? negate(amount) : amount,
      price: UNIT_PRICE,
      fees,
      balance: this.balance(account, trade.quote),
    });
  }

  /** Newest first. */
  query(account: string, query: LedgerQuery): readonly Transaction[] {
    const { rows } = this.of(account);
    const found: Transaction[] = [];
    let skip = Math.max(0, query.offset - 1);
    for (let index = rows.length - 1; index >= 0 && found.length < query.limit; index--) {
      const row = rows[index];
      if (row === undefined || !matches(row, query)) continue;
      if (skip > 0) skip -= 1;
      else found.push(row);
    }
    return found;
  }

  /** All transactions of an account, oldest first. */
  rows(account: string): readonly Transaction[] {
    return this.of(account).rows;
  }

  private of(account: string): Account {
    const found = this.accounts.get(account);
    invariant(found !== undefined, `the account ${account} is open`);
    return found;
  }

  private exchange(account: string, currency: string, amount: Quantity): void {
    const { balances } = this.of(account);
    balances.set(currency, add(this.balance(account, currency), amount));
    this.dealerHoldings.set(currency, subtract(this.dealerHoldings.get(currency) ?? NO_QUANTITY, amount));
  }

  private take(account: string, currency: string, fees: Quantity): void {
    if (fees.isZero()) return;
    this.of(account).balances.set(currency, subtract(this.balance(account, currency), fees));
    this.feeHoldings.set(currency, add(this.feeHoldings.get(currency) ?? NO_QUANTITY, fees));
  }

  private append(account: string, row: Omit<Transaction, 'id'>): number {
    this.lastId += 1;
    this.of(account).rows.push({ id: this.lastId, ...row });
    return this.lastId;
  }

  private leg(
    account: string,
    trade: Trade,
    at: Instant,
  ): Omit<Transaction, 'id' | 'currency' | 'amount' | 'price' | 'fees' | 'balance'> {
    invariant(this.accounts.has(account), `the account ${account} is open`);
    return {
      orderId: trade.orderId,
      clientId: trade.clientId,
      tradeId: trade.tradeId,
      at: whole(at),
      action: trade.side,
      status: DONE,
      pair: trade.pair,
    };
  }

  private moved(
    account: string,
    currency: string,
    amount: Quantity,
    at: Instant,
  ): Omit<Transaction, 'id' | 'status'> {
    return {
      orderId: undefined,
      clientId: undefined,
      tradeId: undefined,
      at: whole(at),
      action: amount.isNegative() ? 'withdraw' : 'deposit',
      currency,
      amount,
      price: UNIT_PRICE,
      fees: NO_QUANTITY,
      balance: this.balance(account, currency),
      pair: undefined,
    };
  }
}

/** Both ends of the time are meant to be in: a row of this very millisecond is not hidden from a reader. */
function matches(row: Transaction, { from, to, after, types, pending }: LedgerQuery): boolean {
  if (row.at < from || row.at > to) return false;
  if (after !== undefined && row.id <= after) return false;
  if (types !== undefined && !types.has(row.action)) return false;
  return row.status === DONE || pending;
}

/** Stamps are whole milliseconds. */
const whole = (at: Instant): Instant => instant(Math.floor(at));
