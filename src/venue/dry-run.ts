import { defer, map, of } from 'rxjs';
import { add, negate, NO_MONEY, NO_QUANTITY, quantity } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import type { OrderAnswer, OrderRequest, Quote, Transaction } from '../core/venue.ts';
import type { Clock, VenuePort } from '../engine/ports.ts';

export interface DryRunOptions {
  readonly clock: Clock;
  /** Base and quote of a pair. */
  currencies(pair: string): { readonly base: string; readonly quote: string } | undefined;
}

/** Quotes that may still be executed at home; older ones have long expired. */
const QUOTES_MAX = 1_000;

/**
 * The real venue for everything but orders: these are answered at home from the real quote, and never leave. What they
 * would have done to the account is added to its balances and shown as rows of its transactions, so that the engine
 * sees the account that it would have.
 */
export function dryRunVenue(venue: VenuePort, options: DryRunOptions): VenuePort {
  const { clock } = options;
  const quotes = new Map<string, Quote>();
  const trades: Trade[] = [];
  /** Newest real balance seen of each currency: a later page may name fewer. */
  const known = new Map<string, Quantity>();

  const execute = (request: OrderRequest): OrderAnswer => {
    const quote = quotes.get(request.quoteId);
    const pair = options.currencies(request.pair);
    if (quote === undefined || pair === undefined)
      return { kind: 'error', status: 400, error: 'unknown quote' };
    quotes.delete(request.quoteId);
    trades.push({ clientId: request.clientId, side: request.side, quote, at: clock.wall(), pair });
    return {
      kind: 'order',
      status: 201,
      order: {
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
      },
    };
  };

  return {
    ...venue,
    quote: (request) =>
      venue.quote(request).pipe(
        map((answer) => {
          if (answer.kind === 'quote' && request.clientId !== undefined) {
            quotes.set(answer.quote.quoteId, answer.quote);
            if (quotes.size > QUOTES_MAX) quotes.delete(quotes.keys().next().value ?? '');
          }
          return answer;
        }),
      ),
    order: (request) => defer(() => of(execute(request))),
    transactions: (query) =>
      venue
        .transactions(query)
        .pipe(map((rows) => ((query.offset ?? 0) > 0 ? rows : [...rows, ...imagined(rows, trades, known)]))),
    balances:
      venue.balances &&
      (() =>
        (venue.balances?.() ?? of([])).pipe(
          map((list) => {
            const moved = movements(trades);
            return list.map((one) => ({
              ...one,
              balance: add(one.balance, moved.get(one.currency) ?? NO_QUANTITY),
              available: add(one.available, moved.get(one.currency) ?? NO_QUANTITY),
            }));
          }),
        )),
    // No order ever reached the venue, so there is nothing to look up.
    lookup: undefined,
  };
}

interface Trade {
  readonly clientId: string;
  readonly side: 'buy' | 'sell';
  readonly quote: Quote;
  readonly at: Instant;
  readonly pair: { readonly base: string; readonly quote: string };
}

/** What a trade does to the two balances: the base leg first. */
function legsOf({ side, quote, pair }: Trade): readonly (readonly [string, Quantity])[] {
  const amount = quantity(quote.amount.toFixed());
  const [base, paid] = side === 'buy' ? [quote.quantity, negate(amount)] : [negate(quote.quantity), amount];
  return [
    [pair.base, base],
    [pair.quote, paid],
  ];
}

function movements(trades: readonly Trade[]): ReadonlyMap<string, Quantity> {
  const moved = new Map<string, Quantity>();
  for (const [currency, change] of trades.flatMap(legsOf)) {
    moved.set(currency, add(moved.get(currency) ?? NO_QUANTITY, change));
  }
  return moved;
}

/** Rows for the trades that never were, numbered after the newest real one. Balances go on from the real ones. */
function imagined(
  rows: readonly Transaction[],
  trades: readonly Trade[],
  known: Map<string, Quantity>,
): readonly Transaction[] {
  let id = rows.reduce((newest, row) => Math.max(newest, row.id), 0);
  for (const row of rows.toSorted((a, b) => a.id - b.id)) known.set(row.currency, row.balance);
  const balances = new Map(known);
  return trades.flatMap((trade) =>
    legsOf(trade).map(([currency, amount]): Transaction => {
      const balance = add(balances.get(currency) ?? NO_QUANTITY, amount);
      balances.set(currency, balance);
      return {
        id: ++id,
        orderId: `dry-${trade.quote.quoteId}`,
        clientId: trade.clientId,
        tradeId: undefined,
        at: trade.at,
        action: trade.side,
        currency,
        amount,
        price: trade.quote.price,
        fees: NO_QUANTITY,
        status: 'Done',
        balance,
        pair: trade.quote.pair,
      };
    }),
  );
}
