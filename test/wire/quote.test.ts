import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { money, price, quantity, text } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import type { Quote, QuoteRequest } from '../../src/core/venue.ts';
import { readBody, readMessage } from '../../src/wire/message.ts';
import {
  quoteBody,
  quoteRequestBody,
  quoteRequestSchema,
  quoteSchema,
  readQuote,
  wireSize,
} from '../../src/wire/quote.ts';

/** In the format of the specification, with invented values. */
const wire = {
  quote_id: '5d1f0c2a-b7aa-11ee-9c3e-0242ac120002',
  quantity: '2',
  amount: '3001.0',
  pair: 'ethusd',
  side: 'SELL',
  date_expiry: '2024-02-03T04:05:16.100Z',
  date_quote: '2024-02-03T04:05:06.100Z',
  sell_price: '1500.5',
};

const digitText = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 20n }), fc.stringMatching(/^\d{1,18}$/u))
  .map(([whole, rest]) => `${whole}.${rest}`);
const side = fc.constantFrom('buy' as const, 'sell' as const);
const quote: fc.Arbitrary<Quote> = fc
  .record({
    quoteId: fc.uuid(),
    pair: fc.constantFrom('btcusd', 'usdcusdt'),
    side,
    quantity: digitText.map(quantity),
    amount: digitText.map(money),
    price: digitText.map(price),
    from: fc.integer({ min: 0, max: 4e12 }),
    lifeMs: fc.integer({ min: 0, max: 60_000 }),
  })
  .map(({ from, ...rest }) =>
    Object.assign(rest, { quotedAt: instant(from), expiresAt: instant(from + rest.lifeMs) }),
  );

/** Amounts as text, so that two quotes can be compared. */
const plain = (each: Quote): object => ({
  ...each,
  quantity: text(each.quantity),
  amount: text(each.amount),
  price: text(each.price),
});

describe('a quote on the wire', () => {
  it('is read as it was written, with every digit', () => {
    fc.assert(
      fc.property(quote, (each) => {
        const answer = readQuote(readBody(JSON.stringify(quoteBody(each))));
        expect(answer.ok && [plain(answer.value), answer.extras]).toEqual([plain(each), []]);
      }),
    );
  });

  it('is read the same by hand as by its schema, for any body', () => {
    const value = fc.oneof(
      fc.constantFrom<unknown>(
        'BUY',
        'sell',
        'Sell',
        '',
        '1.5',
        '1e3',
        '-2',
        'NaN',
        null,
        undefined,
        7,
        true,
        {},
        [],
        'x'.repeat(129),
        '2024-02-03T04:05:16',
      ),
      fc.constantFrom(...Object.values(wire)),
    );
    const name = fc.constantFrom(...Object.keys(wire), 'buy_price', 'fees', '__proto__');
    const changes = fc.array(fc.tuple(fc.boolean(), name, value), { maxLength: 3 });
    fc.assert(
      fc.property(changes, (steps) => {
        const body: Record<string, unknown> = { ...wire };
        for (const [remove, key, to] of steps) {
          if (remove) Reflect.deleteProperty(body, key);
          else
            Object.defineProperty(body, key, {
              value: to,
              enumerable: true,
              configurable: true,
              writable: true,
            });
        }
        const [fast, slow] = [readQuote(body), readMessage(quoteSchema, body)];
        expect(fast.ok ? { ...fast, value: plain(fast.value) } : fast).toEqual(
          slow.ok ? { ...slow, value: plain(slow.value) } : slow,
        );
      }),
      { numRuns: 5_000 },
    );
  });

  it.each(['SELL', 'sell', 'Sell'])('can have the side spelled %s', (spelling) => {
    expect(readQuote({ ...wire, side: spelling })).toMatchObject({
      ok: true,
      value: { side: 'sell', lifeMs: 10_000 },
    });
  });

  it.each([
    ['the price of the other side', { sell_price: undefined, buy_price: '1' }, /sell_price/u],
    ['an amount that is not text', { amount: 3001 }, /^amount/u],
    ['a time without its offset', { date_expiry: '2024-02-03T04:05:16.100' }, /^date_expiry.*offset/u],
    ['no id', { quote_id: '' }, /^quote_id/u],
    ['an unknown side', { side: 'HOLD' }, /^side/u],
  ])('is unreadable with %s', (_, change, why) => {
    const answer = readQuote({ ...wire, ...change });
    expect(answer.ok ? 'read' : answer.why).toMatch(why);
  });

  it.each(['text', [], undefined, 5])('is unreadable if the body is %j', (body) => {
    expect(readQuote(body).ok).toBe(false);
  });
});

describe('a quote request on the wire', () => {
  it('is read as it was written, with exactly one size', () => {
    const size = fc.oneof(
      digitText.map((each) => ({ by: 'quantity', quantity: quantity(each) }) as const),
      digitText.map((each) => ({ by: 'amount', amount: money(each) }) as const),
    );
    const request: fc.Arbitrary<QuoteRequest> = fc.record({
      pair: fc.constantFrom('btcusd', 'a"b'),
      side,
      size,
      clientId: fc.option(fc.string({ minLength: 1, maxLength: 36 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(request, (each) => {
        const body = quoteRequestSchema.parse(readBody(quoteRequestBody(each)));
        expect([body.pair, body.side, body.client_quote_id]).toEqual([each.pair, each.side, each.clientId]);
        expect(JSON.stringify(wireSize(body))).toBe(JSON.stringify(each.size));
      }),
    );
  });

  it.each([{}, { quantity: '1', amount: '1' }, { quantity: 1 }, { quantity: 'one' }])(
    'is refused with the size %o',
    (size) => {
      expect(quoteRequestSchema.safeParse({ pair: 'btcusd', side: 'buy', ...size }).success).toBe(false);
    },
  );
});
