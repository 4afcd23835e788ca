import { describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { quantity as quantityOf } from '../../src/core/money.ts';
import { fieldsOf, listOf, numberOf, textOf, unitsOf } from './support/json.ts';
import type { Fields } from './support/json.ts';
import { once } from './support/once.ts';
import {
  aLowerCaseName,
  aName,
  aNull,
  aNumber,
  anEmptyText,
  anInteger,
  aText,
  aTime,
  aTimestamp,
  either,
  exactly,
  expectShape,
  oneOf,
} from './support/shapes.ts';
import { expectError, expectGood, leversOf, mayMoveMoney, pair, useVenue } from './support/target.ts';
import type { OwnVenue } from './support/target.ts';
import { anOrder, aQuote, clientId } from './support/trade.ts';

const venue = useVenue();
const path = '/v1/account/transactions';
const HOUR_MS = 3_600_000;

const ask = async (query = ''): Promise<readonly Fields[]> =>
  listOf(expectGood(await venue.get(query === '' ? path : `${path}?${query}`), 200).body);
const idOf = (row: Fields): number => Number(numberOf(row['id']));
const timeOf = (row: Fields): number => Number(numberOf(row['timestamp']));
const actionOf = (row: Fields): string => textOf(row['action']);

/** A trade on each side where trading is allowed, then all transactions of the last 24 hours. */
const rows = once(async () => {
  if (mayMoveMoney) {
    const id = clientId('listed');
    const quote = await aQuote(venue, { client_quote_id: `"${id}"` });
    expectGood(await anOrder(venue, quote, { client_order_id: `"${id}"` }));
    venue.own?.pass(1_000);
    expectGood(await anOrder(venue, await aQuote(venue, { side: '"sell"' })));
    venue.own?.pass(1_000);
  }
  return await ask();
});

/** Rows of trades; skips the test if the account has none. */
async function trades(context: TestContext): Promise<readonly Fields[]> {
  const found = (await rows()).filter((row) => row['trade_id'] !== null && row['symbol'] !== null);
  if (found.length === 0) context.skip('skipped: the account has not traded in 24 hours');
  return found;
}
async function deposits(context: TestContext): Promise<readonly Fields[]> {
  const found = (await rows()).filter((row) => actionOf(row) === 'Deposit');
  if (found.length === 0) context.skip('skipped: nothing was deposited in 24 hours');
  return found;
}

/** Both legs of the newest trade: the outgoing and the incoming one. */
async function legs(context: TestContext): Promise<{ readonly out: Fields; readonly into: Fields }> {
  const all = await trades(context);
  const trade = numberOf(all[0]?.['trade_id']);
  const both = all.filter((row) => numberOf(row['trade_id']) === trade);
  expect(both).toHaveLength(2);
  const out = both.find((row) => unitsOf(row['amount']) < 0n);
  const into = both.find((row) => unitsOf(row['amount']) > 0n);
  if (out === undefined || into === undefined) throw new Error('one leg must leave and one must come in');
  return { out, into };
}

const COMMON = [
  ['id', anInteger],
  ['client_order_id', either(aText, aNull)],
  ['day', aTime],
  ['action', oneOf('Deposit', 'Withdraw', 'Buy', 'Sell', 'Credit', 'Charge')],
  ['currency', aLowerCaseName],
  ['memo', either(aText, aNull)],
  ['amount', aNumber],
  ['net_proceeds', aNumber],
  ['price', either(aNumber, aNull)],
  ['fees', aNumber],
  ['status', aName],
  ['hold_expires', aText],
  ['tx_hash', either(aText, aNull)],
  ['algo_name', either(aText, aNull)],
  ['algo_id', either(aText, anInteger, aNull)],
  ['account_balance', aNumber],
  ['AccountTransferFee', aNumber],
  ['wallet_display_id', either(aText, aNull)],
  ['added_by_user_email', either(aText, aNull)],
  ['symbol', either(aLowerCaseName, aNull)],
  ['IdempotencyId', aNull],
  ['timestamp', aTimestamp],
] as const;

describe('GET /v1/account/transactions', () => {
  it('answers 200 with an array', async () => {
    const { status, text } = await venue.get(path);
    expect([status, text.trimStart().slice(0, 1)]).toStrictEqual([200, '[']);
  });

  it.for(COMMON)('writes %s of every transaction as specified', async ([field, shape], context) => {
    const all = await rows();
    if (all.length === 0) context.skip('skipped: the account has no transaction in 24 hours');
    for (const row of all) expectShape(row, field, shape);
  });

  it.for([
    ['atxid', 'AtxId'],
    ['description', 'Description'],
  ] as const)('writes %s of every transaction, also spelt %s', async ([field, sample], context) => {
    const all = await rows();
    if (all.length === 0) context.skip('skipped: the account has no transaction in 24 hours');
    for (const row of all) expectShape(row, field in row ? field : sample, either(aText, anInteger, aNull));
  });

  it('writes no field that the specification does not name', async (context) => {
    leversOf(venue, context, 'another server may tell more than the specification');
    const named = [
      ...COMMON.map(([field]) => field),
      'atxid',
      'order_id',
      'trade_id',
      'description',
    ].toSorted();
    for (const row of await rows()) expect(Object.keys(row).toSorted()).toStrictEqual(named);
  });

  it('writes day and timestamp of every transaction for the same instant', async (context) => {
    const all = await rows();
    if (all.length === 0) context.skip('skipped: the account has no transaction in 24 hours');
    for (const row of all) expect(Date.parse(textOf(row['day']))).toBe(timeOf(row));
  });

  it('gives every transaction a unique id', async () => {
    const ids = (await rows()).map(idOf);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('lists the newest transactions first, so that offset leads to older ones', async () => {
    const ids = (await rows()).map(idOf);
    expect(ids).toStrictEqual(ids.toSorted((a, b) => b - a));
  });

  it('gives every row a balance that follows from the previous row', async (context) => {
    leversOf(venue, context, 'needs the whole history of the account');
    const balances = new Map<string, bigint>();
    for (const row of (await rows()).toReversed()) {
      const currency = textOf(row['currency']);
      const before = balances.get(currency) ?? 0n;
      expect(unitsOf(row['account_balance'])).toBe(before + unitsOf(row['amount']) - unitsOf(row['fees']));
      balances.set(currency, unitsOf(row['account_balance']));
    }
  });
});

describe('the transactions of a trade', () => {
  it('are two rows with the same trade_id', async (context) => {
    const counts = new Map<string, number>();
    for (const row of await trades(context)) {
      const id = numberOf(row['trade_id']);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    expect(new Set(counts.values())).toStrictEqual(new Set([2]));
  });

  it('have the same order_id', async (context) => {
    const { out, into } = await legs(context);
    expect(numberOf(out['order_id'])).toBe(numberOf(into['order_id']));
  });

  it('have different currencies', async (context) => {
    const { out, into } = await legs(context);
    expect(textOf(out['currency'])).not.toBe(textOf(into['currency']));
  });

  it('name the two currencies of the pair', async (context) => {
    const { out, into } = await legs(context);
    const currencies = [textOf(out['currency']), textOf(into['currency'])];
    expect([currencies.join(''), currencies.toReversed().join('')]).toContain(textOf(out['symbol']));
  });

  it('have a negative amount on the outgoing leg and a positive amount on the incoming leg', async (context) => {
    const { out, into } = await legs(context);
    expect([unitsOf(out['amount']) < 0n, unitsOf(into['amount']) > 0n]).toStrictEqual([true, true]);
  });

  it.for([
    ['order_id', anInteger],
    ['trade_id', anInteger],
    ['action', oneOf('Buy', 'Sell')],
    ['price', aNumber],
    ['hold_expires', anEmptyText],
    ['algo_name', aName],
    ['symbol', aLowerCaseName],
  ] as const)('have %s as specified', async ([field, shape], context) => {
    for (const row of await trades(context)) expectShape(row, field, shape);
  });

  it('have no account transaction id (null)', async (context) => {
    for (const row of await trades(context)) expectShape(row, 'atxid' in row ? 'atxid' : 'AtxId', aNull);
  });

  it('have the status done', async (context) => {
    for (const row of await trades(context)) expectShape(row, 'status', oneOf('done', 'Done'));
  });

  it('name the pair', async (context) => {
    leversOf(venue, context, 'another account may have traded another pair');
    for (const row of await trades(context)) expectShape(row, 'symbol', exactly(pair));
  });

  it('have the action Buy for a buy and Sell for a sell', async (context) => {
    leversOf(venue, context, 'needs a trade on each side');
    const actions = (await trades(context)).map(actionOf);
    expect(actions).toStrictEqual(['Sell', 'Sell', 'Buy', 'Buy']);
  });

  it('have the client_order_id of the order', async (context) => {
    leversOf(venue, context, 'needs an order with a client id');
    const bought = (await trades(context)).filter((row) => actionOf(row) === 'Buy');
    expect(bought.map((row) => textOf(row['client_order_id']).slice(0, 6))).toStrictEqual([
      'listed',
      'listed',
    ]);
  });
});

describe('the transaction of a deposit', () => {
  it('has an account transaction id', async (context) => {
    for (const row of await deposits(context))
      expectShape(row, 'atxid' in row ? 'atxid' : 'AtxId', anInteger);
  });

  it('has no pair (null)', async (context) => {
    for (const row of await deposits(context)) expectShape(row, 'symbol', aNull);
  });

  it('has no trade_id (null or absent)', async (context) => {
    for (const row of await deposits(context)) expect(row['trade_id'] ?? null).toBeNull();
  });

  it('has no order_id (null or absent)', async (context) => {
    for (const row of await deposits(context)) expect(row['order_id'] ?? null).toBeNull();
  });

  it('has an amount above zero', async (context) => {
    for (const row of await deposits(context)) expect(unitsOf(row['amount'])).toBeGreaterThan(0n);
  });

  it('has an empty hold_expires if no hold applies', async (context) => {
    leversOf(venue, context, 'a foreign deposit may be held');
    for (const row of await deposits(context)) expectShape(row, 'hold_expires', anEmptyText);
  });
});

describe('the query of the transactions', () => {
  it('applies from: returns no older rows', async (context) => {
    const all = await rows();
    if (all.length === 0) context.skip('skipped: the account has no transaction in 24 hours');
    const from = timeOf(all[0] ?? {});
    const some = await ask(`from=${from - 1}`);
    expect(some.map(idOf)).toStrictEqual(all.filter((row) => timeOf(row) >= from).map(idOf));
  });

  it('applies to: returns no newer rows', async (context) => {
    const all = await rows();
    if (all.length === 0) context.skip('skipped: the account has no transaction in 24 hours');
    const to = timeOf(all[0] ?? {}) - 1;
    const some = await ask(`to=${to}`);
    expect(some.map(idOf)).toStrictEqual(all.filter((row) => timeOf(row) <= to).map(idOf));
  });

  it('applies limit', async () => {
    const all = await rows();
    expect((await ask('limit=2')).map(idOf)).toStrictEqual(all.slice(0, 2).map(idOf));
  });

  it('applies after: returns only rows with a larger id', async (context) => {
    const all = await rows();
    if (all.length < 2) context.skip('skipped: the account has fewer than two transactions in 24 hours');
    const middle = idOf(all[Math.floor(all.length / 2)] ?? {});
    expect((await ask(`after=${middle}`)).map(idOf)).toStrictEqual(all.map(idOf).filter((id) => id > middle));
  });

  it('applies offset: the number of received rows plus one gives the next batch', async (context) => {
    const all = await rows();
    if (all.length < 4) context.skip('skipped: the account has fewer than four transactions in 24 hours');
    expect((await ask('limit=2&offset=3')).map(idOf)).toStrictEqual(all.slice(2, 4).map(idOf));
  });

  it.each(['charge', 'deposit', 'withdraw', 'credit', 'buy', 'sell'])('applies types=%s', async (type) => {
    const all = await rows();
    const wanted = all.filter((row) => actionOf(row).toLowerCase() === type).map(idOf);
    expect((await ask(`types=${type}`)).map(idOf)).toStrictEqual(wanted);
  });

  it('applies several types separated by commas', async () => {
    const all = await rows();
    const wanted = all.filter((row) => ['Buy', 'Deposit'].includes(actionOf(row))).map(idOf);
    expect((await ask('types=buy,deposit')).map(idOf)).toStrictEqual(wanted);
  });

  it('treats pending=false like a missing pending', async () => {
    expect((await ask('pending=false')).map(idOf)).toStrictEqual((await rows()).map(idOf));
  });

  it.each([
    'types=steal',
    'limit=many',
    'limit=0',
    'limit=-1',
    'from=yesterday',
    'to=now',
    'after=x',
    'pending=perhaps',
  ])('refuses %s', async (query) => {
    expectError(await venue.get(`${path}?${query}`), [400, 422]);
  });
});

describe('the bounds of the transactions query', () => {
  const many = useVenue({ accounts: [{ name: 'desk', balances: { usd: '1' } }] });
  const now = useVenue({ accounts: [{ name: 'desk', balances: { usd: '1' } }] });
  const aged = useVenue({ accounts: [{ name: 'desk', balances: { usd: '1' } }] });
  const list = async (query = '') => listOf((await many.get(`${path}?${query}`)).body);
  const fill = once(async (own: OwnVenue = many.own ?? fail()) => {
    for (let index = 0; index < 1_100; index++)
      own.exchange.deposit('desk', 'usd', quantityOf('1'), own.now());
    return await Promise.resolve(own);
  });
  const why = 'needs an account with more than 1 000 transactions';

  it('return at most 250 rows by default', async (context) => {
    leversOf(many, context, why);
    await fill();
    expect(await list()).toHaveLength(250);
  });

  it('allow at most 1 000 rows per request', async (context) => {
    leversOf(many, context, why);
    await fill();
    expect(await list('limit=1000')).toHaveLength(1_000);
    const { status, body } = await many.get(`${path}?limit=1001`);
    expect(status === 200 ? listOf(body).length : 1_000).toBe(1_000);
  });

  it('give access to all rows by offset', async (context) => {
    leversOf(many, context, why);
    await fill();
    const ids = [...(await list('limit=1000')), ...(await list('limit=1000&offset=1001'))].map(idOf);
    expect([ids.length, new Set(ids).size]).toStrictEqual([1_101, 1_101]);
  });

  it('cover the last 24 hours by default', async (context) => {
    const own = leversOf(aged, context, 'a foreign clock cannot be moved');
    const count = async (query = '') => listOf((await aged.get(`${path}?${query}`)).body).length;
    expect(await count()).toBe(1);
    own.pass(23 * HOUR_MS);
    expect(await count()).toBe(1);
    own.pass(2 * HOUR_MS);
    expect([await count(), await count(`from=${Date.now() - HOUR_MS}`)]).toStrictEqual([0, 1]);
  });

  it('exclude rows of the future', async (context) => {
    const own = leversOf(now, context, 'a foreign clock cannot be moved');
    own.exchange.deposit('desk', 'usd', quantityOf('7'), own.now());
    const [newest = {}] = listOf((await now.get(path)).body);
    expect(timeOf(newest)).toBeLessThanOrEqual(own.now());
  });
});

describe('a transaction that is neither a trade nor a transfer', () => {
  const generous = useVenue();
  const why = 'a foreign server cannot be made to give a reward';

  it('has the action Credit, the status done and the description of the venue if it is a reward', async (context) => {
    const own = leversOf(generous, context, why);
    own.exchange.reward('desk', { currency: 'usd', amount: quantityOf('5'), label: 'Reward' }, own.now());
    const [given = {}] = listOf((await generous.get(`${path}?types=credit`)).body);
    expect([
      given['action'],
      textOf(given['status']).toLowerCase(),
      given['description'],
      given['symbol'],
    ]).toStrictEqual(['Credit', 'done', 'Reward', null]);
    expect(unitsOf(fieldsOf(given)['amount'])).toBe(500_000_000n);
  });
});

function fail(): never {
  throw new Error('only our own venue can be filled');
}
