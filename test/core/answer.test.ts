import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyOrder, classifyQuote, fillPrice } from '../../src/core/cycle/answer.ts';
import type { OrderMeaning, QuoteMeaning } from '../../src/core/cycle/answer.ts';
import { money, price, quantity, text } from '../../src/core/money.ts';
import type { Order, OrderAnswer, Quote, QuoteAnswer, QuoteRequest } from '../../src/core/venue.ts';
import { after } from '../../src/core/time.ts';
import { readBody } from '../../src/wire/message.ts';
import { readQuote } from '../../src/wire/quote.ts';
import { anOrder, anOrderRequest, aQuote, aQuoteRequest, BTCUSD } from './builders.ts';

const meaningOf = (answer: QuoteAnswer, request = aQuoteRequest()): QuoteMeaning =>
  classifyQuote(request, answer, BTCUSD);
const ofQuote = (over: Partial<Quote>, request?: QuoteRequest): QuoteMeaning =>
  meaningOf({ kind: 'quote', quote: aQuote(over) }, request);
const refusal = (status: number, error: string): QuoteMeaning => meaningOf({ kind: 'error', status, error });

describe('the check of a quote', () => {
  it('accepts a quote that matches its request, by quantity and by amount, for a buy and a sell', () => {
    expect(ofQuote({})).toMatchObject({ means: 'quote', quote: { quoteId: 'q-1' } });
    const byAmount = aQuoteRequest({ size: { by: 'amount', amount: money('30000') } });
    expect(ofQuote({}, byAmount).means).toBe('quote');
    expect(ofQuote({ side: 'sell' }, aQuoteRequest({ side: 'sell' })).means).toBe('quote');
  });

  it.each<readonly [string, Partial<Quote>]>([
    ['of another pair', { pair: 'ethusd' }],
    ['of the pair in upper case', { pair: 'BTCUSD' }],
    ['of the other side', { side: 'sell' }],
    ['for more than was requested', { quantity: quantity('0.50000001') }],
    ['for less than was requested', { quantity: quantity('0.49999999') }],
    ['at a price of zero', { price: price('0') }],
    ['at a price below zero', { price: price('-60000') }],
    ['for a quantity of zero', { quantity: quantity('0') }],
    ['of a negative quantity', { quantity: quantity('-0.5'), amount: money('-30000') }],
    ['with an amount of zero', { amount: money('0') }],
    ['whose amount is more than a cent above the product', { amount: money('30000.02') }],
    ['whose amount is more than a cent below the product', { amount: money('29999.98') }],
    ['with an absurd amount', { amount: money('1e39') }],
    ['with a life of zero', { lifeMs: 0 }],
    ['with a negative life', { lifeMs: -1 }],
    ['with a life of less than a second', { lifeMs: 999 }],
    ['with a life of more than five minutes', { lifeMs: 300_001 }],
    ['whose life is not a number', { lifeMs: Number.NaN }],
  ])('discards a quote %s, so that another one is requested', (_, over) => {
    expect(ofQuote(over)).toMatchObject({ means: 'later', reason: 'quote_invalid' });
  });

  it.each<readonly [string, Partial<Quote>]>([
    ['an amount one cent above the product', { amount: money('30000.01') }],
    ['an amount one cent below the product', { amount: money('29999.99') }],
    ['a life of a second', { lifeMs: 1_000 }],
    ['a life of five minutes', { lifeMs: 300_000 }],
    ['the same figures with additional zeros', { quantity: quantity('0.50'), amount: money('30000.00') }],
  ])('accepts a quote at the edge of the tolerance: %s', (_, over) => {
    expect(ofQuote(over).means).toBe('quote');
  });

  it('tolerates a difference worth one unit of quantity in a quote for an amount, but not more', () => {
    const request = aQuoteRequest({ size: { by: 'amount', amount: money('100') } });
    // 100 usd at 60000.007: 0.00166666647… btc, cut to eight decimals.
    const each = { price: price('60000.007'), amount: money('100') };
    expect(ofQuote({ ...each, quantity: quantity('0.00166666') }, request).means).toBe('quote');
    expect(ofQuote({ ...each, quantity: quantity('0.00166646') }, request).means).toBe('later');
  });

  it('discards a quote whose amount differs from the requested amount', () => {
    const request = aQuoteRequest({ size: { by: 'amount', amount: money('30000.01') } });
    expect(ofQuote({}, request)).toMatchObject({ means: 'later', reason: 'quote_invalid' });
  });

  it('tolerates only one cent in a quote for a quantity, even if the base currency has few decimals', () => {
    const coarse = { ...BTCUSD, basePrecision: 1 };
    const answer: QuoteAnswer = { kind: 'quote', quote: aQuote({ amount: money('31000') }) };
    expect(classifyQuote(aQuoteRequest(), answer, coarse).means).toBe('later');
  });
});

describe('a quote whose stamps are checked against the clock of its answer', () => {
  // `Date` is truncated to seconds.
  it.each([
    ['2 s behind', 2_000, 'quote'],
    ['more than 2 s behind', 2_001, 'later'],
    ['2 s ahead', -2_999, 'quote'],
    ['more than 2 s ahead', -3_000, 'later'],
    ['an hour ahead', -3_600_000, 'later'],
  ])('is executed only if date_quote is within two seconds of it: %s', (_, byMs, means) => {
    const { quotedAt } = aQuote();
    expect(ofQuote({ answeredAt: after(quotedAt, byMs) }).means).toBe(means);
  });

  it('is executed without such a clock', () => {
    expect(ofQuote({ answeredAt: undefined }).means).toBe('quote');
  });
});

describe('a refused quote request', () => {
  const tooLarge = (asked: string, max: string, pair = 'btcusd'): QuoteMeaning =>
    refusal(422, `request USD value ${asked} greater than max USD value ${max} for pair ${pair}`);

  it('reports the maximum of the venue if the request was too large', () => {
    expect(tooLarge('3000000', '250000.50')).toMatchObject({ means: 'smaller', usdMax: '250000.50' });
    expect(tooLarge('3000000', '250000', 'BTCUSD').means).toBe('smaller');
  });

  it.each([
    ['above the requested value', '100', '250'],
    ['equal to the requested value', '250', '250'],
    ['of zero', '250', '0'],
    ['below zero', '250', '-1'],
    ['with separators', '250', '1,000'],
    ['that is not a number', '250', 'NaN'],
    ['with an exponent', '1e9', '1e3'],
    ['that is too large for an amount', `1${'0'.repeat(90)}`, `1${'0'.repeat(80)}`],
    ['with too many decimals for an amount', '1', `0.${'0'.repeat(70)}1`],
  ])('is final with a maximum %s: the same request would be refused again', (_, asked, max) => {
    expect(tooLarge(asked, max)).toMatchObject({ means: 'never', reason: 'venue_refused' });
  });

  it('is final if it states the maximum of another pair', () => {
    expect(tooLarge('300', '200', 'ethusd')).toMatchObject({ means: 'never', reason: 'venue_refused' });
  });

  it('is final if the pair is not quoted', () => {
    const answer = refusal(
      422,
      'btcusd not currently supported for RFQ. please contact support for more information.',
    );
    expect(answer).toMatchObject({ means: 'never', reason: 'unsupported_pair' });
  });

  it.each([
    'quotes temporarily unavailable. please try again later.',
    'btcusd quotes temporarily unavailable. please try again later.',
  ])('may be repeated after 503 "%s"', (error) => {
    expect(refusal(503, error)).toMatchObject({ means: 'later', reason: 'quotes_unavailable' });
  });

  it('may be repeated after 429 once the wait stated by the venue is over', () => {
    const answer: QuoteAnswer = { kind: 'error', status: 429, error: 'slow down', retryAfterMs: 4_000 };
    expect(meaningOf(answer)).toMatchObject({ means: 'later', reason: 'rate_limited', waitMs: 4_000 });
  });

  it.each([401, 403])('halts the desk after %i', (status) => {
    expect(refusal(status, 'no')).toMatchObject({ means: 'halt', reason: 'unauthorised' });
  });

  it.each([
    [500, 'venue_failed'],
    [502, 'venue_failed'],
    [504, 'venue_failed'],
    [408, 'venue_failed'],
    [409, 'venue_failed'],
    [425, 'venue_failed'],
    [400, 'venue_refused'],
    [404, 'venue_refused'],
    [302, 'venue_refused'],
  ])('counts as a failed attempt after %i: %s', (status, reason) => {
    expect(refusal(status, 'no')).toMatchObject({ means: 'later', reason });
  });

  it('counts as a failed attempt if the answer is lost or unreadable', () => {
    const lost = meaningOf({ kind: 'lost', sent: true, why: 'timeout' });
    expect(lost).toMatchObject({ means: 'later', reason: 'venue_failed' });
    const garbled = meaningOf({ kind: 'garbled', status: 201, why: 'HTML' });
    expect(garbled).toMatchObject({ means: 'later', reason: 'quote_invalid' });
  });

  it('is final if selling is off', () => {
    const off = meaningOf({ kind: 'lost', sent: false, why: 'selling is off: set venue.sell_path' });
    expect(off).toMatchObject({ means: 'never', reason: 'selling_off' });
  });
});

describe('an answer to a quote request', () => {
  const body = {
    quote_id: 'q-1',
    quantity: 0.5,
    amount: 30_000,
    pair: 'btcusd',
    side: 'BUY',
    date_expiry: '2026-12-01T09:00:15.000Z',
    date_quote: '2026-12-01T09:00:00.000Z',
    buy_price: 60_000,
  };
  const meaning = (sent: string): QuoteMeaning['means'] | 'unread' => {
    const read = readQuote(readBody(sent));
    return read.ok ? meaningOf({ kind: 'quote', quote: read.value }).means : 'unread';
  };

  it.each([null, '', 0, 60_000, {}])('is accepted whatever the price of the other side: %j', (other) => {
    expect(meaning(JSON.stringify({ ...body, sell_price: other }))).toBe('quote');
  });

  it('is not accepted if any field is missing, wrong or unusual', () => {
    const keys = fc.constantFrom(...Object.keys(body));
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(null, '', '1,000', '0x10', '-1', 'NaN', 'Infinity', '1e308', '0', 0, -1, 1e308),
    );
    fc.assert(
      fc.property(keys, odd, (key, value) => {
        fc.pre(JSON.stringify(value) !== JSON.stringify(body[key as keyof typeof body]));
        // Text that is the very amount is as good as the number, and any other id is an id.
        fc.pre(
          key !== 'quote_id' &&
            JSON.stringify(value) !== JSON.stringify(String(body[key as keyof typeof body])),
        );
        fc.pre(typeof value !== 'string' || value.toLowerCase() !== 'buy');
        expect(['later', 'unread']).toContain(meaning(JSON.stringify({ ...body, [key]: value })));
      }),
      { numRuns: 1000 },
    );
  });

  it('is classified without an exception, whatever it contains', () => {
    const figure = fc.constantFrom('0', '-1', '1', '0.5', '30000', '60000', '1e-40', '1e39');
    const quote = fc.record<Quote>({
      quoteId: fc.string(),
      pair: fc.constantFrom('btcusd', '', 'xx'),
      side: fc.constantFrom('buy', 'sell'),
      quantity: figure.map(quantity),
      amount: figure.map(money),
      price: figure.map(price),
      quotedAt: fc.constant(aQuote().quotedAt),
      expiresAt: fc.constant(aQuote().expiresAt),
      lifeMs: fc.double(),
    });
    const answer = fc.oneof<fc.Arbitrary<QuoteAnswer>[]>(
      fc.record({ kind: fc.constant('quote'), quote }),
      fc.record({ kind: fc.constant('error'), status: fc.integer(), error: fc.string() }),
      fc.record({ kind: fc.constant('garbled'), status: fc.integer(), why: fc.string() }),
      fc.record({ kind: fc.constant('lost'), sent: fc.boolean(), why: fc.string() }),
    );
    fc.assert(
      fc.property(answer, (from) => {
        expect(['quote', 'later', 'smaller', 'never', 'halt']).toContain(meaningOf(from).means);
      }),
      { numRuns: 1000 },
    );
  });
});

const orderMeaning = (answer: OrderAnswer): OrderMeaning => classifyOrder(anOrderRequest(), aQuote(), answer);
const placed = (over: Partial<Order> = {}, status = 200): OrderMeaning =>
  orderMeaning({ kind: 'order', status, order: anOrder(over) });

describe('the only copy of an order', () => {
  it('counts as not sent if no byte was written', () => {
    expect(orderMeaning({ kind: 'lost', sent: false, why: 'refused' }).means).toBe('not_sent');
  });

  it.each<readonly [string, OrderAnswer]>([
    ['got no answer', { kind: 'lost', sent: true, why: 'timeout' }],
    ['got an answer that cannot be read', { kind: 'garbled', status: 200, why: 'HTML' }],
    ...[100, 302, 307, 408, 409, 425, 429, 500, 502, 503, 504].map(
      (status) => [`got ${status}`, { kind: 'error', status, error: 'x' }] as const,
    ),
  ])('is in doubt if it %s', (_, answer) => {
    expect(orderMeaning(answer)).toMatchObject({ means: 'doubt', halt: false });
  });

  it.each([401, 403])('is in doubt and halts the desk if it got %i', (status) => {
    expect(orderMeaning({ kind: 'error', status, error: 'x' })).toMatchObject({ means: 'doubt', halt: true });
  });

  it.each([400, 404, 410, 422, 499])('is refused if it got a well-formed %i', (status) => {
    const refused = { means: 'refused', reason: 'order_refused' };
    expect(orderMeaning({ kind: 'error', status, error: 'x' })).toMatchObject(refused);
  });

  it.each(['Canceled', 'canceled', 'CANCELED'])('is refused if its status is %s', (status) => {
    const nothing = { filled: quantity('0'), filledAmount: money('0'), vwap: price('0') };
    expect(placed({ status, ...nothing })).toMatchObject({ means: 'refused', reason: 'order_canceled' });
  });

  it.each(['Done', 'done', 'DONE'])('is filled if its status is %s', (status) => {
    expect(placed({ status })).toMatchObject({ means: 'filled', differs: undefined });
  });

  it('is filled even without the quote id: the client order id identifies the attempt', () => {
    expect(placed({ quoteId: '' }).means).toBe('filled');
  });

  it.each<readonly [string, Partial<Order>]>([
    ['less than quoted', { filled: quantity('0.4') }],
    ['more than quoted', { filled: quantity('0.6') }],
    ['another amount', { filledAmount: money('30000.01') }],
  ])('is filled with the stated figures, and flagged, if it filled %s', (_, over) => {
    const meaning = placed(over);
    expect(meaning).toMatchObject({ means: 'filled', order: anOrder(over) });
    expect(meaning).not.toHaveProperty('differs', undefined);
  });

  it.each<readonly [string, Partial<Order>]>([
    ['another client id', { clientId: 'c-2' }],
    ['no client id', { clientId: '' }],
    ['another quote', { quoteId: 'q-2' }],
    ['another pair', { pair: 'ethusd' }],
    ['the other side', { side: 'sell' }],
    ['an unknown status', { status: 'Working' }],
    ['an empty status', { status: ' ' }],
    ['Done with nothing filled', { filled: quantity('0') }],
    ['Done with an amount of zero', { filledAmount: money('0') }],
    ['Done with a negative quantity', { filled: quantity('-0.5') }],
    ['Canceled with something filled', { status: 'Canceled' }],
    ['Canceled with an amount filled', { status: 'Canceled', filled: quantity('0') }],
  ])('is in doubt if the answer has %s', (_, over) => {
    expect(placed(over).means).toBe('doubt');
  });

  it('is filled only by Done with matching ids, pair and side and plausible fees, whatever else arrives', () => {
    const figure = fc.constantFrom('0', '-1', '0.4', '0.5', '30000');
    const order = fc.record<Order>({
      orderId: fc.string(),
      clientId: fc.constantFrom('c-1', 'c-2', ''),
      quoteId: fc.constantFrom('q-1', 'q-2', ''),
      pair: fc.constantFrom('btcusd', 'ethusd'),
      side: fc.constantFrom('buy', 'sell'),
      status: fc.oneof(fc.constantFrom('Done', 'Canceled', 'Working'), fc.string()),
      filled: figure.map(quantity),
      filledAmount: figure.map(money),
      vwap: figure.map(price),
      fees: figure.map(money),
    });
    const answer = fc.oneof<fc.Arbitrary<OrderAnswer>[]>(
      fc.record({ kind: fc.constant('order'), status: fc.constantFrom(200, 201, 199, 300, 502), order }),
      fc.record({ kind: fc.constant('error'), status: fc.integer(), error: fc.string() }),
      fc.record({ kind: fc.constant('garbled'), status: fc.integer(), why: fc.string() }),
      fc.record({ kind: fc.constant('lost'), sent: fc.boolean(), why: fc.string() }),
    );
    const isOurDone = (from: OrderAnswer): boolean =>
      from.kind === 'order' &&
      from.status >= 200 &&
      from.status < 300 &&
      from.order.clientId === 'c-1' &&
      ['q-1', ''].includes(from.order.quoteId) &&
      from.order.pair === 'btcusd' &&
      from.order.side === 'buy' &&
      from.order.status.toLowerCase() === 'done' &&
      from.order.filled.gt(0) &&
      from.order.filledAmount.gt(0) &&
      from.order.fees.abs().times(10).lte(from.order.filledAmount);
    fc.assert(
      fc.property(answer, (from) => {
        const { means } = orderMeaning(from);
        expect(means === 'filled').toBe(isOurDone(from));
        expect(means === 'not_sent').toBe(from.kind === 'lost' && !from.sent);
      }),
      { numRuns: 1000 },
    );
  });

  it('is in doubt if a well-formed answer has the HTTP status of a gateway failure', () => {
    expect(placed({}, 502).means).toBe('doubt');
    expect(placed({}, 201).means).toBe('filled');
  });
});

describe('the fees of a filled order', () => {
  it.each(['3000.01', '-3000.01', '30000', '1000000000000'])(
    'are not booked if they are %s for a trade of 30000: the order is in doubt until the account shows it',
    (fees) => {
      expect(placed({ fees: money(fees) })).toMatchObject({
        means: 'doubt',
        detail: `fees of ${fees} for a trade of 30000`,
      });
    },
  );

  it.each(['0', '30', '3000', '-30'])('are booked if they are %s', (fees) => {
    expect(placed({ fees: money(fees) }).means).toBe('filled');
  });

  it('are booked if they are the last unit of a rounded-up fee and do not exceed the trade', () => {
    const dust = (fees: string, filledAmount: string): string =>
      placed({ fees: money(fees), filledAmount: money(filledAmount) }).means;
    expect([dust('0.01', '0.01'), dust('0.01', '0.04'), dust('0.02', '0.04'), dust('0.01', '0.009')]).toEqual(
      ['filled', 'filled', 'doubt', 'doubt'],
    );
  });
});

describe('the price of a fill', () => {
  it.each([
    ['is the average price that the venue reports', anOrder(), '60000'],
    ['is amount divided by quantity if the venue reports none', anOrder({ vwap: price('0') }), '60000'],
    [
      'is cut to 18 decimals',
      anOrder({ vwap: price('0'), filled: quantity('3'), filledAmount: money('1') }),
      '0.333333333333333333',
    ],
    [
      'is computed for the smallest quantities too',
      anOrder({ vwap: price('0'), filled: quantity('3e-18'), filledAmount: money('10000') }),
      '3333333333333333333333.333333333333333333',
    ],
  ])('%s', (_, order, expected) => {
    expect(text(fillPrice(order))).toBe(expected);
  });
});
