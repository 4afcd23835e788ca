/**
 * Adapts a venue of your own to the engine. This one quotes a fixed spread and keeps its books in memory; a real adapter
 * sends requests where this one computes. Run: `npx node examples/custom-venue.ts`
 *
 * Three rules make an adapter safe. It repeats no call. It reports an order whose answer it did not get as `lost`, never as
 * refused. And `transactions` shows every trade with the client id of its order: that read is what ends a doubt.
 */
import process from 'node:process';
import { defer, of } from 'rxjs';
import { add, cost, holding, negate, price, quantity, quantityDown } from '../src/core/money.ts';
import type { Quantity } from '../src/core/money.ts';
import { DAY_MS, after } from '../src/core/time.ts';
import type {
  OrderAnswer,
  OrderRequest,
  Quote,
  QuoteAnswer,
  QuoteRequest,
  Transaction,
} from '../src/core/venue.ts';
import type { VirtualClock } from '../src/engine/time/virtual-clock.ts';
import type { VenuePort } from '../src/engine/ports.ts';
import { tradeTwap, wordsOf } from './embedded-engine.ts';

const QUOTE_LIFE_MS = 10_000;
const PRICES = { buy: price('60030'), sell: price('59970') };
const NOTHING = quantity('0');

export function myVenue(clock: VirtualClock): VenuePort {
  const quotes = new Map<string, Quote>();
  const rows: Transaction[] = [];

  /** Adds a row to the account. The desk learns its balances from these rows alone. */
  const book = (
    row: Pick<Transaction, 'at' | 'action' | 'currency' | 'amount'> & Partial<Transaction>,
  ): void => {
    const before = rows.findLast(({ currency }) => currency === row.currency)?.balance ?? NOTHING;
    const [orderId, clientId, tradeId, rate] = [row.orderId, row.clientId, row.orderId, row.price];
    const [id, balance] = [String(rows.length + 1), add(before, row.amount)];
    rows.push({
      ...row,
      id,
      orderId,
      clientId,
      tradeId,
      price: rate,
      fees: NOTHING,
      status: 'done',
      balance,
    });
  };
  const deposited = after(clock.wall(), -DAY_MS);
  book({ at: deposited, action: 'deposit', currency: 'usd', amount: quantity('250000') });
  book({ at: deposited, action: 'deposit', currency: 'btc', amount: quantity('2') });

  const quote = ({ pair, side, size }: QuoteRequest): QuoteAnswer => {
    if (pair !== 'btcusd') return { kind: 'error', status: 422, error: 'only btcusd is quoted' };
    const each = PRICES[side];
    const base = size.by === 'quantity' ? size.quantity : quantityDown(size.amount, each, 8);
    const amount = size.by === 'quantity' ? cost(each, base) : size.amount;
    const at = clock.wall();
    const made: Quote = {
      quoteId: `q-${quotes.size + 1}`,
      pair,
      side,
      quantity: base,
      amount,
      price: each,
      quotedAt: at,
      expiresAt: after(at, QUOTE_LIFE_MS),
      lifeMs: QUOTE_LIFE_MS,
    };
    quotes.set(made.quoteId, made);
    return { kind: 'quote', quote: made };
  };

  const order = ({ quoteId, pair, side, clientId }: OrderRequest): OrderAnswer => {
    const taken = quotes.get(quoteId);
    if (taken === undefined || clock.wall() >= taken.expiresAt)
      return { kind: 'error', status: 422, error: 'no such quote' };
    // A quote is executed once.
    quotes.delete(quoteId);
    const orderId = `o-${rows.length}`;
    const legs: readonly (readonly [string, Quantity])[] = [
      ['btc', side === 'buy' ? taken.quantity : negate(taken.quantity)],
      ['usd', side === 'buy' ? negate(holding(taken.amount)) : holding(taken.amount)],
    ];
    for (const [currency, amount] of legs)
      book({ at: clock.wall(), action: side, currency, amount, orderId, clientId, price: taken.price });
    const { quantity: filled, amount: filledAmount, price: vwap } = taken;
    const fees = cost(vwap, NOTHING);
    return {
      kind: 'order',
      status: 201,
      order: { orderId, clientId, quoteId, pair, side, status: 'Done', filled, filledAmount, vwap, fees },
    };
  };

  const currency = (symbol: string, precision: number) =>
    ({ symbol, name: symbol, isFiat: symbol === 'usd', precision, minWithdrawal: NOTHING, tradingEnabled: true }) as const; // prettier-ignore
  return {
    quote: (request) => defer(() => of(quote(request))),
    order: (request) => defer(() => of(order(request))),
    transactions: ({ from, limit, offset = 1 }) =>
      defer(() =>
        of(
          rows
            .filter(({ at }) => at >= from)
            .toReversed()
            .slice(offset - 1, offset - 1 + limit),
        ),
      ),
    currencies: () => of([currency('usd', 2), currency('btc', 8)]),
    fundingRates: () => of([]),
    riskModes: () => of(new Map()),
    creditMetrics: () => of({}),
    valuation: () => of([]),
  };
}

if (import.meta.main) for (const fill of await tradeTwap(myVenue)) process.stdout.write(wordsOf(fill));
