import { beforeEach, describe, expect, it } from 'vitest';
import { fieldsOf, listOf, numberOf, textOf, unitsOf } from './support/json.ts';
import type { Fields } from './support/json.ts';
import { once } from './support/once.ts';
import {
  aName,
  aNull,
  aNumber,
  anEmptyText,
  anInteger,
  anObject,
  aText,
  aTime,
  either,
  exactly,
  expectShape,
  oneOf,
} from './support/shapes.ts';
import {
  amount,
  expectError,
  expectGood,
  leversOf,
  pair,
  REFUSED,
  requireMoney,
  useVenue,
} from './support/target.ts';
import { anOrder, aQuote, clientId } from './support/trade.ts';

const venue = useVenue();
const fastidious = useVenue({ cancelProbability: 1 });

interface Executed {
  readonly quote: Fields;
  readonly order: Fields;
}
const executed = async (more: Readonly<Record<string, string | undefined>> = {}): Promise<Executed> => {
  const quote = await aQuote(venue, more);
  return { quote, order: fieldsOf(expectGood(await anOrder(venue, quote)).body) };
};
const bought = once(async () => await executed());
const sold = once(async () => await executed({ side: '"sell"' }));

/** Expects that an order is refused and that the refusal does not change the account. */
async function expectRefused(
  quote: Fields,
  more: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const rows = (): number | undefined => venue.own?.exchange.ledger.rows('desk').length;
  const before = rows();
  const error = expectError(await anOrder(venue, quote, more), [400, 422]);
  expect(rows()).toBe(before);
  return error;
}

beforeEach((context) => {
  requireMoney(context);
});

describe('an executed buy quote', () => {
  it.each([
    ['id', anInteger],
    ['side_id', anInteger],
    ['action', exactly('Buy')],
    ['algorithm_id', anInteger],
    ['algorithm', exactly('Instant')],
    ['type', aText],
    ['pair', exactly(pair)],
    ['quantity', aNumber],
    ['price', aNumber],
    ['amount', aNumber],
    ['net_market_amount', aNumber],
    ['filled', aNumber],
    ['vwap', aNumber],
    ['filled_amount', aNumber],
    ['fees', aNumber],
    ['net_proceeds', aNumber],
    ['status', oneOf('Done', 'Canceled')],
    ['status_code', anInteger],
    ['routing_option', aText],
    ['routing_type', aText],
    ['time_in_force', exactly('FOK')],
    ['expires', either(aNull, aTime)],
    ['dateupdated', aTime],
    ['client_order_id', anEmptyText],
    ['user_tx_id', aText],
    ['o_action', aText],
    ['algo_id', anInteger],
    ['algorithm_options', either(aNull, anObject)],
    ['destination', aText],
    ['quote_id', aName],
  ])('has %s as specified', async (field, shape) => {
    expectShape((await bought()).order, field, shape);
  });

  it('has no field that the specification does not name', async (context) => {
    leversOf(venue, context, 'another server may tell more than the specification');
    expect(Object.keys((await bought()).order)).toHaveLength(30);
  });

  it('has the status Done', async () => {
    expect((await bought()).order['status']).toBe('Done');
  });

  it('has the status code 300 if it is Done', async () => {
    expect(numberOf((await bought()).order['status_code'])).toBe('300');
  });

  it('is filled completely', async () => {
    const { order } = await bought();
    expect(unitsOf(order['filled'])).toBe(unitsOf(order['quantity']));
  });

  it('has the quantity of its quote', async () => {
    const { order, quote } = await bought();
    expect(unitsOf(order['quantity'])).toBe(unitsOf(quote['quantity']));
  });

  it('is filled at the price of its quote', async () => {
    const { order, quote } = await bought();
    expect(unitsOf(order['vwap'])).toBe(unitsOf(quote['buy_price']));
  });

  it('costs the amount of its quote', async () => {
    const { order, quote } = await bought();
    expect(unitsOf(order['filled_amount'])).toBe(unitsOf(quote['amount']));
  });

  it('has net proceeds below zero', async () => {
    expect(unitsOf((await bought()).order['net_proceeds'])).toBeLessThan(0n);
  });

  it('names the quote that was executed', async () => {
    const { order, quote } = await bought();
    expect(order['quote_id']).toBe(quote['quote_id']);
  });

  it('settles immediately: the account shows it with the answer', async (context) => {
    const own = leversOf(venue, context, 'the list of transactions may be asked only once in 10 seconds');
    const { order } = await executed();
    const [newest] = own.exchange.ledger.rows('desk').slice(-1);
    expect(newest?.orderId).toBe(numberOf(order['id']));
  });
});

describe('an executed sell quote', () => {
  it('has the action Sell', async () => {
    expect((await sold()).order['action']).toBe('Sell');
  });

  it('has net proceeds above zero', async () => {
    expect(unitsOf((await sold()).order['net_proceeds'])).toBeGreaterThan(0n);
  });

  it('is filled at the price of its quote', async () => {
    const { order, quote } = await sold();
    expect(unitsOf(order['vwap'])).toBe(unitsOf(quote['sell_price']));
  });

  it('is filled completely', async () => {
    const { order } = await sold();
    expect(unitsOf(order['filled'])).toBe(unitsOf(order['quantity']));
  });

  it('has a different side_id from a buy', async () => {
    expect(numberOf((await sold()).order['side_id'])).not.toBe(numberOf((await bought()).order['side_id']));
  });
});

describe('an order against a quote', () => {
  it('has a larger id than the previous order', async () => {
    const first = await executed();
    const second = await executed();
    expect(unitsOf(second.order['id'])).toBeGreaterThan(unitsOf(first.order['id']));
  });

  it('is filled with less if it requests less than quoted', async () => {
    const quote = await aQuote(venue, { quantity: '0.02' });
    const order = fieldsOf(expectGood(await anOrder(venue, quote, { quantity: '0.015' })).body);
    expect(unitsOf(order['filled'])).toBe(1_500_000n);
  });

  it('executes a quote by amount with the amount of the quote', async () => {
    const quote = await aQuote(venue, { quantity: undefined, amount });
    const answer = await anOrder(venue, quote, { quantity: undefined, amount: numberOf(quote['amount']) });
    expect(fieldsOf(expectGood(answer).body)['status']).toBe('Done');
  });

  it('has the client_quote_id as its client_order_id', async () => {
    const id = clientId('carried');
    const quote = await aQuote(venue, { client_quote_id: `"${id}"` });
    const order = fieldsOf(expectGood(await anOrder(venue, quote, { client_order_id: `"${id}"` })).body);
    expect(order['client_order_id']).toBe(id);
  });

  it('may have a client_order_id if the quote had no client_quote_id', async () => {
    const id = clientId('own');
    const order = expectGood(await anOrder(venue, await aQuote(venue), { client_order_id: `"${id}"` }));
    expect(fieldsOf(order.body)['client_order_id']).toBe(id);
  });

  it('is refused if the quote was already executed', async () => {
    const { quote } = await bought();
    await expectRefused(quote, {});
  });

  const byAmount = { quantity: undefined, amount: '100' };
  it.each<readonly [string, Readonly<Record<string, string | undefined>>, (quote: Fields) => object]>([
    ['above the quoted quantity', { quantity: '0.01' }, () => ({ quantity: '0.02' })],
    ['above the quoted amount', byAmount, () => ({ quantity: undefined, amount: '101' })],
    ['with both quantity and amount', {}, (quote) => ({ amount: numberOf(quote['amount']) })],
    ['with neither quantity nor amount', {}, () => ({ quantity: undefined })],
    [
      'by amount if the quote was by quantity',
      {},
      (quote) => ({ quantity: undefined, amount: numberOf(quote['amount']) }),
    ],
    ['by quantity if the quote was by amount', byAmount, () => ({})],
    [
      'without client_order_id if the quote had a client_quote_id',
      { client_quote_id: `"${clientId('left-out')}"` },
      () => ({}),
    ],
    [
      'if its client_order_id differs from the client_quote_id',
      { client_quote_id: `"${clientId('one')}"` },
      () => ({ client_order_id: `"${clientId('two')}"` }),
    ],
  ])('is refused %s', async (_, quoted, ordered) => {
    const quote = await aQuote(venue, quoted);
    await expectRefused(quote, { ...ordered(quote) });
  });

  it.each([
    ['for another pair', { currency_pair: '"ethusd"' }],
    ['without currency_pair', { currency_pair: undefined }],
    ['without quote_id', { quote_id: undefined }],
    ['with an unknown quote_id', { quote_id: '"00000000-0000-4000-8000-000000000000"' }],
    ['with a quantity of zero', { quantity: '0' }],
    ['with a negative quantity', { quantity: '-0.01' }],
  ])('is refused %s', async (_, more) => {
    await expectRefused(await aQuote(venue), more);
  });

  it('is refused for the other side', async () => {
    const quote = await aQuote(venue);
    await expectRefused({ ...quote, side: 'SELL' }, {});
  });

  it('can execute a quote after a refusal', async () => {
    const quote = await aQuote(venue);
    await expectRefused(quote, { quantity: '0' });
    expect(fieldsOf(expectGood(await anOrder(venue, quote)).body)['status']).toBe('Done');
  });

  it('is refused after the quote has expired', async (context) => {
    const own = leversOf(
      venue,
      context,
      'the life of a quote is not told, and a foreign clock cannot be moved',
    );
    const quote = await aQuote(venue);
    own.pass(60_000);
    await expectRefused(quote, {});
  });

  it('is refused for the quote of another account', async (context) => {
    const own = leversOf(venue, context, 'needs a second account');
    const quote = await aQuote(venue);
    const answer = await venue.post(
      '/v1/orders/buy',
      `{"currency_pair":"${pair}","quote_id":"${textOf(quote['quote_id'])}","quantity":${numberOf(quote['quantity'])}}`,
      { authorization: `Bearer ${own.tokens[1] ?? ''}` },
    );
    expectError(answer, REFUSED);
  });
});

describe('an order that the venue cancels', () => {
  const turnedDown = once(async () =>
    fieldsOf(expectGood(await anOrder(fastidious, await aQuote(fastidious))).body),
  );
  const why = 'a foreign server cannot be made to turn an order down';

  it('is Canceled in the same answer', async (context) => {
    leversOf(fastidious, context, why);
    expect((await turnedDown())['status']).toBe('Canceled');
  });

  it('has a filled quantity of zero', async (context) => {
    leversOf(fastidious, context, why);
    expect(numberOf((await turnedDown())['filled'])).toBe('0');
  });

  it('has a status code other than 300', async (context) => {
    leversOf(fastidious, context, why);
    expect(numberOf((await turnedDown())['status_code'])).not.toBe('300');
  });

  it('does not change balances', async (context) => {
    const own = leversOf(fastidious, context, why);
    await turnedDown();
    const types = new Set(
      listOf((await fastidious.get('/v1/account/transactions')).body).map(({ action }) => action),
    );
    expect(types).toStrictEqual(new Set(['Deposit']));
    expect(own.exchange.ledger.rows('desk')).toHaveLength(3);
  });

  it('makes its quote unusable', async (context) => {
    leversOf(fastidious, context, why);
    const quote = await aQuote(fastidious);
    expectGood(await anOrder(fastidious, quote));
    expectError(await anOrder(fastidious, quote), REFUSED);
  });
});
