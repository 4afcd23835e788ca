import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, readBody } from '../../src/wire/message.ts';
import { orderRequestSchema, plainOrderRequest } from '../../src/wire/order.ts';
import { orderBody, orderText } from '../../src/wire/order-body.ts';
import { readPlain } from '../../src/wire/plain.ts';
import {
  plainQuoteRequest,
  quoteBody,
  quoteRequestSchema,
  quoteText,
  wireSize,
} from '../../src/wire/quote.ts';
import { money, price, quantity } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null');

const names = [
  'pair', 'side', 'quantity', 'amount', 'client_quote_id', 'currency_pair', 'quote_id', 'client_order_id', 'algorithm_id', '__proto__',
]; // prettier-ignore
const literal = fc.oneof(
  fc.constantFrom(
    '"buy"', '"sell"', '"BUY"', '"btcusd"', '"b"', '""', '0.01', '-0', '01', '1.', '.5', '1e2', '1E400', '-', 'null', 'true', '[]',
    '{}', '"0.01"', '" 1"', '"\\u0061"', '"\\""', '"é"', '"\ud800"', '"\t"', '12345678901234567890.123456789012345678901', '"',
    `"${'x'.repeat(128)}"`, `"${'x'.repeat(129)}"`, `"${'x'.repeat(33)}"`,
  ), // prettier-ignore
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.string().map((text) => JSON.stringify(text)),
);
const space = fc.constantFrom('', '', '', ' ', '\n', '\u00a0');
const member = fc.tuple(fc.constantFrom(...names), space, space, literal);
const body = fc
  .tuple(fc.array(member, { maxLength: 6 }), fc.constantFrom('', '', '', ' ', ',', '}', 'x'), space)
  .map(
    ([members, end, gap]) =>
      `{${members.map(([name, a, b, value]) => `"${name}"${a}:${b}${value}`).join(`,${gap}`)}}${end}`,
  );
/** Bodies with the fields of a request, each valid or almost valid. */
const usual = (pairName: string, idName: string): fc.Arbitrary<string> =>
  fc
    .record({
      pair: fc.constantFrom('"btcusd"', '"b"', '7', '"é€"'),
      side: fc.constantFrom('"buy"', '"sell"', '"Buy"'),
      quote: fc.constantFrom('"q-1"', '""', '1'),
      size: fc.constantFrom('"quantity":0.01', '"amount":12.50', '"quantity":1,"amount":2', '"amount":"3"', '"quantity":-0.0'),
      id: fc.constantFrom('', ',"ID":"a-1"', ',"ID":""', ',"ID":5', ',"ID":null'),
    })
    .map(({ pair, side, quote, size, id }) =>
      `{"${pairName}":${pair},"side":${side},"quote_id":${quote},${size}${id.replace('ID', idName)}}`,
    ); // prettier-ignore

describe('a plain body', () => {
  it('has the same members as parsed JSON, with every digit, and no duplicate names', () => {
    fc.assert(
      fc.property(fc.oneof(body, fc.string()), (source) => {
        const read = readPlain(source);
        if (read === undefined) return;
        const parsed = JSON.parse(source) as unknown;
        if (!isObject(parsed)) throw new Error('not an object');
        expect(new Set(read.keys())).toEqual(new Set(Object.keys(parsed)));
        for (const [name, { type, text }] of read) {
          const value = Object.getOwnPropertyDescriptor(parsed, name)?.value as unknown;
          expect(type).toBe(typeof value);
          expect(type === 'number' ? Number(text) : text).toBe(value);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('can be a quote request of the client', () => {
    const read = readPlain('{"pair":"btcusd","side":"buy","quantity":0.010, "client_quote_id":"a"}');
    expect(read && [...read.values()].map(({ text }) => text)).toEqual(['btcusd', 'buy', '0.010', 'a']);
  });

  it.each(['', '{}', '[]', '{"a":1}x', '{"a":1,}', '{"a":1,"a":2}', '{"a":"\\n"}', '{"a":01}', '{"a":1e3}'])(
    'cannot be %j',
    (source) => {
      expect(readPlain(source)).toBeUndefined();
    },
  );
});

describe('a request parsed by hand', () => {
  it('asks for the same quote as one parsed by its schema', () => {
    let read = 0;
    fc.assert(
      fc.property(fc.oneof(body, usual('pair', 'client_quote_id')), (source) => {
        const fields = readPlain(source);
        const byHand = fields && plainQuoteRequest(fields);
        if (byHand === undefined) return;
        read += 1;
        const asked = quoteRequestSchema.parse(readBody(source));
        const { pair, side, client_quote_id: clientId } = asked;
        expect(plain(byHand)).toEqual(plain({ pair, side, size: wireSize(asked), clientId }));
      }),
      { numRuns: 3_000 },
    );
    expect(read).toBeGreaterThan(20);
  });

  it('executes the same quote as one parsed by its schema', () => {
    let read = 0;
    fc.assert(
      fc.property(fc.oneof(body, usual('currency_pair', 'client_order_id')), (source) => {
        const fields = readPlain(source);
        const byHand = fields && plainOrderRequest(fields);
        if (byHand === undefined) return;
        read += 1;
        const asked = orderRequestSchema.parse(readBody(source));
        const { currency_pair: pair, quote_id: quoteId, client_order_id: clientId } = asked;
        expect(plain(byHand)).toEqual(plain({ pair, quoteId, size: wireSize(asked), clientId }));
      }),
      { numRuns: 3_000 },
    );
    expect(read).toBeGreaterThan(20);
  });
});

const digits = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.bigInt({ min: 0n, max: 10n ** 12n }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(13, '0')}`);
const side = fc.constantFrom('buy' as const, 'sell' as const);
const at = fc.integer({ min: 0, max: 4_000_000_000_000 }).map(instant);

describe('a response written by hand', () => {
  it('has the same text as the serialised quote', () => {
    fc.assert(
      fc.property(
        fc.record({
          quoteId: fc.string(),
          pair: fc.string(),
          side,
          quantity: digits.map(quantity),
          amount: digits.map(money),
          price: digits.map(price),
          quotedAt: at,
          expiresAt: at,
          lifeMs: fc.nat(),
        }),
        (quote) => {
          expect(quoteText(quote)).toBe(JSON.stringify(quoteBody(quote)));
        },
      ),
    );
  });

  it('has the same text as the serialised order, with and without a working order', () => {
    fc.assert(
      fc.property(
        fc.record({
          orderId: fc.nat().map(String),
          clientId: fc.string(),
          quoteId: fc.string(),
          pair: fc.string(),
          side,
          status: fc.constantFrom('Done', 'Canceled', 'Cancel pending', 'Odd"'),
          quantity: digits.map(quantity),
          price: digits.map(price),
          filled: digits.map(quantity),
          vwap: digits.map(price),
          filledAmount: digits.map(money),
          fees: digits.map(money),
          updatedAt: at,
          working: fc.option(
            fc.record({
              algorithm: fc.constant(200 as const),
              timeInForce: fc.constant('GTC' as const),
              addedAt: at,
            }),
            { nil: undefined },
          ),
        }),
        (order) => {
          expect(orderText(order)).toBe(JSON.stringify(orderBody(order)));
        },
      ),
    );
  });
});
