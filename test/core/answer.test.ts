import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyOrder, classifyQuote, fillPrice } from '../../src/core/cycle/answer.ts';
import type { OrderMeaning, QuoteMeaning } from '../../src/core/cycle/answer.ts';
import { money, price, quantity, text } from '../../src/core/money.ts';
import type { Order, OrderAnswer, Quote, QuoteAnswer, QuoteRequest } from '../../src/core/venue.ts';
import { readBody } from '../../src/wire/message.ts';
import { readQuote } from '../../src/wire/quote.ts';
import { anOrder, anOrderRequest, aQuote, aQuoteRequest, BTCUSD } from './builders.ts';

const meaningOf = (answer: QuoteAnswer, request = aQuoteRequest()): QuoteMeaning =>
  classifyQuote(request, answer, BTCUSD);
const ofQuote = (over: Partial<Quote>, request?: QuoteRequest): QuoteMeaning =>
  meaningOf({ kind: 'quote', quote: aQuote(over) }, request);
const refusal = (status: number, error: string): QuoteMeaning => meaningOf({ kind: 'error', status, error });

describe('a quote', () => {
  it('that is what was asked for passes, by quantity and by amount, to buy and to sell', () => {
    expect(ofQuote({})).toMatchObject({ means: 'quote', quote: { quoteId: 'q-1' } });
    const byAmount = aQuoteRequest({ size: { by: 'amount', amount: money('30000') } });
    expect(ofQuote({}, byAmount).means).toBe('quote');
    expect(ofQuote({ side: 'sell' }, aQuoteRequest({ side: 'sell' })).means).toBe('quote');
  });

  it.each<readonly [string, Partial<Quote>]>([
    ['of another pair', { pair: 'ethusd' }],
    ['of the pair in other letters', { pair: 'BTCUSD' }],
    ['of the other side', { side: 'sell' }],
    ['for more', { quantity: quantity('0.50000001') }],
    ['for less', { quantity: quantity('0.49999999') }],
    ['at no price', { price: price('0') }],
    ['at a price below zero', { price: price('-60000') }],
    ['for nothing', { quantity: quantity('0') }],
    ['of a negative quantity', { quantity: quantity('-0.5'), amount: money('-30000') }],
    ['with no amount', { amount: money('0') }],
    ['whose amount is more than a cent above the product', { amount: money('30000.02') }],
    ['whose amount is more than a cent below the product', { amount: money('29999.98') }],
    ['with an absurd amount', { amount: money('1e39') }],
    ['that has expired when it is made', { lifeMs: 0 }],
    ['that expires before it is made', { lifeMs: -1 }],
    ['that lives less than a second', { lifeMs: 999 }],
    ['that lives more than five minutes', { lifeMs: 300_001 }],
    ['whose life is no number', { lifeMs: Number.NaN }],
  ])('%s is discarded, to be asked for again', (_, over) => {
    expect(ofQuote(over)).toMatchObject({ means: 'later', reason: 'quote_mismatch' });
  });

  it.each<readonly [string, Partial<Quote>]>([
    ['a cent above', { amount: money('30000.01') }],
    ['a cent below', { amount: money('29999.99') }],
    ['a life of a second', { lifeMs: 1_000 }],
    ['a life of five minutes', { lifeMs: 300_000 }],
    ['the same figures with other zeros', { quantity: quantity('0.50'), amount: money('30000.00') }],
  ])('at the edge of what is allowed passes: %s', (_, over) => {
    expect(ofQuote(over).means).toBe('quote');
  });

  it('for an amount may be off by what one unit of quantity is worth, and no more', () => {
    const request = aQuoteRequest({ size: { by: 'amount', amount: money('100') } });
    // 100 usd at 60000.007: 0.00166666647… btc, cut to eight decimals.
    const each = { price: price('60000.007'), amount: money('100') };
    expect(ofQuote({ ...each, quantity: quantity('0.00166666') }, request).means).toBe('quote');
    expect(ofQuote({ ...each, quantity: quantity('0.00166646') }, request).means).toBe('later');
  });

  it('for an amount is held to the very amount', () => {
    const request = aQuoteRequest({ size: { by: 'amount', amount: money('30000.01') } });
    expect(ofQuote({}, request)).toMatchObject({ means: 'later', reason: 'quote_mismatch' });
  });

  it('for a quantity of a coarse base is held to a cent of the product anyway', () => {
    const coarse = { ...BTCUSD, basePrecision: 1 };
    const answer: QuoteAnswer = { kind: 'quote', quote: aQuote({ amount: money('31000') }) };
    expect(classifyQuote(aQuoteRequest(), answer, coarse).means).toBe('later');
  });
});

describe('a refused quote request', () => {
  const tooLarge = (asked: string, max: string, pair = 'btcusd'): QuoteMeaning =>
    refusal(422, `request USD value ${asked} greater than max USD value ${max} for pair ${pair}`);

  it('that was too large reports the maximum', () => {
    expect(tooLarge('3000000', '250000.50')).toMatchObject({ means: 'smaller', usdMax: '250000.50' });
    expect(tooLarge('3000000', '250000', 'BTCUSD').means).toBe('smaller');
  });

  it.each([
    ['above what was asked', '100', '250'],
    ['equal to what was asked', '250', '250'],
    ['of nothing', '250', '0'],
    ['below zero', '250', '-1'],
    ['with separators', '250', '1,000'],
    ['that is no number', '250', 'NaN'],
    ['with an exponent', '1e9', '1e3'],
    ['beyond what can be counted', `1${'0'.repeat(90)}`, `1${'0'.repeat(80)}`],
    ['finer than what can be counted', '1', `0.${'0'.repeat(70)}1`],
  ])('with a maximum %s is final: asking again for the same cannot help', (_, asked, max) => {
    expect(tooLarge(asked, max)).toMatchObject({ means: 'never', reason: 'venue_refused' });
  });

  it('that reports the maximum of another pair says nothing about ours', () => {
    expect(tooLarge('300', '200', 'ethusd')).toMatchObject({ means: 'never', reason: 'venue_refused' });
  });

  it('for a pair that is not quoted is final', () => {
    const answer = refusal(
      422,
      'btcusd not currently supported for RFQ. please contact support for more information.',
    );
    expect(answer).toMatchObject({ means: 'never', reason: 'unsupported_pair' });
  });

  it.each([
    'quotes temporarily unavailable. please try again later.',
    'btcusd quotes temporarily unavailable. please try again later.',
  ])('with 503 "%s" may be asked again', (error) => {
    expect(refusal(503, error)).toMatchObject({ means: 'later', reason: 'quotes_unavailable' });
  });

  it('with 429 waits as long as the venue says', () => {
    const answer: QuoteAnswer = { kind: 'error', status: 429, error: 'slow down', retryAfterMs: 4_000 };
    expect(meaningOf(answer)).toMatchObject({ means: 'later', reason: 'rate_limited', waitMs: 4_000 });
  });

  it.each([401, 403])('with %i halts the desk', (status) => {
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
  ])('with %i is an attempt that failed: %s', (status, reason) => {
    expect(refusal(status, 'no')).toMatchObject({ means: 'later', reason });
  });

  it('that got lost, or cannot be read, is an attempt that failed', () => {
    const lost = meaningOf({ kind: 'lost', sent: true, why: 'timeout' });
    expect(lost).toMatchObject({ means: 'later', reason: 'venue_failed' });
    const garbled = meaningOf({ kind: 'garbled', status: 201, why: 'HTML' });
    expect(garbled).toMatchObject({ means: 'later', reason: 'quote_invalid' });
  });

  it('because selling is off is final', () => {
    const off = meaningOf({ kind: 'lost', sent: false, why: 'selling is off: set venue.sell_path' });
    expect(off).toMatchObject({ means: 'never', reason: 'selling_off' });
  });
});

describe('an answer to a quote request from anywhere', () => {
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

  it('passes when it is in order, with fields that nobody knows as well', () => {
    expect(meaning(JSON.stringify(body))).toBe('quote');
    expect(meaning(JSON.stringify({ ...body, colour: 'green' }))).toBe('quote');
    expect(meaning(`${JSON.stringify(body).slice(0, -1)},"__proto__":{"quantity":9}}`)).toBe('quote');
  });

  it('passes with no field missing, wrong or odd', () => {
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

  it.each<readonly [string, object]>([
    ['no price of its side', { buy_price: undefined }],
    ['the price of the other side alone', { buy_price: undefined, sell_price: 60_000 }],
    ['both prices', { sell_price: 60_000 }],
    ['a time without a zone', { date_expiry: '2026-12-01T09:00:15.000' }],
    ['a time that is none', { date_quote: 'soon' }],
  ])('is not read with %s', (_, over) => {
    expect(meaning(JSON.stringify({ ...body, ...over }))).toBe('unread');
  });

  it('is classified whatever it says, and never throws', () => {
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

  it('that says too large gives a figure that can be read, or none', () => {
    const figure = fc.oneof(
      fc.string({ unit: fc.constantFrom('0', '1', '9', '.'), maxLength: 90 }),
      fc.double().map(String),
    );
    fc.assert(
      fc.property(figure, figure, (asked, max) => {
        const error = `request USD value ${asked} greater than max USD value ${max} for pair btcusd`;
        const answer = refusal(422, error);
        expect(answer.means !== 'smaller' || money(answer.usdMax).gt(0)).toBe(true);
        expect(['smaller', 'never']).toContain(answer.means);
      }),
      { numRuns: 1000 },
    );
  });
});

const orderMeaning = (answer: OrderAnswer): OrderMeaning => classifyOrder(anOrderRequest(), aQuote(), answer);
const placed = (over: Partial<Order> = {}, status = 200): OrderMeaning =>
  orderMeaning({ kind: 'order', status, order: anOrder(over) });

describe('the only copy of an order', () => {
  it('was not sent when no byte left', () => {
    expect(orderMeaning({ kind: 'lost', sent: false, why: 'refused' }).means).toBe('not_sent');
  });

  it.each<readonly [string, OrderAnswer]>([
    ['got no answer', { kind: 'lost', sent: true, why: 'timeout' }],
    ['got an answer that cannot be read', { kind: 'garbled', status: 200, why: 'HTML' }],
    ...[100, 302, 307, 408, 409, 425, 429, 500, 502, 503, 504].map(
      (status) => [`got ${status}`, { kind: 'error', status, error: 'x' }] as const,
    ),
  ])('is in doubt when it %s', (_, answer) => {
    expect(orderMeaning(answer)).toMatchObject({ means: 'doubt', halt: false });
  });

  it.each([401, 403])('is in doubt and halts the desk when it got %i', (status) => {
    expect(orderMeaning({ kind: 'error', status, error: 'x' })).toMatchObject({ means: 'doubt', halt: true });
  });

  it.each([400, 404, 410, 422, 499])('is refused when it got a well-formed %i', (status) => {
    const refused = { means: 'refused', reason: 'order_refused', isCanceled: false };
    expect(orderMeaning({ kind: 'error', status, error: 'x' })).toMatchObject(refused);
  });

  it.each(['Canceled', 'canceled', 'CANCELED'])('is refused when its status is %s', (status) => {
    const nothing = { filled: quantity('0'), filledAmount: money('0'), vwap: price('0') };
    expect(placed({ status, ...nothing })).toMatchObject({ means: 'refused', isCanceled: true });
  });

  it.each(['Done', 'done', 'DONE'])('is filled when its status is %s', (status) => {
    expect(placed({ status })).toMatchObject({ means: 'filled', differs: undefined });
  });

  it('is filled without the id of the quote: our own id names the attempt', () => {
    expect(placed({ quoteId: '' }).means).toBe('filled');
  });

  it.each<readonly [string, Partial<Order>]>([
    ['less', { filled: quantity('0.4') }],
    ['more', { filled: quantity('0.6') }],
    ['other money', { filledAmount: money('30000.01') }],
  ])('is filled as stated, and flagged, when it filled %s', (_, over) => {
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
    ['Done for no money', { filledAmount: money('0') }],
    ['Done below zero', { filled: quantity('-0.5') }],
    ['Canceled with something filled', { status: 'Canceled' }],
    ['Canceled with money moved', { status: 'Canceled', filled: quantity('0') }],
  ])('is in doubt when the answer has %s', (_, over) => {
    expect(placed(over).means).toBe('doubt');
  });

  it('is filled only by a Done of its own with fees that can be, whatever else comes', () => {
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

  it('is in doubt when a gateway puts a failure around a well-formed answer', () => {
    expect(placed({}, 502).means).toBe('doubt');
    expect(placed({}, 201).means).toBe('filled');
  });
});

describe('the fees of an order that is done', () => {
  it.each(['3000.01', '-3000.01', '30000', '1000000000000'])(
    'of %s for a trade of 30000 are not booked: the order is in doubt until the account shows it',
    (fees) => {
      expect(placed({ fees: money(fees) })).toMatchObject({
        means: 'doubt',
        detail: `fees of ${fees} for a trade of 30000`,
      });
    },
  );

  it.each(['0', '30', '3000', '-30'])('of %s are booked', (fees) => {
    expect(placed({ fees: money(fees) }).means).toBe('filled');
  });

  it('are booked where they are the last unit of a fee that was rounded up, and not above the trade', () => {
    const dust = (fees: string, filledAmount: string): string =>
      placed({ fees: money(fees), filledAmount: money(filledAmount) }).means;
    expect([dust('0.01', '0.01'), dust('0.01', '0.04'), dust('0.02', '0.04'), dust('0.01', '0.009')]).toEqual(
      ['filled', 'filled', 'doubt', 'doubt'],
    );
  });
});

describe('the price of a fill', () => {
  it.each([
    ['is the average that the venue tells', anOrder(), '60000'],
    ['is amount over quantity when it tells none', anOrder({ vwap: price('0') }), '60000'],
    [
      'is cut to 18 decimals',
      anOrder({ vwap: price('0'), filled: quantity('3'), filledAmount: money('1') }),
      '0.333333333333333333',
    ],
    [
      'is read from the finest quantity too',
      anOrder({ vwap: price('0'), filled: quantity('3e-18'), filledAmount: money('10000') }),
      '3333333333333333333333.333333333333333333',
    ],
  ])('%s', (_, order, expected) => {
    expect(text(fillPrice(order))).toBe(expected);
  });
});
