import { asyncScheduler } from 'rxjs';
import { money, quantity } from '../../src/core/money.ts';
import { instant, monotonic } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Quote, QuoteRequest, Side, Size } from '../../src/core/venue.ts';
import type { Clock } from '../../src/engine/ports.ts';
import type { PlacedOrder } from '../../src/simulator/exchange/dealer.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../../src/simulator/options/options.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import type { OrderDetail } from '../../src/wire/order-body.ts';
import type { Reply } from '../../src/simulator/http/reply.ts';

/** Real time, for tests over loopback. */
export const systemClock: Clock = {
  scheduler: asyncScheduler,
  wall: () => instant(Date.now()),
  monotonic: () => monotonic(performance.now()),
};

export const DESK = 'desk';
/** 2026-01-05T10:00:00Z: a full hour, so that the next one is an hour away. */
export const START = instant(Date.UTC(2026, 0, 5, 10));
export const later = (ms: number): Instant => instant(START + ms);

/** An exchange whose prices stand still, unless `input` says otherwise. */
export const anExchange = (input: VenueInput = {}): Exchange =>
  new Exchange({ options: venueOptions({ ...still, ...input }), startedAt: START });

export const still: VenueInput = {
  pairs: {
    btcusd: { startPrice: '60000', volatilityPctYear: 0, halfSpreadBps: 0, impactBps: 0 },
    ethusd: { startPrice: '3000', volatilityPctYear: 0, halfSpreadBps: 0, impactBps: 0 },
  },
};

export const quantityOf = (text: string): Size => ({ by: 'quantity', quantity: quantity(text) });
export const amountOf = (text: string): Size => ({ by: 'amount', amount: money(text) });

export const aRequest = (request: Partial<QuoteRequest> = {}): QuoteRequest => ({
  pair: 'btcusd',
  side: 'buy',
  size: quantityOf('1'),
  ...request,
});

/** An order for all of a quote, as its request had it. */
export const orderFor = (
  quote: Quote,
  request: QuoteRequest,
  order: Partial<PlacedOrder> = {},
): PlacedOrder => ({
  pair: quote.pair,
  side: quote.side,
  quoteId: quote.quoteId,
  size: request.size,
  clientId: request.clientId,
  ...order,
});

/** The value of an answer that must be a good one. */
export function valueOf<T>(reply: Reply<T>): T {
  if (!reply.ok) throw new Error(`expected a good answer, got ${reply.status} ${reply.error}`);
  return reply.value;
}

/** `422 text`, or `ok` for a good answer. */
export const said = (reply: Reply<unknown>): string => (reply.ok ? 'ok' : `${reply.status} ${reply.error}`);

/** Quotes and at once orders. */
export function execute(
  exchange: Exchange,
  asked: Partial<QuoteRequest>,
  at: Instant = START,
): Reply<OrderDetail> {
  const request = aRequest(asked);
  return exchange.order(DESK, orderFor(valueOf(exchange.quote(DESK, request, at)), request), at);
}

/** Quotes and at once executes. */
export const trade = (exchange: Exchange, side: Side, size: Size, at?: Instant): OrderDetail =>
  valueOf(execute(exchange, { side, size }, at));
