import { EMPTY } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { classifyOrder, classifyQuote } from '../../src/core/cycle/answer.ts';
import { money, price, quantity, text } from '../../src/core/money.ts';
import { instant, monotonic } from '../../src/core/time.ts';
import type { OrderRequest, Quote } from '../../src/core/venue.ts';
import { readerOf } from '../../src/venue/answers.ts';
import type { Reply } from '../../src/venue/call.ts';
import { mutated, runs } from './mutate.ts';

const reader = readerOf({
  http: {
    exchange: () => {
      throw new Error('nothing is sent');
    },
    skewMs: () => undefined,
    warm: () => EMPTY,
    clean: (words) => words.slice(0, 200),
    shut: () => undefined,
    close: async () => await Promise.resolve(),
  },
  onExtras: () => undefined,
});
const replied = (body: string, status: number): Reply => ({
  status,
  body,
  headers: {},
  retryAfterMs: undefined,
  sentAt: monotonic(0),
  lastByteAt: monotonic(1),
});
const STATUSES = [201, 201, 201, 200, 204, 400, 401, 422, 429, 500, 503];

const QUOTE =
  '{"quote_id":"q-1","quantity":0.5,"amount":30000.25,"pair":"btcusd","side":"BUY","date_expiry":"2026-01-02T03:04:15.678Z",' +
  '"date_quote":"2026-01-02T03:04:05.678Z","buy_price":60000.5}';
const ORDER =
  '{"id":7,"action":"Buy","pair":"btcusd","quantity":0.5,"price":60000.5,"amount":0,"net_market_amount":0,"filled":0.5,"vwap":60000.5,' +
  '"filled_amount":30000.25,"fees":1.5,"net_proceeds":-30001.75,"status":"Done","status_code":300,"dateupdated":"2026-01-02T03:04:06.000Z",' +
  '"client_order_id":"tr-abcd","quote_id":"q-1"}';
const request = { pair: 'btcusd', side: 'buy', size: { by: 'quantity', quantity: quantity('0.5') }, clientId: 'tr-abcd' } as const; // prettier-ignore
const instrument = { pair: 'btcusd', base: 'btc', quote: 'usd', basePrecision: 8, quotePrecision: 2, minimum: {}, maximum: undefined } as const; // prettier-ignore
const quote: Quote = {
  quoteId: 'q-1',
  pair: 'btcusd',
  side: 'buy',
  quantity: quantity('0.5'),
  amount: money('30000.25'),
  price: price('60000.5'),
  quotedAt: instant(0),
  expiresAt: instant(10_000),
  lifeMs: 10_000,
};
const order: OrderRequest = { ...request, quoteId: 'q-1' };

describe('a mutated response from the venue', () => {
  it('is read as the requested quote or as no quote, without an internal error', () => {
    const kinds = new Set<string>();
    for (const seed of runs(5_000)) {
      const answer = reader.quote(
        replied(mutated(QUOTE, seed, 'quote'), STATUSES[seed % STATUSES.length] ?? 201),
      );
      const meaning = classifyQuote(request, answer, instrument);
      kinds.add(meaning.means);
      if (meaning.means !== 'quote') continue;
      const { pair, side, quantity: size } = meaning.quote;
      expect([pair, side, text(size)], `seed ${seed}`).toEqual(['btcusd', 'buy', '0.5']);
    }
    expect(kinds.has('quote') && kinds.size > 1).toBe(true);
  });

  it('is read as a fill of the order, a refusal or a doubt, without an internal error', () => {
    const kinds = new Set<string>();
    for (const seed of runs(5_000)) {
      const answer = reader.order(
        replied(mutated(ORDER, seed, 'order'), STATUSES[seed % STATUSES.length] ?? 201),
      );
      const meaning = classifyOrder(order, quote, answer);
      kinds.add(meaning.means);
      if (meaning.means !== 'filled') continue;
      expect([meaning.order.pair, meaning.order.clientId ?? 'tr-abcd'], `seed ${seed}`).toEqual([
        'btcusd',
        'tr-abcd',
      ]);
      // A fill above the ordered size is reported and halts the desk.
      const isTold = meaning.order.filled.lte('0.5') || meaning.differs !== undefined;
      expect(meaning.order.filled.gt(0) && isTold, `seed ${seed}`).toBe(true);
    }
    expect(kinds.has('filled') && kinds.size > 1).toBe(true);
  });
});
