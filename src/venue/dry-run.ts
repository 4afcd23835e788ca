import { defer, map, of, tap } from 'rxjs';
import { add, holding, negate, NO_MONEY, NO_QUANTITY, money, quantity } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { splitPair } from '../core/pairs.ts';
import type { Pair } from '../core/pairs.ts';
import type { FillRecord } from '../core/record.ts';
import type { Instant } from '../core/time.ts';
import type { OrderAnswer, OrderRequest, Quote, Side, Transaction } from '../core/venue.ts';
import type { Clock, VenuePort } from '../engine/ports.ts';
import { andThen } from '../engine/maybe-async.ts';

export interface DryRunOptions {
  readonly clock: Clock;
  /** Fills of earlier dry runs on this journal, which the simulated account continues. */
  readonly past: Iterable<FillRecord>;
}

/** Quotes that may still be executed locally; older ones have expired. */
const QUOTES_MAX = 1_000;
/**
 * Number of rows of the newest simulated trades in every read, because the newest row of a currency gives its
 * balance.
 */
const ROWS_OF_TRADES_MAX = 100;
/** Maximum number of rows kept, both simulated rows and real rows in their displayed form. */
const ROWS_MAX = 20_000;

/**
 * The real venue, except for orders. Orders are never sent; the response to an order comes from the real quote. Their
 * effect is added to the balances and their rows to the transactions, so that the engine sees the resulting account.
 */
export function dryRunVenue(venue: VenuePort, { clock, past }: DryRunOptions): VenuePort {
  const quotes = new Map<string, Quote>();
  const pairs = new Map<string, Pair>();
  let symbols: readonly string[] = [];
  const imagined = new ImaginedTrades();
  for (const fill of past) imagined.add(tradeOf(fill));

  let isShut = false;

  const execute = (request: OrderRequest): OrderAnswer => {
    if (isShut) return { kind: 'lost', sent: false, why: 'this port sends no orders' };
    const quote = quotes.get(request.quoteId);
    const pair = pairs.get(request.pair) ?? splitPair(request.pair, symbols);
    if (quote === undefined || 'problem' in pair) {
      // Certainly nothing was executed, so this is not a doubt.
      return { kind: 'lost', sent: false, why: quote === undefined ? 'unknown quote' : 'unknown pair' };
    }
    quotes.delete(request.quoteId);
    const { clientId, side } = request;
    const { quantity: base, amount, price } = quote;
    imagined.add({
      clientId,
      orderId: `dry-${request.quoteId}`,
      side,
      base,
      amount,
      price,
      at: clock.wall(),
      pair,
    });
    return { kind: 'order', status: 201, order: orderOf(request, quote) };
  };

  return {
    ...venue,
    quote: (request) =>
      andThen(venue.quote(request), (answer) => {
        if (answer.kind !== 'quote' || request.clientId === undefined) return answer;
        quotes.set(answer.quote.quoteId, answer.quote);
        if (quotes.size > QUOTES_MAX) quotes.delete(quotes.keys().next().value ?? '');
        return answer;
      }),
    order: (request) => defer(() => of(execute(request))),
    shut() {
      isShut = true;
      venue.shut?.();
    },
    currencies: () =>
      venue.currencies().pipe(
        tap((list) => {
          symbols = list.map(({ symbol }) => symbol);
        }),
      ),
    pairs:
      venue.pairs &&
      (() =>
        (venue.pairs?.() ?? of([])).pipe(
          tap((list) => {
            for (const pair of list) pairs.set(pair.pair, pair);
          }),
        )),
    transactions: (query) =>
      venue.transactions(query).pipe(
        map((rows) => {
          const shown = imagined.present(rows);
          // Simulated rows go on the last page, because each is newer than every real row that was read before it was created.
          return rows.length < query.limit ? [...shown, ...imagined.rows(query.from)] : shown;
        }),
      ),
    balances:
      venue.balances &&
      (() =>
        (venue.balances?.() ?? of([])).pipe(
          map((list) =>
            list.map((one) => ({
              ...one,
              balance: add(one.balance, imagined.moved(one.currency)),
              available: add(one.available, imagined.moved(one.currency)),
            })),
          ),
        )),
    // No order ever reached the venue, so there is nothing to look up.
    lookup: undefined,
  };
}

const orderOf = (request: OrderRequest, quote: Quote): Extract<OrderAnswer, { kind: 'order' }>['order'] => ({
  orderId: `dry-${request.quoteId}`,
  clientId: request.clientId,
  quoteId: request.quoteId,
  pair: request.pair,
  side: request.side,
  status: 'Done',
  filled: quote.quantity,
  filledAmount: quote.amount,
  vwap: quote.price,
  fees: NO_MONEY,
});

interface Trade {
  readonly clientId: string;
  readonly orderId: string;
  readonly side: Side;
  readonly base: Quantity;
  readonly amount: Money;
  readonly price: Quote['price'] | undefined;
  readonly at: Instant;
  readonly pair: Pair;
}

const tradeOf = (fill: FillRecord): Trade => ({
  clientId: fill.client_order_id,
  orderId: fill.order_id,
  side: fill.side,
  base: quantity(fill.quantity),
  amount: money(fill.amount),
  price: undefined,
  at: fill.executed_at,
  pair: { pair: fill.pair, base: fill.base, quote: fill.quote },
});

/** The effect of a trade on the two balances. */
function legsOf({ side, base, amount, pair }: Trade): readonly (readonly [string, Quantity])[] {
  const paid = holding(amount);
  return side === 'buy'
    ? [
        [pair.base, base],
        [pair.quote, negate(paid)],
      ]
    : [
        [pair.base, negate(base)],
        [pair.quote, paid],
      ];
}

/**
 * How to show a real row that came after a simulated trade. It gets a new id, and its balance includes the effect of
 * the simulated trades.
 */
interface Shown {
  readonly id: number;
  readonly moved: Quantity;
}

/**
 * Simulated trades as rows among the real ones. An account's past never changes. A row has the same id and balance in
 * every read of this process, so later rows, real or simulated, come after it.
 */
class ImaginedTrades {
  /** Trades that no read has shown yet. */
  #unshown: Trade[] = [];
  readonly #rows: Transaction[] = [];
  /** By currency: all trades together. */
  readonly #moved = new Map<string, Quantity>();
  /** By currency: the trades that have rows. */
  readonly #shownMoved = new Map<string, Quantity>();
  /** Newest real balance seen for each currency, because a later page may name fewer currencies. */
  readonly #real = new Map<string, { readonly id: number; readonly balance: Quantity }>();
  /** Real rows up to this id were read before any trade was shown, so they appear unchanged. */
  #plainUpTo = 0;
  #newestId = 0;
  readonly #shown = new Map<number, Shown>();

  add(trade: Trade): void {
    this.#unshown.push(trade);
    for (const [currency, change] of legsOf(trade)) addTo(this.#moved, currency, change);
  }

  moved(currency: string): Quantity {
    return this.#moved.get(currency) ?? NO_QUANTITY;
  }

  /** Returns real rows with balances that include the simulated trades before them. */
  present(rows: readonly Transaction[]): readonly Transaction[] {
    for (const row of rows.toSorted((a, b) => a.id - b.id)) {
      const known = this.#real.get(row.currency);
      if (known === undefined || row.id >= known.id)
        this.#real.set(row.currency, { id: row.id, balance: row.balance });
      if (this.#rows.length === 0) this.#plainUpTo = Math.max(this.#plainUpTo, row.id);
      else if (row.id > this.#plainUpTo && !this.#shown.has(row.id)) this.#place(row);
    }
    this.#newestId = Math.max(this.#newestId, this.#plainUpTo);
    return rows.map((row) => {
      const shown = this.#shown.get(row.id);
      return shown === undefined ? row : { ...row, id: shown.id, balance: add(row.balance, shown.moved) };
    });
  }

  #place(row: Transaction): void {
    this.#newestId = Math.max(this.#newestId + 1, row.id);
    const moved = this.#shownMoved.get(row.currency) ?? NO_QUANTITY;
    this.#shown.set(row.id, { id: this.#newestId, moved });
    if (this.#shown.size > ROWS_MAX) this.#shown.delete(this.#shown.keys().next().value ?? 0);
  }

  /** Rows of the trades after `from`, and always of the newest trades. */
  rows(from: Instant): readonly Transaction[] {
    for (const trade of this.#unshown) this.#show(trade);
    this.#unshown = [];
    this.#rows.splice(0, this.#rows.length - ROWS_MAX);
    return this.#rows.filter((row, i) => row.at > from || i >= this.#rows.length - ROWS_OF_TRADES_MAX);
  }

  #show(trade: Trade): void {
    for (const [currency, amount] of legsOf(trade)) {
      addTo(this.#shownMoved, currency, amount);
      this.#rows.push({
        id: ++this.#newestId,
        orderId: trade.orderId,
        clientId: trade.clientId,
        tradeId: undefined,
        at: trade.at,
        action: trade.side,
        currency,
        amount,
        price: trade.price,
        fees: NO_QUANTITY,
        status: 'Done',
        balance: add(
          this.#real.get(currency)?.balance ?? NO_QUANTITY,
          this.#shownMoved.get(currency) ?? NO_QUANTITY,
        ),
        pair: trade.pair.pair,
      });
    }
  }
}

const addTo = (sums: Map<string, Quantity>, currency: string, change: Quantity): void => {
  sums.set(currency, add(sums.get(currency) ?? NO_QUANTITY, change));
};
