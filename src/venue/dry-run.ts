import { defer, map, of, tap } from 'rxjs';
import { compareRowIds } from '../core/ids.ts';
import { keepNewest } from '../core/keep-newest.ts';
import { add, holding, negate, NO_MONEY, NO_QUANTITY, money, quantity, subtract } from '../core/money.ts';
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
/** Start of the ids of simulated rows. The ids of the specification's venue are numbers. */
const ROW_ID = 'dry-run-';
/**
 * Number of rows of the newest simulated trades in every read, because the newest row of a currency gives its
 * balance.
 */
const ROWS_OF_TRADES_MAX = 100;
/** Maximum number of simulated rows kept. */
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
    transactions: ({ after, ...query }) =>
      // The venue does not know the ids of simulated rows.
      venue.transactions({ ...query, after: after?.startsWith(ROW_ID) === true ? undefined : after }).pipe(
        map((rows) => {
          imagined.saw(rows);
          // On the last page, so that the offsets of pages count real rows alone.
          return rows.length < query.limit ? [...rows, ...imagined.rows(query.from)] : rows;
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
 * Simulated trades as rows besides the real ones. Ids of simulated rows are no numbers, so they come after all real rows (see
 * `compareRowIds`), and their balances continue from the newest real balances. A row has the same id in every process.
 */
class ImaginedTrades {
  /** By id. A balance is missing, because it depends on the real rows. */
  readonly #rows = new Map<string, Transaction>();
  /** By currency: all trades together. */
  readonly #moved = new Map<string, Quantity>();
  /** Newest real row of each currency that shows a balance, because a later page may name fewer currencies. */
  readonly #real = new Map<string, { readonly id: string; readonly balance: Quantity }>();

  add(trade: Trade): void {
    for (const [currency, amount] of legsOf(trade)) {
      addTo(this.#moved, currency, amount);
      const id = `${ROW_ID}${trade.clientId}-${currency}`;
      this.#rows.set(id, {
        id,
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
        balance: undefined,
      });
    }
    keepNewest(this.#rows, ROWS_MAX);
  }

  moved(currency: string): Quantity {
    return this.#moved.get(currency) ?? NO_QUANTITY;
  }

  /** Notes the newest real balances. */
  saw(rows: readonly Transaction[]): void {
    for (const { id, currency, balance } of rows) {
      const known = this.#real.get(currency);
      if (balance !== undefined && (known === undefined || compareRowIds(id, known.id) >= 0))
        this.#real.set(currency, { id, balance });
    }
  }

  /** Rows of the trades after `from`, and always of the newest trades. */
  rows(from: Instant): readonly Transaction[] {
    const all = [...this.#rows.values()];
    const shown = new Set(all.filter((row, i) => row.at > from || i >= all.length - ROWS_OF_TRADES_MAX));
    const rows: Transaction[] = [];
    // From the newest row back, because the balances after all trades are known.
    const balances = new Map<string, Quantity>();
    for (const row of all.toSorted((a, b) => compareRowIds(b.id, a.id))) {
      const { currency, amount } = row;
      const real = this.#real.get(currency)?.balance ?? NO_QUANTITY;
      const balance = balances.get(currency) ?? add(real, this.moved(currency));
      balances.set(currency, subtract(balance, amount));
      if (shown.has(row)) rows.push({ ...row, balance });
    }
    return rows;
  }
}

const addTo = (sums: Map<string, Quantity>, currency: string, change: Quantity): void => {
  sums.set(currency, add(sums.get(currency) ?? NO_QUANTITY, change));
};
