import { invariant } from '../core/errors.ts';
import { add, negate, NO_QUANTITY, price, subtract } from '../core/money.ts';
import type { Price, Quantity } from '../core/money.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Side, Transaction } from '../core/venue.ts';
import type { TransactionDetail } from '../wire/account.ts';

/** A transaction as it is kept: what it does not say stays out. */
export type LedgerRow = Transaction & Optional<Omit<TransactionDetail, keyof Transaction>>;
/** What a deposit, withdrawal, credit or charge tells besides its money. */
export type Remarks = Optional<
  Pick<TransactionDetail, 'accountTransactionId' | 'memo' | 'description' | 'txHash' | 'addedBy'>
>;
type Optional<Of> = { readonly [Key in keyof Of]?: Of[Key] | undefined };

/** Money that comes in (`amount` above zero), leaves, or will. */
export interface Movement {
  readonly currency: string;
  /** Signed, without the fee. */
  readonly amount: Quantity;
  /** On top, in the same currency. */
  readonly fee?: Quantity | undefined;
  /** Left out: a deposit or a withdrawal, by the sign. */
  readonly action?: 'credit' | undefined;
  readonly remarks?: Remarks | undefined;
}

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
  /** Left out: `Instant`, as of every order against a quote. */
  readonly algorithm?: { readonly id: number; readonly name: string } | undefined;
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
  /** Part of the balances that is promised: to open orders, withdrawals, the collateral wallet. */
  readonly held: Map<string, Quantity>;
  /** Oldest first. */
  readonly rows: LedgerRow[];
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
  private readonly interestHoldings = new Map<string, Quantity>();
  private readonly inflows = new Map<string, Quantity>();
  private readonly onChange: (account: string) => void;
  private lastId: number;

  /** Ids of transactions go up from `firstId`. `onChange` is told of every account whose balances or holds changed. */
  constructor(firstId: number, onChange: (account: string) => void = () => undefined) {
    this.lastId = firstId - 1;
    this.onChange = onChange;
  }

  open(account: string): void {
    invariant(!this.accounts.has(account), `the account ${account} is opened once`);
    this.accounts.set(account, { balances: new Map(), held: new Map(), rows: [] });
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

  /** What interest was charged. */
  interest(): ReadonlyMap<string, Quantity> {
    return this.interestHoldings;
  }

  /** What came from outside less what went there, by currency: accounts, dealer, fees and interest hold just this. */
  inflow(): ReadonlyMap<string, Quantity> {
    return this.inflows;
  }

  /** What the account can still promise; below zero when it owes. */
  available(account: string, currency: string): Quantity {
    return subtract(this.balance(account, currency), this.held(account, currency));
  }

  held(account: string, currency: string): Quantity {
    return this.of(account).held.get(currency) ?? NO_QUANTITY;
  }

  /** Promises part of a balance (`amount` above zero), or lets go of a promise. */
  hold(account: string, currency: string, amount: Quantity): void {
    if (amount.isZero()) return;
    const after = add(this.held(account, currency), amount);
    invariant(!after.isNegative(), `no more ${currency} of ${account} is let go than was held`);
    this.of(account).held.set(currency, after);
    this.onChange(account);
  }

  /** Brings money in or takes it out. Returns the id of the transaction. */
  move(account: string, movement: Movement, at: Instant): number {
    const { currency, amount, fee = NO_QUANTITY } = movement;
    this.change(account, currency, amount);
    this.inflows.set(currency, add(this.inflows.get(currency) ?? NO_QUANTITY, amount));
    this.take(account, { currency, amount: fee, into: this.feeHoldings });
    return this.append(account, { ...this.moved(account, movement, at), status: DONE });
  }

  /** Charges interest. Returns the id of the transaction. */
  charge(
    account: string,
    { currency, amount, description }: { currency: string; amount: Quantity; description: string },
    at: Instant,
  ): number {
    this.take(account, { currency, amount, into: this.interestHoldings });
    const row = this.moved(account, { currency, amount: negate(amount), remarks: { description } }, at);
    return this.append(account, { ...row, action: 'charge', status: DONE });
  }

  /** A deposit or withdrawal that does not count yet. Returns the id of the transaction. */
  announce(account: string, movement: Movement & { readonly status?: string }, at: Instant): number {
    const row = this.moved(account, movement, at);
    return this.append(account, { ...row, status: movement.status ?? 'In Progress' });
  }

  /** Changes what a pending transaction says. */
  restate(account: string, id: number, change: { readonly status: string; readonly txHash?: string }): void {
    const { rows } = this.of(account);
    const index = this.pendingAt(account, id);
    const row = rows[index];
    if (row !== undefined) rows[index] = { ...row, ...change };
  }

  /**
   * An announced movement happens: its transaction gives way to a done one with a new id, so that ids tell the order of
   * balances. Its account transaction id stays.
   */
  settle(account: string, id: number, at: Instant): number {
    const [row] = this.of(account).rows.splice(this.pendingAt(account, id), 1);
    invariant(row !== undefined, `transaction ${id} of ${account} is pending`);
    const { currency, amount, fees: fee } = row;
    const remarks = { ...row, accountTransactionId: row.accountTransactionId ?? String(id) };
    return this.move(account, { currency, amount, fee, remarks }, at);
  }

  private pendingAt(account: string, id: number): number {
    const index = this.of(account).rows.findLastIndex((row) => row.id === id && row.status !== DONE);
    invariant(index >= 0, `transaction ${id} of ${account} is pending`);
    return index;
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
    this.take(account, { currency: trade.quote, amount: fees, into: this.feeHoldings });
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
  query(account: string, query: LedgerQuery): readonly LedgerRow[] {
    const { rows } = this.of(account);
    const found: LedgerRow[] = [];
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
  rows(account: string): readonly LedgerRow[] {
    return this.of(account).rows;
  }

  private of(account: string): Account {
    const found = this.accounts.get(account);
    invariant(found !== undefined, `the account ${account} is open`);
    return found;
  }

  private exchange(account: string, currency: string, amount: Quantity): void {
    this.change(account, currency, amount);
    this.dealerHoldings.set(currency, subtract(this.dealerHoldings.get(currency) ?? NO_QUANTITY, amount));
  }

  private take(
    account: string,
    { currency, amount, into }: { currency: string; amount: Quantity; into: Map<string, Quantity> },
  ): void {
    if (amount.isZero()) return;
    this.change(account, currency, negate(amount));
    into.set(currency, add(into.get(currency) ?? NO_QUANTITY, amount));
  }

  private change(account: string, currency: string, amount: Quantity): void {
    this.of(account).balances.set(currency, add(this.balance(account, currency), amount));
    this.onChange(account);
  }

  private append(account: string, row: Omit<LedgerRow, 'id'>): number {
    this.lastId += 1;
    this.of(account).rows.push({ id: this.lastId, ...row });
    return this.lastId;
  }

  private leg(
    account: string,
    trade: Trade,
    at: Instant,
  ): Omit<LedgerRow, 'id' | 'currency' | 'amount' | 'price' | 'fees' | 'balance'> {
    invariant(this.accounts.has(account), `the account ${account} is open`);
    const { algorithm } = trade;
    return {
      orderId: trade.orderId,
      clientId: trade.clientId,
      tradeId: trade.tradeId,
      at: whole(at),
      action: trade.side,
      status: DONE,
      pair: trade.pair,
      ...(algorithm === undefined ? {} : { algorithm: algorithm.name, algorithmId: String(algorithm.id) }),
    };
  }

  private moved(account: string, movement: Movement, at: Instant): Omit<LedgerRow, 'id' | 'status'> {
    const { currency, amount, action, fee = NO_QUANTITY, remarks = {} } = movement;
    const { accountTransactionId, memo, description, txHash, addedBy } = remarks;
    return {
      accountTransactionId,
      memo,
      description,
      txHash,
      addedBy,
      orderId: undefined,
      clientId: undefined,
      tradeId: undefined,
      at: whole(at),
      action: action ?? (amount.isNegative() ? 'withdraw' : 'deposit'),
      currency,
      amount,
      price: UNIT_PRICE,
      fees: fee,
      transferFee: fee,
      balance: this.balance(account, currency),
      pair: undefined,
    };
  }
}

/** Both ends of the time are meant to be in: a row of this very millisecond is not hidden from a reader. */
function matches(row: LedgerRow, { from, to, after, types, pending }: LedgerQuery): boolean {
  if (row.at < from || row.at > to) return false;
  if (after !== undefined && row.id <= after) return false;
  if (types !== undefined && !types.has(row.action)) return false;
  return row.status === DONE || pending;
}

/** Stamps are whole milliseconds. */
const whole = (at: Instant): Instant => instant(Math.floor(at));
