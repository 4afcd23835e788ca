import { invariant } from '../core/errors.ts';
import { add, holding, negate, NO_QUANTITY, price, subtract } from '../core/money.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
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

/** A trade as it is booked, both legs. Amounts are unsigned. */
export interface Trade {
  readonly orderId: string;
  readonly clientId: string | undefined;
  readonly tradeId: string;
  /** Whole milliseconds. */
  readonly at: Instant;
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly side: Side;
  readonly quantity: Quantity;
  /** Quote currency, without the fee. */
  readonly amount: Money;
  /** Quote currency. */
  readonly fees: Money;
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
  readonly rows: (LedgerRow | Leg)[];
  /** How often a balance was changed. */
  moves: number;
}

const DONE = 'done';
const UNIT_PRICE = price('1');

/** One leg of a trade. Most are never looked at: its row is made for who reads it. */
class Leg {
  readonly id: number;
  readonly trade: Trade;
  readonly isBase: boolean;
  /** After it. */
  readonly balance: Quantity;

  constructor(id: number, trade: Trade, { isBase, balance }: { isBase: boolean; balance: Quantity }) {
    this.id = id;
    this.trade = trade;
    this.isBase = isBase;
    this.balance = balance;
  }

  get at(): Instant {
    return this.trade.at;
  }

  get action(): Side {
    return this.trade.side;
  }

  get status(): string {
    return DONE;
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
      currency: this.isBase ? this.trade.base : this.trade.quote,
      amount: this.isBase === (side === 'buy') ? moved : negate(moved),
      price: this.isBase ? this.trade.price : UNIT_PRICE,
      fees: this.isBase ? NO_QUANTITY : holding(this.trade.fees),
      balance: this.balance,
    };
  }
}

const rowOf = (entry: LedgerRow | Leg): LedgerRow => (entry instanceof Leg ? entry.row() : entry);

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
    this.accounts.set(account, { balances: new Map(), held: new Map(), rows: [], moves: 0 });
  }

  balance(account: string, currency: string): Quantity {
    return this.of(account).balances.get(currency) ?? NO_QUANTITY;
  }

  /** What the account holds, by currency; below zero is owed. */
  balances(account: string): ReadonlyMap<string, Quantity> {
    return this.of(account).balances;
  }

  /** How often a balance of the account was changed: who has seen them at the same count has seen the same. */
  moves(account: string): number {
    return this.of(account).moves;
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
    const { balances, held } = this.of(account);
    const promised = held.get(currency);
    const balance = balances.get(currency) ?? NO_QUANTITY;
    return promised === undefined ? balance : subtract(balance, promised);
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
    if (row !== undefined) rows[index] = { ...rowOf(row), ...change };
  }

  /**
   * An announced movement happens: its transaction gives way to a done one with a new id, so that ids tell the order of
   * balances. Its account transaction id stays.
   */
  settle(account: string, id: number, at: Instant): number {
    const [entry] = this.of(account).rows.splice(this.pendingAt(account, id), 1);
    invariant(entry !== undefined, `transaction ${id} of ${account} is pending`);
    const row = rowOf(entry);
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
  book(account: string, trade: Trade): void {
    const { side, base, quote, quantity, fees } = trade;
    const amount = holding(trade.amount);
    const isBuy = side === 'buy';
    this.exchange(account, base, isBuy ? quantity : negate(quantity));
    this.bookLeg(account, trade, true);
    this.exchange(account, quote, isBuy ? negate(amount) : amount);
    this.take(account, { currency: quote, amount: holding(fees), into: this.feeHoldings });
    this.bookLeg(account, trade, false);
  }

  private bookLeg(account: string, trade: Trade, isBase: boolean): void {
    const { balances, rows } = this.of(account);
    const balance = balances.get(isBase ? trade.base : trade.quote) ?? NO_QUANTITY;
    this.lastId += 1;
    rows.push(new Leg(this.lastId, trade, { isBase, balance }));
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
      else found.push(rowOf(row));
    }
    return found;
  }

  /** All transactions of an account, oldest first. */
  rows(account: string): readonly LedgerRow[] {
    return this.of(account).rows.map(rowOf);
  }

  private of(account: string): Account {
    return this.accounts.get(account) ?? notOpen(account);
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
    const changed = this.of(account);
    changed.balances.set(currency, add(changed.balances.get(currency) ?? NO_QUANTITY, amount));
    changed.moves += 1;
    this.onChange(account);
  }

  private append(account: string, row: Omit<LedgerRow, 'id'>): number {
    this.lastId += 1;
    this.of(account).rows.push({ id: this.lastId, ...row });
    return this.lastId;
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

/** Said apart: the words are not put together for every account that is open. */
function notOpen(account: string): never {
  invariant(false, `the account ${account} is open`);
}

/** Both ends of the time are meant to be in: a row of this very millisecond is not hidden from a reader. */
function matches(row: LedgerRow | Leg, { from, to, after, types, pending }: LedgerQuery): boolean {
  if (row.at < from || row.at > to) return false;
  if (after !== undefined && row.id <= after) return false;
  if (types !== undefined && !types.has(row.action)) return false;
  return row.status === DONE || pending;
}

/** Stamps are whole milliseconds. */
const whole = (at: Instant): Instant => instant(Math.floor(at));
