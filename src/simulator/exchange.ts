import { quantity } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { digest } from '../core/ids.ts';
import type { Pair } from '../core/pairs.ts';
import { DAY_MS, instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type {
  Balance,
  Currency,
  FundingRate,
  Quote,
  QuoteRequest,
  Transaction,
  ValuationPoint,
} from '../core/venue.ts';
import type { Random } from '../engine/ports.ts';
import type { OrderDetail } from '../wire/order-body.ts';
import { Credit } from './credit.ts';
import { Dealer } from './dealer.ts';
import type { PlacedOrder } from './dealer.ts';
import { accountValue, ValueHistory } from './history.ts';
import { Ledger } from './ledger.ts';
import type { LedgerQuery } from './ledger.ts';
import { Limits } from './limits.ts';
import type { LimitedRoute } from './limits.ts';
import { Market } from './market.ts';
import type { RateOptions, RiskModeText, VenueOptions } from './options.ts';
import { seededRandom } from './random.ts';
import { assumed, documented, found } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';
import type { PriceTape } from './tape.ts';
import { TickerBoard } from './ticker.ts';
import type { Ticker } from './ticker.ts';

export interface ExchangeSetup {
  readonly options: VenueOptions;
  /** Tapes by pair, as `options.prices` names them. */
  readonly tapes?: ReadonlyMap<string, PriceTape> | undefined;
  /** Real time at which the venue opens and the balances are deposited. */
  readonly startedAt: Instant;
  /** Left out: seeded by `options.seed`. */
  readonly random?: Random | undefined;
}

export interface AccountAccess {
  readonly name: string;
  readonly token: string;
}

/** What a client may ask of the transactions; what is left out has the default of the specification. */
export type TransactionsAsked = { readonly [Key in keyof LedgerQuery]?: LedgerQuery[Key] | undefined };

const DEFAULT_LIMIT = 250;
export const LIMIT_MAX = 1_000;

/**
 * The simulated venue as a state machine: no input, no output, no clock. Every call is told the time, and all chance
 * comes from one seeded generator, so the same calls give the same answers.
 *
 * `now` is real time, in ms; it must not go back. The market behind the prices has its own, faster time.
 */
export class Exchange {
  readonly accounts: readonly AccountAccess[];
  readonly market: Market;
  readonly ledger: Ledger;
  private readonly byToken: ReadonlyMap<string, AccountAccess>;
  private readonly credit: Credit;
  private readonly dealer: Dealer;
  private readonly history: ValueHistory;
  private readonly limits: Limits;
  private readonly board: TickerBoard;

  /** @throws OperatorError (`config`) when the settings do not fit together. */
  constructor({ options, tapes = new Map(), startedAt, random = seededRandom(options.seed) }: ExchangeSetup) {
    this.market = new Market({ options, tapes, startedAt });
    this.ledger = new Ledger(Math.floor(startedAt) + 1);
    this.credit = new Credit(options.pts, this.ledger, this.market);
    this.dealer = new Dealer({
      options,
      market: this.market,
      ledger: this.ledger,
      credit: this.credit,
      random,
      startedAt,
    });
    this.history = new ValueHistory(this.ledger, this.market);
    this.limits = new Limits(options.limits);
    this.board = new TickerBoard(this.market);
    this.accounts = options.accounts.map(({ name, token }) => ({
      name,
      token: token ?? `sim-${digest(`${options.seed}\n${name}`, 32)}`,
    }));
    this.byToken = new Map(this.accounts.map((account) => [account.token, account]));
    for (const { name, balances } of options.accounts) {
      this.ledger.open(name);
      for (const [currency, amount] of Object.entries(balances)) {
        const held = quantity(amount);
        if (!held.isZero()) this.ledger.move(name, currency, held, startedAt);
      }
      this.history.open(name, startedAt);
    }
  }

  /** Name of the account whose token it is. */
  authenticate(token: string): Reply<string> {
    const account = this.byToken.get(token);
    return account === undefined ? documented.invalidToken() : found(account.name);
  }

  /** Counts a request against the limit of its route; a refusal when it is one too many. */
  admit(route: LimitedRoute, account: string, now: Instant): Refusal | undefined {
    return refusedFor(this.limits.route(route, account, now));
  }

  /** Counts a request against the limit of its network address. */
  admitAddress(address: string, now: Instant): Refusal | undefined {
    return refusedFor(this.limits.address(address, now));
  }

  quote(account: string, request: QuoteRequest, now: Instant): Reply<Quote> {
    this.history.advance(now);
    return this.dealer.quote(account, request, now);
  }

  order(account: string, order: PlacedOrder, now: Instant): Reply<OrderDetail> {
    this.history.advance(now);
    const reply = this.dealer.order(account, order, now);
    if (reply.ok)
      this.board.traded(order.pair, { quantity: reply.value.filled, amount: reply.value.filledAmount }, now);
    return reply;
  }

  /** The day summary of a pair. */
  ticker(pair: string, now: Instant): Ticker {
    return this.board.look(pair, now);
  }

  /** An order by the venue's id or the client's. */
  lookup(account: string, id: string): Reply<OrderDetail> {
    return this.dealer.lookup(account, id);
  }

  /** Newest first. Defaults of the specification: the last 24 hours, 250 rows, at most 1000, only done ones. */
  transactions(account: string, asked: TransactionsAsked, now: Instant): Reply<readonly Transaction[]> {
    return found(
      this.ledger.query(account, {
        from: asked.from ?? instant(now - DAY_MS),
        to: asked.to ?? now,
        limit: Math.min(asked.limit ?? DEFAULT_LIMIT, LIMIT_MAX),
        after: asked.after,
        offset: asked.offset ?? 0,
        types: asked.types,
        pending: asked.pending ?? false,
      }),
    );
  }

  currencies(): Reply<readonly Currency[]> {
    return found([...this.market.currencies.values()]);
  }

  fundingRates(): Reply<readonly FundingRate[]> {
    return this.credit.isEnabled ? found(this.credit.fundingRates()) : documented.ptsDisabled();
  }

  riskModes(): Reply<readonly { readonly pair: string; readonly mode: RiskModeText }[]> {
    return this.credit.isEnabled ? found(this.credit.riskModes()) : documented.ptsDisabled();
  }

  /** USD value of the account at its start and at each full hour (or day) of the market, stamped in real time. */
  valuation(
    account: string,
    { from, to, interval }: { from: Instant; to?: Instant | undefined; interval: 'hour' | 'day' },
    now: Instant,
  ): Reply<readonly ValuationPoint[]> {
    this.history.advance(now);
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
      available: balance,
    }));
    return found(rows);
  }

  pairs(): Reply<readonly Pair[]> {
    return found([...this.market.listings.values()].map(({ pair, base, quote }) => ({ pair, base, quote })));
  }

  /** Money arrives (`amount` above zero) or leaves the account. Returns the id of the transaction. */
  deposit(account: string, currency: string, amount: Quantity, now: Instant): number {
    this.history.advance(now);
    return this.ledger.move(account, currency, amount, now);
  }

  /** A deposit that is seen but not done; `settleDeposit` ends it. Returns the id of the transaction. */
  announceDeposit(account: string, currency: string, amount: Quantity, now: Instant): number {
    return this.ledger.announce(account, currency, amount, now);
  }

  settleDeposit(account: string, id: number, now: Instant): number {
    this.history.advance(now);
    return this.ledger.settle(account, id, now);
  }

  /** Stops or resumes quoting: of one pair, or of `all`. */
  setAvailability(scope: string, state: 'available' | 'unavailable'): void {
    this.dealer.setAvailability(scope, state);
  }

  setRiskMode(pair: string, mode: RiskModeText): void {
    this.credit.setMode(pair, mode);
  }

  setFundingRate(currency: string, rate: RateOptions): void {
    this.credit.setRate(currency, rate);
  }
}

const refusedFor = (waitMs: number | undefined): Refusal | undefined =>
  waitMs === undefined ? undefined : assumed.rateLimited(waitMs);
