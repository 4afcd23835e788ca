import type { Instrument } from '../../src/core/instrument.ts';
import { money, price, quantity } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import type { Order, OrderRequest, Quote, QuoteRequest } from '../../src/core/venue.ts';

/** Buys 0.5 btc at 60000: 30000 usd, alive for 15 seconds. Builders show only what matters to a test. */
export const BTCUSD: Instrument = {
  pair: 'btcusd',
  base: 'btc',
  quote: 'usd',
  basePrecision: 8,
  quotePrecision: 2,
  minimum: {},
};

export const aQuoteRequest = (over: Partial<QuoteRequest> = {}): QuoteRequest => ({
  pair: 'btcusd',
  side: 'buy',
  size: { by: 'quantity', quantity: quantity('0.5') },
  clientId: 'c-1',
  ...over,
});

const AT = Date.UTC(2026, 11, 1, 9);

export const aQuote = (over: Partial<Quote> = {}): Quote => ({
  quoteId: 'q-1',
  pair: 'btcusd',
  side: 'buy',
  quantity: quantity('0.5'),
  amount: money('30000'),
  price: price('60000'),
  quotedAt: instant(AT),
  expiresAt: instant(AT + 15_000),
  lifeMs: 15_000,
  ...over,
});

export const anOrderRequest = (over: Partial<OrderRequest> = {}): OrderRequest => ({
  pair: 'btcusd',
  side: 'buy',
  quoteId: 'q-1',
  size: { by: 'quantity', quantity: quantity('0.5') },
  clientId: 'c-1',
  ...over,
});

export const anOrder = (over: Partial<Order> = {}): Order => ({
  orderId: '77',
  clientId: 'c-1',
  quoteId: 'q-1',
  pair: 'btcusd',
  side: 'buy',
  status: 'Done',
  filled: quantity('0.5'),
  filledAmount: money('30000'),
  vwap: price('60000'),
  fees: money('0'),
  ...over,
});
