import { describe, expect, it } from 'vitest';
import { add, greatest, negate, NO_QUANTITY, price, quantity, subtract, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { DAY_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Quote, QuoteRequest } from '../../src/core/venue.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { routes } from '../../src/simulator/http/routes.ts';
import { anExchange, later, orderFor, quantityOf } from './world.ts';

const OPERATIONS = 10_000;
const accounts = ['a', 'b', 'c'] as const;
const currencies = ['usd', 'btc', 'eth'] as const;
const pairs = ['btcusd', 'ethusd', 'ethbtc'] as const;

/** One of everything that can happen to an account, drawn from a seed. */
class Player {
  readonly exchange: Exchange;
  readonly done = new Map<string, number>();
  /** Quotes and client ids of orders that filled. */
  readonly filled: string[] = [];
  private readonly random: { next(): number };
  private readonly quotes: { account: string; quote: Quote; request: QuoteRequest }[] = [];
  private now: Instant = later(0);

  constructor(seed: string) {
    this.random = seededRandom(seed);
    this.exchange = anExchange({
      seed,
      feeBps: 7,
      speed: 600,
      quoteLifeMs: 3_000,
      lastLookBps: 3,
      accounts: accounts.map((name) => ({ name, balances: { usd: '500000', btc: '3', eth: '20' } })),
      pairs: {
        btcusd: { startPrice: '60000' },
        ethusd: { startPrice: '3000' },
        ethbtc: { startPrice: '0.05' },
      },
      pts: {
        modes: { btcusd: 'Enabled', ethusd: 'Long-Only', ethbtc: 'Short-Only' },
        defaultRate: { annualRate: '0.5', graceMinutes: 30, frequencyMinutes: 10 },
      },
      cancelDelayMs: 1_500,
      custody: { rules: [{ ruleType: 'WITHDRAW', requiredApprovals: 1, threshold: '20000' }] },
    });
  }

  get time(): Instant {
    return this.now;
  }

  play(): void {
    this.now = later(this.now - later(0) + Math.floor(this.random.next() * 900));
    const moves = ['quote', 'quote', 'execute', 'execute', 'limit', 'limit', 'cancel', 'deposit', 'withdraw', 'withdraw', 'transfer', 'reward'] as const; // prettier-ignore
    const move = this.pick(moves);
    const name = `${move} ${this[move](this.pick(accounts))}`;
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
  }

  private pick<T>(all: readonly T[]): T {
    const one = all[Math.floor(this.random.next() * all.length)];
    if (one === undefined) throw new Error('nothing to pick from');
    return one;
  }

  private decimal(most: number, decimals: number): string {
    return (this.random.next() * most + 10 ** -decimals).toFixed(decimals);
  }

  private quote(account: string): string {
    const pair = this.pick(pairs);
    const side = this.pick(['buy', 'sell'] as const);
    const most = pair === 'btcusd' ? 2 : 20;
    const clientId = this.random.next() < 0.5 ? `c${Math.floor(this.random.next() * 300)}` : undefined;
    const request: QuoteRequest = { pair, side, size: quantityOf(this.decimal(most, 8)), clientId };
    const reply = this.exchange.quote(account, request, this.now);
    if (reply.ok) this.quotes.push({ account, quote: reply.value, request });
    return outcomeOf(reply);
  }

  private execute(_account: string): string {
    const last = this.quotes.at(-1);
    if (last === undefined) return 'none';
    // Some orders are sent again.
    if (this.random.next() < 0.9) this.quotes.pop();
    const { account, quote, request } = last;
    const reply = this.exchange.order(account, orderFor(quote, request), this.now);
    if (reply.ok && reply.value.status === 'Done') {
      this.filled.push(quote.quoteId);
      if (request.clientId !== undefined) this.filled.push(`${account} ${request.clientId}`);
    }
    return reply.ok ? reply.value.status : outcomeOf(reply);
  }

  private limit(account: string): string {
    const pair = this.pick(pairs);
    const mid = this.exchange.market.mid(pair, this.now);
    const decimals = pair === 'ethbtc' ? 8 : 2;
    const away = 1 + (this.random.next() - 0.5) / 50;
    const reply = this.exchange.place(
      account,
      {
        pair,
        side: this.pick(['buy', 'sell'] as const),
        algorithm: this.pick([200, 201] as const),
        quantity: quantity(this.decimal(pair === 'btcusd' ? 0.4 : 4, 8)),
        price: price(mid.times(away).toFixed(decimals)),
      },
      this.now,
    );
    return reply.ok ? reply.value.status : outcomeOf(reply);
  }

  private cancel(account: string): string {
    const open = this.exchange.registry.openOf(account);
    if (open.length === 0) return 'none';
    this.exchange.advance(this.now);
    const reply = this.exchange.resting.cancelOne(account, this.pick(open).orderId, this.now);
    return reply.ok ? reply.value : outcomeOf(reply);
  }

  private deposit(account: string): string {
    const currency = this.pick(currencies);
    const amount = quantity(this.decimal(currency === 'usd' ? 9_000 : 0.2, 2));
    if (this.random.next() < 0.5) this.exchange.deposit(account, currency, amount, this.now);
    else this.exchange.startDeposit(account, { currency, amount, from: 'x', by: account }, this.now);
    return 'ok';
  }

  private reward(account: string): string {
    this.exchange.reward(account, { currency: 'usd', amount: quantity('1.23'), label: 'reward' }, this.now);
    return 'ok';
  }

  private withdraw(account: string): string {
    this.exchange.advance(this.now);
    const currency = this.pick(currencies);
    const amount = quantity(this.decimal(currency === 'usd' ? 30_000 : 0.8, currency === 'usd' ? 2 : 8));
    const asked = { currency, amount, address: 'addr', isWire: this.random.next() < 0.5, memo: '' };
    return outcomeOf(this.exchange.withdrawals.withdraw(account, asked, this.now));
  }

  private transfer(account: string): string {
    const under = this.exchange.ledger
      .rows(account)
      .slice(-60)
      .filter(({ status }) => status !== 'done' && status !== 'Canceled');
    if (under.length === 0) return 'none';
    const what = this.pick(['cancel', 'hold', 'release'] as const);
    return `${what} ${outcomeOf(this.exchange.changeTransfer(account, { id: this.pick(under).id, what }, this.now))}`;
  }
}

const outcomeOf = (reply: { readonly ok: boolean }): string => (reply.ok ? 'ok' : 'refused');
const sum = (parts: readonly (Quantity | undefined)[]): Quantity =>
  parts.reduce<Quantity>((total, part) => add(total, part ?? NO_QUANTITY), NO_QUANTITY);

describe('the ledger after ten thousand operations of three accounts', () => {
  it.each(['one', 'two', 'three'])(
    'changes in total only by transfers in and out, books two legs per trade, and fills a quote and a client id once (seed %s)',
    (seed) => {
      const player = new Player(seed);
      for (let step = 1; step <= OPERATIONS; step++) {
        player.play();
        if (step % 50 === 0) expectConserved(player.exchange);
      }
      const { exchange } = player;
      expectConserved(exchange);
      for (const name of accounts) expectContinuous(exchange, name);
      expectOutsideIn(exchange);
      expectPlainNumbers(player);
      expectCovered(player);
      expect(new Set(player.filled).size).toBe(player.filled.length);
      for (const wanted of [
        'execute Done',
        'limit Started',
        'cancel cancel pending',
        'withdraw ok',
        'transfer release ok',
        'transfer cancel ok',
        'transfer hold ok',
      ])
        // prettier-ignore
        expect([wanted, (player.done.get(wanted) ?? 0) > 10]).toEqual([wanted, true]);
      expect(exchange.ledger.interest().size).toBeGreaterThan(0);
    },
    30_000,
  );
});

/** Accounts, dealer, fees and interest together hold what came in less what left. */
function expectConserved({ ledger }: Exchange): void {
  for (const currency of currencies) {
    const held = sum([
      ...accounts.map((name) => ledger.balance(name, currency)),
      ledger.dealer().get(currency),
      ledger.fees().get(currency),
      ledger.interest().get(currency),
    ]);
    expect(text(held)).toBe(text(ledger.inflow().get(currency) ?? NO_QUANTITY));
  }
}

/** Each done row moves the balance of its currency by its amount less its fee; ids go up; trades have two legs. */
function expectContinuous(exchange: Exchange, name: string): void {
  const balances = new Map<string, Quantity>();
  const legs = new Map<string, string[]>();
  let last = 0;
  for (const row of exchange.ledger.rows(name)) {
    expect(row.id).toBeGreaterThan(last);
    last = row.id;
    if (row.status !== 'done') continue;
    const expected = subtract(add(balances.get(row.currency) ?? NO_QUANTITY, row.amount), row.fees);
    expect(text(row.balance)).toBe(text(expected));
    balances.set(row.currency, row.balance);
    if (row.tradeId !== undefined)
      legs.set(row.tradeId, [...(legs.get(row.tradeId) ?? []), `${row.orderId ?? ''} ${row.currency}`]);
  }
  for (const both of legs.values()) {
    expect(both).toHaveLength(2);
    expect(new Set(both.map((leg) => leg.split(' ')[0])).size).toBe(1);
    expect(new Set(both.map((leg) => leg.split(' ')[1])).size).toBe(2);
  }
  for (const [currency, balance] of exchange.ledger.balances(name))
    expect(text(balance)).toBe(text(balances.get(currency) ?? NO_QUANTITY));
}

/** What came in, what was taken in fees and what in interest is what the transactions say, and nothing else. */
function expectOutsideIn({ ledger }: Exchange): void {
  const rows = accounts.flatMap((name) => ledger.rows(name)).filter(({ status }) => status === 'done');
  for (const currency of currencies) {
    const own = rows.filter((row) => row.currency === currency);
    const outside = own.filter(({ action }) => ['deposit', 'withdraw', 'credit'].includes(action));
    const charged = own.filter(({ action }) => action === 'charge');
    expect(text(sum(outside.map(({ amount }) => amount)))).toBe(
      text(ledger.inflow().get(currency) ?? NO_QUANTITY),
    );
    expect(text(sum(own.map(({ fees }) => fees)))).toBe(text(ledger.fees().get(currency) ?? NO_QUANTITY));
    expect(text(negate(sum(charged.map(({ amount }) => amount))))).toBe(
      text(ledger.interest().get(currency) ?? NO_QUANTITY),
    );
  }
}

/** Every read of every account writes its numbers plainly: no exponent, at most eight decimals. */
function expectPlainNumbers({ exchange, time }: Player): void {
  let numbers = 0;
  for (const account of accounts) {
    for (const route of routes.filter(({ method }) => method === 'GET')) {
      const query = { start_date: '0', limit: '50', pending: 'true', pair: 'btcusd' };
      const params = { currency: 'btc', id: exchange.registry.tradesOf(account)[0]?.orderId ?? '' };
      const reply = route.answer(exchange, { account, now: time, query, params, body: '' });
      const why = reply.ok ? '' : `: ${reply.status} ${reply.error}; name its parameters in this function`;
      expect(`${route.path}${why}`).toBe(route.path);
      const found = JSON.stringify(reply).match(/(?<=[:[,])-?\d[\d.eE+-]*(?=[,\]}])/gu) ?? [];
      numbers += found.length;
      expect(found.filter((number) => !/^-?\d+(?:\.\d{1,8})?$/u.test(number))).toEqual([]);
    }
  }
  expect(numbers).toBeGreaterThan(1_000);
}

/** Debts are loans and their interest; once all orders and transfers have ended, no funds are held. */
function expectCovered({ exchange, time }: Player): void {
  for (const name of accounts) {
    for (const currency of currencies) {
      const debt = greatest(negate(exchange.ledger.balance(name, currency)), NO_QUANTITY);
      const loans = exchange.positions
        .of(name)
        .filter((each) => each.loanCurrency === currency && each.status === 'ACTIVE');
      const principal = sum(loans.map(({ loan }) => loan));
      expect(principal.lte(debt)).toBe(true);
      expect(debt.lte(add(principal, sum(loans.map(({ interest }) => interest))))).toBe(true);
    }
    for (const { orderId } of exchange.registry.openOf(name)) exchange.resting.cancelOne(name, orderId, time);
    for (const row of exchange.ledger.rows(name))
      if (row.status !== 'done' && row.status !== 'Canceled')
        exchange.changeTransfer(name, { id: row.id, what: 'cancel' }, time);
  }
  exchange.advance(later(time - later(0) + DAY_MS / 100));
  for (const name of accounts)
    for (const currency of currencies) expect(text(exchange.ledger.held(name, currency))).toBe('0');
}
