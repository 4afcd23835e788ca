import { defer, map, of, tap } from 'rxjs';
import { add, holding, negate, NO_MONEY, NO_QUANTITY, money, quantity } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { splitPair } from '../core/pairs.ts';
import type { Pair } from '../core/pairs.ts';
import type { FillRecord } from '../core/record.ts';
import type { Instant } from '../core/time.ts';
import type { OrderAnswer, OrderRequest, Quote, Side, Transaction } from '../core/venue.ts';
import type { Clock, VenuePort } from '../engine/ports.ts';

export interface DryRunOptions {
  readonly clock: Clock;
  /** Fills of earlier dry runs on this journal: the account that they would have left goes on. */
  readonly past: readonly FillRecord[];
}

/** Quotes that may still be executed at home; older ones have long expired. */
const QUOTES_MAX = 1_000;
/** Trades shown as rows, the newest: the balances after them are all that anybody reads from them. */
const ROWS_OF_TRADES_MAX = 50;

/**
 * The real venue for everything but orders: these are answered at home from the real quote, and never leave. What they
 * would have done to the account is added to its balances and shown as rows of its transactions, so that the engine
 * sees the account that it would have.
 */
export function dryRunVenue(venue: VenuePort, { clock, past }: DryRunOptions): VenuePort {
  const quotes = new Map<string, Quote>();
  const pairs = new Map<string, Pair>();
  let symbols: readonly string[] = [];
  const imagined = new ImaginedTrades();
  for (const fill of past) imagined.add(tradeOf(fill));

  let isShut = false;

  const execute = (request: OrderRequest): OrderAnswer => {
    if (isShut) return { kind: 'lost', sent: false, why: 'the way of orders is closed' };
    const quote = quotes.get(request.quoteId);
    const pair = pairs.get(request.pair) ?? splitPair(request.pair, symbols);
    if (quote === undefined || 'problem' in pair) {
      // Certainly nothing was executed, so this is no doubt.
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
      venue.quote(request).pipe(
        tap((answer) => {
          if (answer.kind !== 'quote' || request.clientId === undefined) return;
          quotes.set(answer.quote.quoteId, answer.quote);
          if (quotes.size > QUOTES_MAX) quotes.delete(quotes.keys().next().value ?? '');
        }),
      ),
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
        // The last page: what has only been imagined is newer than everything real.
        map((rows) => (rows.length < query.limit ? [...rows, ...imagined.rowsAfter(rows)] : rows)),
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

/** What a trade does to the two balances. */
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

/** Trades that never were: the newest as such, all of them as what they did to the balances. */
class ImaginedTrades {
  readonly #newest: Trade[] = [];
  /** By currency: all trades together. */
  readonly #moved = new Map<string, Quantity>();
  /** Newest real balance seen of each currency: a later page may name fewer. */
  readonly #real = new Map<string, Quantity>();

  add(trade: Trade): void {
    this.#newest.push(trade);
    if (this.#newest.length > ROWS_OF_TRADES_MAX) this.#newest.shift();
    for (const [currency, change] of legsOf(trade)) {
      this.#moved.set(currency, add(this.moved(currency), change));
    }
  }

  moved(currency: string): Quantity {
    return this.#moved.get(currency) ?? NO_QUANTITY;
  }

  /** Rows numbered after the newest real one, each with the balance that all trades together leave. */
  rowsAfter(rows: readonly Transaction[]): readonly Transaction[] {
    for (const row of rows.toSorted((a, b) => a.id - b.id)) this.#real.set(row.currency, row.balance);
    let id = rows.reduce((newest, row) => Math.max(newest, row.id), 0);
    return this.#newest.flatMap((trade) =>
      legsOf(trade).map(([currency, amount]): Transaction => ({
        id: ++id,
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
        balance: add(this.#real.get(currency) ?? NO_QUANTITY, this.moved(currency)),
        pair: trade.pair.pair,
      })),
    );
  }
}
