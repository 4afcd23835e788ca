import { invariant } from '../../core/errors.ts';
import { add, holding, negate, NO_QUANTITY, subtract } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import { Fills, tradeOf } from '../exchange/fills.ts';
import type { Amendment, Booked, Filled, Swap, Trade } from '../exchange/fills.ts';
import { DONE, Leg, UNIT_PRICE } from './leg.ts';
import type { LedgerRow } from './leg.ts';

/** Fields of a deposit, withdrawal, credit or charge other than its amounts. */
export type Remarks = Pick<LedgerRow, 'accountTransactionId' | 'memo' | 'description' | 'txHash' | 'addedBy'>;

/** Incoming (`amount` above zero), outgoing or pending money. */
export interface Movement {
  readonly currency: string;
  /** Signed, without the fee. */
  readonly amount: Quantity;
  /** Fee in addition to the amount, in the same currency. */
  readonly fee?: Quantity | undefined;
  /** Default: a deposit or a withdrawal, by the sign. */
  readonly action?: 'credit' | undefined;
  /** Real time until which the amount is reserved. */
  readonly heldUntil?: Instant | undefined;
  readonly remarks?: Remarks | undefined;
}

/** A fee or rebate of an order that is booked as a row of its own. */
export interface OrderCharge extends Pick<Trade, 'orderId' | 'clientId'> {
  readonly currency: string;
  /** Signed. */
  readonly amount: Quantity;
  readonly description: string;
}

/** Query of transactions. Spec: "GET /v1/account/transactions". */
export interface LedgerQuery {
  readonly from: Instant;
  readonly to: Instant;
  readonly limit: number;
  /** Only transactions with a larger id. */
  readonly after?: number | bigint | undefined;
  /** Number of the first row to return, from 1. After 500 rows, 501 gives the next row. 0 also means the first row. */
  readonly offset: number;
  readonly types?: ReadonlySet<string> | undefined;
  /** Whether to include pending deposits and withdrawals. */
  readonly pending: boolean;
  /** Rows that appear later than this are excluded; default: none. */
  readonly now?: Instant | undefined;
}

/** A row and how it is listed. */
export interface Listed {
  readonly row: LedgerRow;
  /** Id under which it is listed now. */
  readonly listedId: number;
  /** When it appeared. */
  readonly since: Instant;
}

interface Account {
  readonly name: string;
  readonly balances: Map<string, Quantity>;
  /** Reserved part of the balances, for open orders and withdrawals. */
  readonly held: Map<string, Quantity>;
  /** Oldest first. */
  readonly rows: Entry[];
  /** New ids of rows that were renumbered. They are used by the list only: in the ledger a row keeps its id. */
  readonly listedIds: Map<number, number>;
}

/** A number is a leg of a fill in the columns: twice the fill's place, plus one for the quote leg. */
type Entry = LedgerRow | Leg | number;
type Balances = ReadonlyMap<string, Quantity>;
/** Filter of transactions. */
type Looked = Pick<LedgerRow, 'id' | 'at' | 'action' | 'status'>;
type Sides = Pick<Trade, 'base' | 'quote'>;
type Sums = Pick<Trade, 'quantity' | 'amount' | 'fees' | 'baseFees'>;

/**
 * All balances, exactly, and the transactions behind them. Every trade is between an account and the dealer. For each
 * currency, the accounts, the dealer and the fees together therefore hold the deposits minus the withdrawals, so no
 * money appears or disappears.
 */
export class Ledger {
  /** The trades that are stored in columns. */
  readonly fills = new Fills();
  private readonly accounts = new Map<string, Account>();
  /** Cache of the account used last. */
  private last: Account | undefined;
  /** The dealer's holdings, without the fills in columns from `undealt` on, which are added on request. */
  private readonly dealerHoldings = new Map<string, Quantity>();
  private undealt = 0;
  private readonly feeHoldings = new Map<string, Quantity>();
  private readonly interestHoldings = new Map<string, Quantity>();
  private readonly inflows = new Map<string, Quantity>();
  private readonly onChange: (account: string) => void;
  /** Deposits whose amount is reserved, by the end of the hold. */
  private readonly holds: { account: string; currency: string; amount: Quantity; until: Instant }[] = [];
  private lastId: number;

  /**
   * Ids of transactions start at `firstId`. `onChange` is called for every account whose balances or reservations
   * changed.
   */
  constructor(firstId: number, onChange: (account: string) => void = () => undefined) {
    this.lastId = firstId - 1;
    this.onChange = onChange;
  }

  open(account: string): void {
    invariant(!this.accounts.has(account), `the account ${account} is opened once`);
    this.accounts.set(account, {
      name: account,
      balances: new Map(),
      held: new Map(),
      rows: [],
      listedIds: new Map(),
    });
  }

  balance(account: string, currency: string): Quantity {
    return this.of(account).balances.get(currency) ?? NO_QUANTITY;
  }

  /** Balances of the account by currency; negative balances are debts. */
  balances(account: string): Balances {
    return this.of(account).balances;
  }

  /** Id of the account's newest transaction. While it is unchanged, so are the balances. */
  newestId(account: string): number {
    const newest = this.of(account).rows.at(-1);
    return newest === undefined ? -1 : this.idOf(newest);
  }

  /** Passes to `tell` the balances as they were when each of these transactions was the newest. The ids must ascend. */
  recall(account: string, ids: readonly number[], tell: (place: number, held: Balances) => void): void {
    const { rows, balances } = this.of(account);
    const first = ids[0] ?? Infinity;
    let next = rows.findLastIndex((entry) => this.idOf(entry) <= first) + 1;
    // Balances without a later transaction are unchanged. Only the others need a search further back.
    const held = new Map(balances);
    for (let index = next; index < rows.length; index++)
      held.delete(this.balanceOf(rows[index] ?? 0).currency);
    for (let index = next - 1; index >= 0 && held.size < balances.size; index--) {
      const { currency, balance } = this.balanceOf(rows[index] ?? 0);
      if (balances.has(currency) && !held.has(currency)) held.set(currency, balance);
    }
    for (const [place, id] of ids.entries()) {
      for (let entry = rows[next]; entry !== undefined && this.idOf(entry) <= id; entry = rows[++next]) {
        const { currency, balance } = this.balanceOf(entry);
        held.set(currency, balance);
      }
      tell(place, held);
    }
  }

  /** The dealer's balances. The dealer is the other side of every trade. */
  dealer(): ReadonlyMap<string, Quantity> {
    for (; this.undealt < this.fills.count; this.undealt++) this.deal(this.fills.swap(this.undealt));
    return this.dealerHoldings;
  }

  /** Sum of fees. */
  fees(): ReadonlyMap<string, Quantity> {
    return this.feeHoldings;
  }

  /** Sum of interest. */
  interest(): ReadonlyMap<string, Quantity> {
    return this.interestHoldings;
  }

  /** Deposits minus withdrawals, by currency: the sum of accounts, dealer, fees and interest. */
  inflow(): ReadonlyMap<string, Quantity> {
    return this.inflows;
  }

  /** The amount that the account can still reserve; below zero for a debt. */
  available(account: string, currency: string): Quantity {
    const { balances, held } = this.of(account);
    const promised = held.get(currency);
    const balance = balances.get(currency) ?? NO_QUANTITY;
    return promised === undefined ? balance : subtract(balance, promised);
  }

  held(account: string, currency: string): Quantity {
    return this.of(account).held.get(currency) ?? NO_QUANTITY;
  }

  /** Reserves part of a balance (`amount` above zero), or releases a reservation. */
  hold(account: string, currency: string, amount: Quantity): void {
    if (amount.isZero()) return;
    const after = add(this.held(account, currency), amount);
    invariant(!after.isNegative(), () => `no more ${currency} of ${account} is released than was held`);
    this.of(account).held.set(currency, after);
    this.onChange(account);
  }

  /** Real time at which the next hold of a deposit ends. */
  nextDue(): Instant | undefined {
    return this.holds[0]?.until;
  }

  /** Ends that hold. */
  runNext(): void {
    const hold = this.holds.shift();
    if (hold !== undefined) this.hold(hold.account, hold.currency, negate(hold.amount));
  }

  /** Deposits or withdraws money. Returns the id of the transaction. */
  move(account: string, movement: Movement, at: Instant): number {
    const { currency, amount, fee = NO_QUANTITY, heldUntil: until } = movement;
    if (until !== undefined) {
      this.hold(account, currency, amount);
      this.holds.push({ account, currency, amount, until });
      this.holds.sort((a, b) => a.until - b.until);
    }
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

  /** Books a fee (`amount` below zero) or a rebate of an order as a row of its own. */
  adjust(
    account: string,
    { orderId, clientId, currency, amount, description }: OrderCharge,
    at: Instant,
  ): void {
    this.take(account, { currency, amount: negate(amount), into: this.feeHoldings });
    const row = this.moved(account, { currency, amount, remarks: { description } }, at);
    const action = amount.isNegative() ? 'charge' : 'credit';
    this.append(account, { ...row, orderId, clientId, action, status: DONE });
  }

  /** Changes a booked leg. Its balance, those of all later rows, and that of the account follow. */
  amend(
    account: string,
    { tradeId, isBase }: { readonly tradeId: string; readonly isBase: boolean },
    change: Amendment,
  ): void {
    const { rows } = this.of(account);
    const isIt = (entry: Entry): boolean =>
      entry instanceof Leg && entry.isBase === isBase && entry.trade.tradeId === tradeId;
    const index = rows.findLastIndex(isIt);
    const leg = rows[index];
    invariant(leg instanceof Leg, () => `trade ${tradeId} of ${account} is booked as rows`);
    leg.amend(change);
    const { currency } = leg;
    const moved = leg.isOutgoing ? negate(change.amount) : change.amount;
    this.change(account, currency, moved);
    this.dealerHoldings.set(currency, subtract(this.dealerHoldings.get(currency) ?? NO_QUANTITY, moved));
    this.take(account, { currency, amount: change.fee, into: this.feeHoldings });
    this.shift(rows, index, { currency, by: subtract(moved, change.fee) });
  }

  /** Adds to the balance of every row of a currency from `index` on. */
  private shift(rows: Entry[], index: number, { currency, by }: { currency: string; by: Quantity }): void {
    for (let place = index; place < rows.length; place++) {
      const entry = rows[place];
      if (entry === undefined || this.balanceOf(entry).currency !== currency) continue;
      const moved = typeof entry === 'number' ? this.legOf(entry) : entry;
      const balance = add(this.balanceOf(entry).balance, by);
      if (moved instanceof Leg) moved.balance = balance;
      rows[place] = moved instanceof Leg ? moved : { ...moved, balance };
    }
  }

  /** From now on lists the rows of an order, or of all orders, under new ids. */
  renumber(account: string, orderId?: string): void {
    const { rows, listedIds } = this.of(account);
    for (const entry of rows) {
      const { id, orderId: own } = this.rowOf(entry);
      if (own === undefined || (orderId !== undefined && own !== orderId)) continue;
      this.lastId += 1;
      listedIds.set(id, this.lastId);
    }
  }

  /** Whether rows of the account are listed under new ids. */
  isRenumbered(account: string): boolean {
    return this.of(account).listedIds.size > 0;
  }

  /** Announces a deposit or withdrawal that does not count yet. Returns the id of the transaction. */
  announce(account: string, movement: Movement & { readonly status?: string }, at: Instant): number {
    const row = this.moved(account, movement, at);
    return this.append(account, { ...row, status: movement.status ?? 'In Progress' });
  }

  /** Changes a pending transaction. */
  restate(account: string, id: number, change: { readonly status: string; readonly txHash?: string }): void {
    const { rows } = this.of(account);
    const index = this.pendingAt(account, id);
    const row = rows[index];
    if (row !== undefined) rows[index] = { ...this.rowOf(row), ...change };
  }

  /**
   * Completes an announced movement: a completed transaction with a new id replaces the announced one, so that ids
   * follow the order of balances. The account transaction id does not change.
   */
  settle(account: string, id: number, at: Instant): number {
    const [entry] = this.of(account).rows.splice(this.pendingAt(account, id), 1);
    invariant(entry !== undefined, () => `transaction ${id} of ${account} is pending`);
    const row = this.rowOf(entry);
    const { currency, amount, fees: fee } = row;
    const remarks = { ...row, accountTransactionId: row.accountTransactionId ?? String(id) };
    return this.move(account, { currency, amount, fee, remarks }, at);
  }

  private pendingAt(account: string, id: number): number {
    const index = this.of(account).rows.findLastIndex((entry) => {
      const row = this.looked(entry);
      return row.id === id && row.status !== DONE;
    });
    invariant(index >= 0, () => `transaction ${id} of ${account} is pending`);
    return index;
  }

  /** Books a trade as two transactions with the same order and trade, the base leg first. */
  book(account: string, trade: Trade): void {
    this.keep(account, trade, this.exchange(account, trade, trade, trade.side));
  }

  /** Like `book`, for a fill. Returns its place in the columns; `undefined` when it is not stored there. */
  bookFill(account: string, filled: Filled): number | undefined {
    const booked = this.exchange(account, filled.listing, filled.fill, filled.order.side);
    const place = this.fills.add(filled, booked);
    if (place === undefined) this.keep(account, tradeOf(filled), booked);
    else this.of(account).rows.push(2 * place, 2 * place + 1);
    return place;
  }

  private keep(account: string, trade: Trade, booked: Booked): void {
    this.deal(trade);
    this.of(account).rows.push(new Leg(trade, booked, true), new Leg(trade, booked, false));
  }

  /** Newest first. */
  query(account: string, query: LedgerQuery): readonly LedgerRow[] {
    const { rows } = this.of(account);
    const found: LedgerRow[] = [];
    let skip = Math.max(0, query.offset - 1);
    for (let index = rows.length - 1; index >= 0 && found.length < query.limit; index--) {
      const row = rows[index];
      if (row === undefined || !matches(this.looked(row), query) || isHidden(row, query.now)) continue;
      if (skip > 0) skip -= 1;
      else found.push(this.rowOf(row));
    }
    return found;
  }

  /** All transactions of an account, oldest first. */
  rows(account: string): readonly LedgerRow[] {
    return this.of(account).rows.map((entry) => this.rowOf(entry));
  }

  /** Every row that has appeared, oldest first. */
  listed(account: string, now: Instant): readonly Listed[] {
    const { rows, listedIds } = this.of(account);
    return rows
      .filter((entry) => !isHidden(entry, now))
      .map((entry) => {
        const row = this.rowOf(entry);
        const since = (entry instanceof Leg ? entry.shownAt : undefined) ?? row.at;
        return { row, since, listedId: listedIds.get(row.id) ?? row.id };
      });
  }

  private rowOf(entry: Entry): LedgerRow {
    if (typeof entry === 'object') return entry instanceof Leg ? entry.row() : entry;
    return this.legOf(entry).row();
  }

  private legOf(entry: number): Leg {
    const place = entry >> 1;
    return new Leg(this.fills.trade(place), this.fills.booked(place), entry % 2 === 0);
  }

  private balanceOf(entry: Entry): Pick<LedgerRow, 'currency' | 'balance'> {
    return typeof entry === 'object' ? entry : this.fills.balance(entry >> 1, entry % 2 === 0);
  }

  /** The fields that the filter needs, without the rest of the row. */
  private looked(entry: Entry): Looked {
    if (typeof entry === 'object') return entry;
    const place = entry >> 1;
    const { fills } = this;
    return { id: this.idOf(entry), at: fills.time(place), action: fills.side(place), status: DONE };
  }

  private idOf(entry: Entry): number {
    return typeof entry === 'object' ? entry.id : this.fills.legId(entry >> 1) + (entry % 2);
  }

  private of(account: string): Account {
    if (this.last?.name === account) return this.last;
    return (this.last = this.accounts.get(account) ?? notOpen(account));
  }

  private exchange(
    account: string,
    { base, quote }: Sides,
    { quantity, amount, fees, baseFees }: Sums,
    side: Side,
  ): Booked {
    const paid = holding(amount);
    const isBuy = side === 'buy';
    const id = this.lastId + 1;
    this.lastId += 2;
    const swapped = this.change(account, base, isBuy ? quantity : negate(quantity));
    const baseAfter = baseFees === undefined ? swapped : subtract(swapped, baseFees);
    if (baseFees !== undefined)
      this.take(account, { currency: base, amount: baseFees, into: this.feeHoldings });
    const quoteAfter = this.change(account, quote, isBuy ? negate(paid) : paid);
    const fee = holding(fees);
    if (fee.isZero()) return { id, base: baseAfter, quote: quoteAfter };
    this.take(account, { currency: quote, amount: fee, into: this.feeHoldings });
    return { id, base: baseAfter, quote: subtract(quoteAfter, fee) };
  }

  /** Books the dealer's side of a trade. */
  private deal({ base, quote, side, quantity, amount }: Swap): void {
    const held = (currency: string): Quantity => this.dealerHoldings.get(currency) ?? NO_QUANTITY;
    const [into, from] = side === 'buy' ? [add, subtract] : [subtract, add];
    this.dealerHoldings.set(base, from(held(base), quantity));
    this.dealerHoldings.set(quote, into(held(quote), holding(amount)));
  }

  private take(
    account: string,
    { currency, amount, into }: { currency: string; amount: Quantity; into: Map<string, Quantity> },
  ): void {
    if (amount.isZero()) return;
    this.change(account, currency, negate(amount));
    into.set(currency, add(into.get(currency) ?? NO_QUANTITY, amount));
  }

  /** Returns the balance after the change. */
  private change(account: string, currency: string, amount: Quantity): Quantity {
    const { balances } = this.of(account);
    const after = add(balances.get(currency) ?? NO_QUANTITY, amount);
    balances.set(currency, after);
    this.onChange(account);
    return after;
  }

  private append(account: string, row: Omit<LedgerRow, 'id'>): number {
    this.lastId += 1;
    this.of(account).rows.push({ id: this.lastId, ...row });
    return this.lastId;
  }

  private moved(account: string, movement: Movement, at: Instant): Omit<LedgerRow, 'id' | 'status'> {
    const { currency, amount, action, fee = NO_QUANTITY, remarks = {}, heldUntil } = movement;
    const { accountTransactionId, memo, description, txHash, addedBy } = remarks;
    return {
      accountTransactionId,
      memo,
      description,
      txHash,
      addedBy,
      heldUntil,
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

/** A separate function, so that the message is not built on every access to an open account. */
function notOpen(account: string): never {
  invariant(false, `the account ${account} is open`);
}

/** Whether the row of a leg is not visible yet, because it may appear later than its booking. */
const isHidden = (entry: Entry, now: Instant | undefined): boolean =>
  now !== undefined && entry instanceof Leg && entry.shownAt !== undefined && entry.shownAt > now;

/** Both ends of the period are inclusive, so that a row of the current millisecond is visible. */
function matches(row: Looked, { from, to, after, types, pending }: LedgerQuery): boolean {
  if (row.at < from || row.at > to) return false;
  if (after !== undefined && row.id <= after) return false;
  if (types !== undefined && !types.has(row.action)) return false;
  return row.status === DONE || pending;
}

/** Timestamps are whole milliseconds. */
const whole = (at: Instant): Instant => instant(Math.floor(at));
