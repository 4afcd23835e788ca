import { describe, expect, it } from 'vitest';
import { fieldsOf, numberOf, textOf, unitsOf } from './support/json.ts';
import type { Fields } from './support/json.ts';
import { once } from './support/once.ts';
import { aName, aNumber, aTime, aUuid, exactly, expectShape } from './support/shapes.ts';
import {
  amount,
  expectError,
  expectGood,
  leversOf,
  pair,
  quantity,
  REFUSED,
  useVenue,
} from './support/target.ts';
import { aQuote, clientId, quoteBody } from './support/trade.ts';

const venue = useVenue();
const tiny = useVenue({ pairs: { ethusd: cheap('3000'), ethbtc: cheap('0.00000123') } });
const bought = once(async () => await aQuote(venue));
const sold = once(async () => await aQuote(venue, { side: '"sell"' }));
const byAmount = once(async () => await aQuote(venue, { quantity: undefined, amount }));
const msOf = (quote: Fields, field: string): number => Date.parse(textOf(quote[field]));

describe('POST /v1/quote', () => {
  it('answers 201', async () => {
    expectGood(await venue.post('/v1/quote', quoteBody()), 201);
  });

  it('answers JSON', async () => {
    const { type } = await venue.post('/v1/quote', quoteBody());
    expect(type).toMatch(/^application\/json\b/u);
  });

  it.each([
    ['quote_id', aUuid],
    ['quantity', aNumber],
    ['amount', aNumber],
    ['pair', exactly(pair)],
    ['side', exactly('BUY')],
    ['date_expiry', aTime],
    ['date_quote', aTime],
    ['buy_price', aNumber],
  ])('answers a buy with %s as specified', async (field, shape) => {
    expectShape(await bought(), field, shape);
  });

  it.each([
    ['quote_id', aUuid],
    ['quantity', aNumber],
    ['amount', aNumber],
    ['pair', exactly(pair)],
    ['side', exactly('SELL')],
    ['date_expiry', aTime],
    ['date_quote', aTime],
    ['sell_price', aNumber],
  ])('answers a sell with %s as specified', async (field, shape) => {
    expectShape(await sold(), field, shape);
  });

  it('has buy_price only if the side is buy', async () => {
    expect(await sold()).not.toHaveProperty('buy_price');
  });

  it('has sell_price only if the side is sell', async () => {
    expect(await bought()).not.toHaveProperty('sell_price');
  });

  it('has no field that the specification does not name', async (context) => {
    leversOf(venue, context, 'another server may tell more than the specification');
    const named = ['quote_id', 'quantity', 'amount', 'pair', 'side', 'date_expiry', 'date_quote'];
    expect(Object.keys(await bought()).toSorted()).toStrictEqual([...named, 'buy_price'].toSorted());
    expect(Object.keys(await sold()).toSorted()).toStrictEqual([...named, 'sell_price'].toSorted());
  });

  it('writes the side in quotes and in upper case, although the request has it in lower case', async () => {
    const { text } = await venue.post('/v1/quote', quoteBody({ side: '"sell"' }));
    expect(text).toMatch(/"side"\s*:\s*"SELL"/u);
  });

  it('quotes the requested base quantity', async () => {
    const quote = await aQuote(venue, { quantity });
    expect(Number(numberOf(quote['quantity']))).toBe(Number(quantity));
  });

  it('quotes the requested quote amount', async () => {
    expect(Number(numberOf((await byAmount())['amount']))).toBe(Number(amount));
  });

  it('reports the base quantity of a quote by amount', async () => {
    expect(unitsOf((await byAmount())['quantity'])).toBeGreaterThan(0n);
  });

  it('prices a buy so that price times quantity equals the amount', async () => {
    expectSamePrice(await bought(), 'buy_price');
  });

  it('prices a sell so that price times quantity equals the amount', async () => {
    expectSamePrice(await sold(), 'sell_price');
  });

  it('gives every quote a unique id', async () => {
    const ids = [await aQuote(venue), await aQuote(venue)].map((quote) => textOf(quote['quote_id']));
    expect(new Set(ids).size).toBe(2);
  });

  it('gives every quote an expiry after its time', async () => {
    expect(msOf(await bought(), 'date_expiry')).toBeGreaterThan(msOf(await bought(), 'date_quote'));
  });

  it('gives every quote the current time', async () => {
    const before = Date.now();
    const quote = await aQuote(venue);
    const madeAt = msOf(quote, 'date_quote');
    // The clocks of two computers differ; a difference of hours would mean another time zone.
    expect(Math.abs(madeAt - before)).toBeLessThan(600_000);
  });

  it('accepts a client_quote_id', async () => {
    expectShape(await aQuote(venue, { client_quote_id: `"${clientId('q')}"` }), 'quote_id', aName);
  });

  it('returns the same quote for the same client_quote_id', async (context) => {
    leversOf(venue, context, 'the specification says idempotent, and not what a repeated request gets');
    const more = { client_quote_id: `"${clientId('same')}"` };
    expect(await aQuote(venue, more)).toStrictEqual(await aQuote(venue, more));
  });

  it('does not change balances', async (context) => {
    const own = leversOf(
      venue,
      context,
      'needs two looks at the transactions of an account that nobody else uses',
    );
    const before = own.exchange.ledger.rows('desk').length;
    await aQuote(venue);
    expect(own.exchange.ledger.rows('desk')).toHaveLength(before);
  });

  it.each([
    ['without pair', { pair: undefined }],
    ['without side', { side: undefined }],
    ['with neither quantity nor amount', { quantity: undefined }],
    ['with both quantity and amount', { amount: '100' }],
    ['with a side that is neither buy nor sell', { side: '"hold"' }],
    ['with a quantity of zero', { quantity: '0' }],
    ['with a negative quantity', { quantity: '-1' }],
    ['with an amount of zero', { quantity: undefined, amount: '0' }],
    ['with a negative amount', { quantity: undefined, amount: '-100' }],
    ['with a pair that is not a string', { pair: '7' }],
    ['with a quantity that is not a number', { quantity: '"much"' }],
    ['with a quantity that is null', { quantity: 'null' }],
  ])('refuses a request %s', async (_, more) => {
    expectError(await venue.post('/v1/quote', quoteBody(more)), REFUSED);
  });

  it.each([
    ['that is not JSON', '{"pair":'],
    ['that is empty', ''],
    ['that is a list', '[]'],
  ])('refuses a body %s', async (_, body) => {
    expectError(await venue.post('/v1/quote', body), [400, 499]);
  });

  it('refuses a size above the maximum of the pair with 422', async () => {
    const answer = await venue.post('/v1/quote', quoteBody({ quantity: '1000000' }));
    const error = expectError(answer, 422);
    const [, asked, most, name] =
      /^request USD value (\d+(?:\.\d+)?) greater than max USD value (\d+(?:\.\d+)?) for pair (\w+)$/u.exec(
        error,
      ) ?? [];
    expect(name, error).toBe(pair);
    expect(Number(asked)).toBeGreaterThan(Number(most));
  });

  it('refuses an amount above the maximum of the pair with 422', async () => {
    const answer = await venue.post('/v1/quote', quoteBody({ quantity: undefined, amount: '100000000000' }));
    expect(expectError(answer, 422)).toMatch(
      /^request USD value \S+ greater than max USD value \S+ for pair \w+$/u,
    );
  });

  it('refuses an unsupported pair with 422', async () => {
    const error = expectError(await venue.post('/v1/quote', quoteBody({ pair: '"zzzusd"' })), 422);
    expect(error).toBe(
      'zzzusd not currently supported for RFQ. please contact support for more information.',
    );
  });

  it('accepts a pair only in lower case', async (context) => {
    leversOf(venue, context, 'another server may read upper case too');
    expectError(await venue.post('/v1/quote', quoteBody({ pair: `"${pair.toUpperCase()}"` })), REFUSED);
  });

  it.for([
    ['a quantity in quotes', { quantity: '"0.01"' }],
    ['a side in upper case', { side: '"BUY"' }],
    ['a field that the specification does not name', { urgent: 'true' }],
    ['a quantity beyond the range of a float', { quantity: '1e400' }],
    ['a pair with an SQL injection', { pair: '"btcusd\' or 1=1 --"' }],
  ] as const)('refuses %s', async ([, more], context) => {
    leversOf(venue, context, 'another server may be lenient');
    expectError(await venue.post('/v1/quote', quoteBody(more)), REFUSED);
  });

  it('writes small prices without an exponent', async (context) => {
    leversOf(tiny, context, 'needs a pair with a small price');
    const { text } = await tiny.post('/v1/quote', quoteBody({ pair: '"ethbtc"', quantity: '50' }));
    expect(text).toMatch(/"buy_price":0\.00000123[,}]/u);
    expect(text).toMatch(/"amount":0\.0000615[,}]/u);
  });

  it('answers 503 if quotes are unavailable', async (context) => {
    const own = leversOf(venue, context, 'a foreign server cannot be told to stop quoting');
    own.exchange.setAvailability('all', 'unavailable');
    const answer = await venue.post('/v1/quote', quoteBody());
    own.exchange.setAvailability('all', 'available');
    expect(expectError(answer, 503)).toBe('quotes temporarily unavailable. please try again later.');
  });

  it('answers 503 with the pair if its quotes are unavailable', async (context) => {
    const own = leversOf(venue, context, 'a foreign server cannot be told to stop quoting a pair');
    own.exchange.setAvailability(pair, 'unavailable');
    const answer = await venue.post('/v1/quote', quoteBody());
    own.exchange.setAvailability(pair, 'available');
    expect(expectError(answer, 503)).toBe(`${pair} quotes temporarily unavailable. please try again later.`);
  });

  it('quotes other pairs while one pair is unavailable', async (context) => {
    const own = leversOf(venue, context, 'a foreign server cannot be told to stop quoting a pair');
    own.exchange.setAvailability(pair, 'unavailable');
    const answer = await venue.post('/v1/quote', quoteBody({ pair: '"ethusd"' }));
    own.exchange.setAvailability(pair, 'available');
    expect(answer.status).toBe(201);
  });
});

/** A pair with a constant price. */
function cheap(startPrice: string) {
  return { startPrice, volatilityPctYear: 0, halfSpreadBps: 0, impactBps: 0 };
}

/** Within the rounding of one unit of the price's last decimal over the quantity, and of one cent. */
function expectSamePrice(quote: Fields, field: 'buy_price' | 'sell_price'): void {
  const { quantity: size, amount: paid } = fieldsOf(quote);
  const product = (unitsOf(quote[field]) * unitsOf(size)) / 100_000_000n;
  const apart = product - unitsOf(paid);
  expect(apart < 0n ? -apart : apart).toBeLessThanOrEqual(1_000_000n + unitsOf(size) / 100n);
}
