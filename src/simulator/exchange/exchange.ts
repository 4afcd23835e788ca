import { NO_QUANTITY, quantity } from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import type { Pair } from '../../core/pairs.ts';
import { after, DAY_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Balance, FundingRate, Quote, QuoteRequest, ValuationPoint } from '../../core/venue.ts';
import type { Random } from '../../engine/ports.ts';
import { transactionBody } from '../../wire/account-bodies.ts';
import type { Ticker } from '../../wire/feeds/feed-bodies.ts';
import type { OrderDetail } from '../../wire/order-body.ts';
import type { LimitOrder } from '../../wire/orders.ts';
import type { PtsMetrics, PtsPosition } from '../../wire/pts.ts';
import { Access } from '../http/access.ts';
import type { AccountAccess } from '../http/access.ts';
import { Booking } from './booking.ts';
import { Changes } from './exchange-changes.ts';
import type { Change } from './exchange-changes.ts';
import { Credit } from './credit.ts';
import { Custody } from '../custody/custody.ts';
import { Dealer } from './dealer.ts';
import type { PlacedOrder } from './dealer.ts';
import { accountValue, ValueHistory } from '../ledger/value-history.ts';
import type { Impact } from './impact.ts';
import { Ledger } from '../ledger/ledger.ts';
import { listView } from '../ledger/list-view.ts';
import type { LedgerRow } from '../ledger/leg.ts';
import type { LedgerQuery } from '../ledger/ledger.ts';
import { Limits } from './venue-limits.ts';
import { Liquidation } from './liquidation.ts';
import type { LimitedRoute } from '../../wire/routes.ts';
import type { ListedCurrency } from './listing.ts';
import { Market } from '../market/market.ts';
import type { RateOptions, RiskModeText, VenueOptions } from '../options/options.ts';
import { AS_BOOKED } from '../options/options-lists.ts';
import { OrderRegistry } from './orders.ts';
import { Positions } from './positions.ts';
import type { InterestPayment } from './positions.ts';
import { seededRandom } from '../market/random.ts';
import { assumed, documented, found } from '../http/reply.ts';
import type { Refusal, Reply } from '../http/reply.ts';
import { RestingOrders } from './resting-orders.ts';
import type { PriceTape } from '../market/price-tape.ts';
import { TickerBoard } from '../market/ticker.ts';
import { marketTrade } from '../feeds/feed-market.ts';
import { Transfers } from '../custody/transfers.ts';
import { Withdrawals } from '../custody/withdrawals.ts';

export interface ExchangeSetup {
  readonly options: VenueOptions;
  /** Tapes by pair, as `options.prices` names them. */
  readonly tapes?: ReadonlyMap<string, PriceTape> | undefined;
  /** Real time at which the venue opens and the balances are deposited. */
  readonly startedAt: Instant;
  /** Default: seeded by `options.seed`. */
  readonly random?: Random | undefined;
  /** How trades affect later prices; default: they do not. */
  readonly impact?: Impact | undefined;
}

/** Query of the transactions; omitted fields have the specification's defaults. */
export type TransactionsAsked = { readonly [Key in keyof LedgerQuery]?: LedgerQuery[Key] | undefined };

type Source = Pick<Transfers, 'nextDue' | 'runNext'>;
const DEFAULT_LIMIT = 250;
export const LIMIT_MAX = 1_000;

/**
 * The simulated venue as a state machine without I/O or a clock. The caller passes the time to every call, and all
 * randomness comes from one seeded generator, so the same calls give the same responses.
 *
 * `now` is real time, in ms; it must not go back. The market behind the prices has its own, faster time.
 */
export class Exchange {
  readonly accounts: readonly AccountAccess[];
  readonly access: Access;
  readonly market: Market;
  readonly ledger: Ledger;
  readonly registry: OrderRegistry;
  readonly resting: RestingOrders;
  readonly positions: Positions;
  readonly transit: Transfers;
  readonly withdrawals: Withdrawals;
  readonly custody: Custody;
  readonly options: VenueOptions;
  private readonly changes = new Changes();
  private readonly credit: Credit;
  private readonly dealer: Dealer;
  private readonly history: ValueHistory;
  private readonly limits: Limits;
  private readonly board: TickerBoard;
  /** Events that happen without a call. */
  private readonly sources: readonly Source[];
  private time: Instant;

  /** @throws OperatorError (`config`) if the settings contradict one another. */
  constructor({
    options,
    tapes = new Map(),
    startedAt,
    random = seededRandom(options.seed),
    impact,
  }: ExchangeSetup) {
    this.options = options;
    this.time = startedAt;
    const market = new Market({ options, tapes, startedAt });
    const ledger = new Ledger(Math.floor(startedAt) + 1, (account) => {
      if (this.changes.isHeard) this.changes.tell({ kind: 'balances', account });
    });
    const registry = new OrderRegistry(this.changes, startedAt, ledger.fills);
    this.market = market;
    this.ledger = ledger;
    this.registry = registry;
    this.access = new Access(options);
    this.accounts = this.access.accounts;
    this.credit = new Credit(options.pts, ledger, market);
    const rateOf = (currency: string): FundingRate => this.credit.rateOf(currency);
    this.positions = new Positions({ ledger, market, registry, rateOf });
    this.board = new TickerBoard(market, ledger.fills);
    const booking = new Booking({ ledger, registry, positions: this.positions, board: this.board });
    this.dealer = new Dealer({
      options,
      market,
      registry,
      booking,
      credit: this.credit,
      random,
      startedAt,
      impact,
    });
    this.resting = new RestingOrders({ options, market, ledger, registry });
    this.transit = new Transfers({
      ledger,
      market,
      positions: this.positions,
      seed: options.seed,
      stepMinutes: options.transferStepMinutes,
    });
    const metrics = (account: string, now: Instant): PtsMetrics => this.credit.metrics(account, now);
    const liquidation = new Liquidation({ ledger, market, positions: this.positions, metrics });
    this.sources = [this.dealer, this.resting, this.positions, this.transit, ledger, liquidation];
    this.custody = new Custody({ options, registry, startedAt });
    this.withdrawals = new Withdrawals({
      options,
      ledger,
      market,
      metrics,
      transit: this.transit,
      custody: this.custody,
    });
    this.history = new ValueHistory(ledger, market);
    market.onPin = () => {
      this.history.settle();
      this.board.settle();
    };
    this.limits = new Limits(options.limits);
    this.openAccounts(startedAt);
  }

  private openAccounts(startedAt: Instant): void {
    const { accounts, partner } = this.options;
    const all = accounts.some(({ name }) => name === partner.name)
      ? accounts
      : [...accounts, { name: partner.name, balances: {} }];
    for (const { name, balances } of all) {
      this.ledger.open(name);
      this.custody.open(name);
      for (const [currency, held] of Object.entries(balances)) {
        const amount = quantity(held);
        if (!amount.isZero()) this.ledger.move(name, { currency, amount }, startedAt);
      }
      this.history.open(name, startedAt);
    }
  }

  /**
   * Runs everything due until `now`, in chronological order: ends of cancellations, interest, settlements, transfer states,
   * history points. The result does not depend on how often it is called.
   */
  advance(now: Instant): void {
    if (now < this.time) return;
    for (;;) {
      let next: Source | undefined;
      let due = Infinity;
      for (const source of this.sources) {
        const at = source.nextDue();
        if (at !== undefined && at <= now && at < due) [next, due] = [source, at];
      }
      if (next === undefined) break;
      this.history.advance(instant(due));
      next.runNext();
    }
    this.history.advance(now);
    this.time = now;
  }

  /** Time of the last call. */
  get at(): Instant {
    return this.time;
  }

  /** Calls `listener` immediately for every later change of an account. Returns the function that stops it. */
  listen(listener: (change: Change) => void): () => void {
    return this.changes.listen(listener);
  }

  /** Name of the account of a token. `now` determines whether a token has expired; default: the time of the last call. */
  authenticate(token: string, now: Instant = this.time): Reply<string> {
    return this.access.identify(token, now);
  }

  /** Counts a request against the limit of its route; returns a refusal if it exceeds the limit. */
  admit(route: LimitedRoute, account: string, now: Instant): Refusal | undefined {
    return refusedFor(this.limits.route(route, account, now));
  }

  /** Counts a request against the limit of its network address. */
  admitAddress(address: string, now: Instant): Refusal | undefined {
    return refusedFor(this.limits.address(address, now));
  }

  quote(account: string, request: QuoteRequest, now: Instant): Reply<Quote> {
    this.advance(now);
    const { quoteDateMs } = this.options;
    const reply = this.dealer.quote(account, request, now);
    return quoteDateMs === 0 || !reply.ok ? reply : { ...reply, value: dated(reply.value, quoteDateMs) };
  }

  order(account: string, order: PlacedOrder, now: Instant): Reply<OrderDetail> {
    this.advance(now);
    return this.dealer.order(account, order, now);
  }

  /** A limit order. */
  place(account: string, order: LimitOrder, now: Instant): Reply<OrderDetail> {
    this.advance(now);
    return this.resting.place(account, order, now);
  }

  /** The last trade and the day summary of a pair, if others can trade it. */
  ticker(pair: string, now: Instant): Ticker | undefined {
    const listing = this.market.listings.get(pair);
    const trade = listing && marketTrade(this.market, { listing, seed: this.options.seed }, now);
    return trade && this.board.look(trade, now);
  }

  /** An order by the venue's id or the client's. */
  lookup(account: string, id: string): Reply<OrderDetail> {
    const order = this.registry.find(account, id);
    return order === undefined ? assumed.unknownOrder() : found(order);
  }

  /** Newest first. The specification's defaults: the last 24 hours; 250 rows, at most 1000; only completed transactions. */
  transactions(account: string, asked: TransactionsAsked, now: Instant): Reply<readonly LedgerRow[]> {
    this.advance(now);
    return found(
      this.ledger.query(account, {
        from: asked.from ?? instant(now - DAY_MS),
        to: asked.to ?? now,
        limit: Math.min(asked.limit ?? DEFAULT_LIMIT, LIMIT_MAX),
        after: asked.after,
        offset: asked.offset ?? 0,
        types: asked.types,
        pending: asked.pending ?? false,
        now,
      }),
    );
  }

  /** The transactions as a client of the venue reads them, in the venue's format. */
  listed(account: string, asked: TransactionsAsked, now: Instant): Reply<readonly object[]> {
    this.advance(now);
    const { lists } = this.options;
    if (lists === undefined && !this.ledger.isRenumbered(account)) {
      const rows = this.transactions(account, asked, now);
      return rows.ok ? found(rows.value.map((row) => transactionBody(row))) : rows;
    }
    const options = lists ?? AS_BOOKED;
    const ledgerNow = after(now, options.clockMs);
    const query = {
      from: asked.from ?? instant(ledgerNow - DAY_MS),
      to: asked.to ?? ledgerNow,
      limit: Math.min(asked.limit ?? DEFAULT_LIMIT, LIMIT_MAX),
      after: asked.after,
      offset: asked.offset ?? 0,
      types: asked.types,
      pending: asked.pending ?? false,
    };
    const setting = { options, now, pairs: this.market.listings };
    return found(listView(this.ledger.listed(account, now), query, setting));
  }

  currencies(): Reply<readonly ListedCurrency[]> {
    return found([...this.market.currencies.values()]);
  }

  fundingRates(): Reply<readonly FundingRate[]> {
    return this.credit.isEnabled ? found(this.credit.fundingRates()) : documented.ptsDisabled();
  }

  riskModes(): Reply<readonly { readonly pair: string; readonly mode: RiskModeText }[]> {
    return this.credit.isEnabled ? found(this.credit.riskModes()) : documented.ptsDisabled();
  }

  /** The account's debts and remaining credit, USD. */
  metrics(account: string, now: Instant): Reply<PtsMetrics> {
    this.advance(now);
    return this.credit.isEnabled ? found(this.credit.metrics(account, now)) : documented.ptsDisabled();
  }

  /** Positions on credit, oldest first. */
  ptsPositions(account: string, now: Instant): Reply<readonly PtsPosition[]> {
    this.advance(now);
    return this.credit.isEnabled ? found(this.positions.of(account)) : documented.ptsDisabled();
  }

  /** Charged interest, newest first. */
  interest(account: string, now: Instant): Reply<readonly InterestPayment[]> {
    this.advance(now);
    return this.credit.isEnabled ? found(this.positions.interestOf(account)) : documented.ptsDisabled();
  }

  /** USD value of the account at its start and at each full hour (or day) of the market, with timestamps in real time. */
  valuation(
    account: string,
    { from, to, interval }: { from: Instant; to?: Instant | undefined; interval: 'hour' | 'day' },
    now: Instant,
  ): Reply<readonly ValuationPoint[]> {
    this.advance(now);
    return found(this.history.read(account, { from, to: to ?? now, interval }));
  }

  /** USD value of the account at this moment. */
  valueOf(account: string, now: Instant): Money {
    return accountValue(account, { ledger: this.ledger, market: this.market, now });
  }

  balances(account: string): Reply<readonly Balance[]> {
    const rows = [...this.ledger.balances(account)].map(([currency, balance]) => ({
      currency,
      balance,
      available: this.ledger.available(account, currency),
    }));
    return found(rows);
  }

  pairs(): Reply<readonly Pair[]> {
    return found([...this.market.listings.values()].map(({ pair, base, quote }) => ({ pair, base, quote })));
  }

  /**
   * Deposits (`amount` above zero) or withdraws money immediately. A deposit cannot be spent before `heldUntil`. Returns the
   * id of the transaction.
   */
  deposit(account: string, currency: string, amount: Quantity, now: Instant, heldUntil?: Instant): number {
    const movement = { currency, amount, heldUntil };
    return this.moved(account, currency, now, () => this.ledger.move(account, movement, now));
  }

  /** A credit by the venue, with the text of its transaction. Returns the id of the transaction. */
  reward(
    account: string,
    { currency, amount, label }: { currency: string; amount: Quantity; label: string },
    now: Instant,
  ): number {
    const movement = { currency, amount, action: 'credit', remarks: { description: label } } as const;
    return this.moved(account, currency, now, () => this.ledger.move(account, movement, now));
  }

  /** Starts a deposit that passes through its states in market time. Returns the account transaction id. */
  startDeposit(
    account: string,
    { currency, amount, from, by }: { currency: string; amount: Quantity; from: string; by: string },
    now: Instant,
  ): number {
    this.advance(now);
    const way = this.market.currencies.get(currency)?.isFiat === true ? 'bank' : 'deposit';
    const remarks = { description: from, addedBy: by };
    return this.transit.start({ account, currency, amount, fee: NO_QUANTITY, way, remarks }, now);
  }

  /**
   * Cancels a pending deposit or withdrawal, stops it for review, or lets it continue. `id`: its account transaction
   * id.
   */
  changeTransfer(
    account: string,
    { id, what }: { readonly id: number; readonly what: 'cancel' | 'hold' | 'release' },
    now: Instant,
  ): Reply<object> {
    this.advance(now);
    return what === 'cancel'
      ? this.transit.cancel(account, id)
      : this.transit.review({ account, id, what }, now);
  }

  /** Stops or resumes quoting, for one pair or for `all`. */
  setAvailability(scope: string, state: 'available' | 'unavailable'): void {
    this.dealer.setAvailability(scope, state);
  }

  /** Fixes the price of a pair for a drill; `undefined` releases it. */
  pin(pair: string, mid: Price | undefined, now: Instant): void {
    this.advance(now);
    this.market.pin(pair, mid);
  }

  setRiskMode(pair: string, mode: RiskModeText): void {
    this.credit.setMode(pair, mode);
  }

  setFundingRate(currency: string, rate: RateOptions): void {
    this.credit.setRate(currency, rate);
  }

  /** From now on lists the rows of all orders of the account under new ids. */
  renumber(account: string, now: Instant): void {
    this.advance(now);
    this.ledger.renumber(account);
  }

  /** Runs `move`, which changes a balance without a trade. Incoming money repays debts. */
  private moved(account: string, currency: string, now: Instant, move: () => number): number {
    this.advance(now);
    const before = this.ledger.balance(account, currency);
    const id = move();
    this.positions.received(account, currency, before, now);
    return id;
  }
}

/** The quote with another `date_quote`. */
function dated(quote: Quote, byMs: number): Quote {
  const quotedAt = after(quote.quotedAt, byMs);
  return { ...quote, quotedAt, lifeMs: quote.expiresAt - quotedAt };
}

const refusedFor = (waitMs: number | undefined): Refusal | undefined =>
  waitMs === undefined ? undefined : assumed.rateLimited();
