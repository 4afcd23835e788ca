import { beforeEach, describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { quantity as quantityOf } from '../../src/core/money.ts';
import { fieldsOf, listOf, numberOf, textOf, unitsOf } from './support/json.ts';
import type { Fields } from './support/json.ts';
import { once } from './support/once.ts';
import {
  aBoolean,
  aName,
  aNumber,
  anEmptyText,
  anInteger,
  aText,
  exactly,
  expectShape,
} from './support/shapes.ts';
import { expectError, expectGood, leversOf, requireMoney, useVenue } from './support/target.ts';
import type { OwnVenue, Target } from './support/target.ts';
import { json } from './support/trade.ts';

const MINUTE_MS = 60_000;
const venue = useVenue({ transferStepMinutes: 1 });
const alone = useVenue({ transferStepMinutes: 1 });
const guarded = useVenue({
  transferStepMinutes: 1,
  custody: { rules: [{ ruleType: 'WITHDRAW', requiredApprovals: 1, threshold: '1000' }] },
});
const path = '/v1/user/withdraw';

beforeEach((context) => {
  requireMoney(context);
});

const withdraw = async (of: Target, more: Readonly<Record<string, string | undefined>> = {}) =>
  await of.post(path, json({ currency: '"btc"', amount: '0.01', address: '"address-1"', ...more }));
const withdrawn = once(async () => fieldsOf(expectGood(await withdraw(venue), 200).body));

/** The transaction of a withdrawal or deposit, as currently listed. */
async function listed(of: Target, id: string): Promise<Fields> {
  const answer = await of.get(
    '/v1/account/transactions?types=withdraw,deposit&pending=true&limit=1000&from=1',
  );
  const row = listOf(expectGood(answer).body).find((each) => numberOf(each['atxid'] ?? each['AtxId']) === id);
  if (row === undefined) throw new Error(`transaction ${id} is not listed`);
  return row;
}
const statusOf = async (of: Target, id: string): Promise<string> => textOf((await listed(of, id))['status']);
const atxOf = (body: unknown): string => numberOf(fieldsOf(body)['atx_id']);

/** The following statuses of a transaction, each once, read every minute of venue time. */
async function life(of: Target, own: OwnVenue, id: string): Promise<readonly string[]> {
  const seen = [await statusOf(of, id)];
  for (let minute = 0; minute < 8; minute++) {
    own.pass(MINUTE_MS);
    const status = await statusOf(of, id);
    if (status !== seen.at(-1)) seen.push(status);
  }
  return seen;
}

const why = 'a foreign clock cannot be moved, and the list of transactions may be asked once in 10 seconds';
const held = (own: OwnVenue): string =>
  own.exchange.ledger.balance('desk', 'btc').minus(own.exchange.ledger.available('desk', 'btc')).toFixed();

describe('POST /v1/user/withdraw', () => {
  it.each([
    ['success', aBoolean],
    ['id', aName],
    ['atx_id', anInteger],
    ['tx_status', anInteger],
    ['currency', exactly('btc')],
    ['amount', aNumber],
    ['address', exactly('address-1')],
  ])('answers %s as specified', async (field, shape) => {
    expectShape(await withdrawn(), field, shape);
  });

  it('answers 200', async () => {
    expect((await withdraw(venue)).status).toBe(200);
  });

  it('answers no field that the specification does not name', async (context) => {
    leversOf(venue, context, 'another server may tell more than the specification');
    const named = ['success', 'id', 'atx_id', 'tx_status', 'currency', 'amount', 'address'];
    expect(Object.keys(await withdrawn()).toSorted()).toStrictEqual(named.toSorted());
  });

  it('reports success', async () => {
    expect((await withdrawn())['success']).toBe(true);
  });

  it('repeats the amount', async () => {
    expect(unitsOf((await withdrawn())['amount'])).toBe(1_000_000n);
  });

  it.each([
    ['a wire', '1'],
    ['a wire, with isWire as a boolean', 'true'],
    ['ACH', '0'],
  ])('initiates %s to the bank without an address', async (_, isWire) => {
    const answer = await withdraw(venue, { currency: '"usd"', amount: '100', address: undefined, isWire });
    expectShape(fieldsOf(expectGood(answer, 200).body), 'currency', exactly('usd'));
  });

  it('initiates ACH if isWire is omitted', async (context) => {
    leversOf(venue, context, 'only the fees of our own venue tell the way');
    const fee = async (isWire: string | undefined) => {
      const answer = await withdraw(venue, { currency: '"usd"', amount: '100', address: undefined, isWire });
      return numberOf((await listed(venue, atxOf(answer.body)))['AccountTransferFee']);
    };
    expect(await fee(undefined)).toBe(await fee('0'));
    expect(await fee(undefined)).not.toBe(await fee('1'));
  });

  it('answers an empty address for a bank transfer', async (context) => {
    leversOf(venue, context, 'what stands there for a bank is not shown');
    const answer = await withdraw(venue, { currency: '"usd"', amount: '100', address: undefined });
    expectShape(fieldsOf(answer.body), 'address', anEmptyText);
  });

  it('accepts min_withdrawal of the currency list and refuses less', async () => {
    const list = listOf(expectGood(await venue.get('/v1/currency')).body);
    const least = list.find(({ symbol }) => symbol === 'btc')?.['min_withdrawal'];
    const below = `0.${String(unitsOf(least) - 1n).padStart(8, '0')}`;
    expectError(await withdraw(venue, { amount: below }), [400, 422]);
    expect((await withdraw(venue, { amount: numberOf(least) })).status).toBe(200);
  });

  it('holds the amount of the withdrawal', async (context) => {
    const own = leversOf(venue, context, why);
    const before = quantityOf(held(own));
    await withdraw(venue, { amount: '0.5' });
    expect(quantityOf(held(own)).minus(before).gte('0.5')).toBe(true);
  });

  it('keeps the memo in the transaction', async (context) => {
    leversOf(venue, context, why);
    const { body } = await withdraw(venue, { memo: '"rent"' });
    expectShape(await listed(venue, atxOf(body)), 'memo', exactly('rent'));
  });

  it.each([
    ['without currency', { currency: undefined }],
    ['without amount', { amount: undefined }],
    ['without address when the currency is not usd', { address: undefined }],
    ['with an empty address when the currency is not usd', { address: '""' }],
    ['below min_withdrawal', { amount: '0.00000001' }],
    ['of zero', { amount: '0' }],
    ['of less than zero', { amount: '-1' }],
    ['of more than the account holds', { amount: '1000000' }],
    ['of an unknown currency', { currency: '"zzz"' }],
    ['of an amount that is not a number', { amount: '"much"' }],
    ['with more decimals than the currency has', { amount: '0.010000000001' }],
    ['with an isWire that is neither flag nor boolean', { currency: '"usd"', amount: '100', isWire: '7' }],
  ])('refuses a withdrawal %s', async (_, more) => {
    const rows = () => venue.own?.exchange.ledger.rows('desk').length;
    const before = rows();
    expectError(await withdraw(venue, more), [400, 422]);
    expect(rows()).toBe(before);
  });
});

describe('the transaction of a withdrawal', () => {
  const row = once(async () => await listed(venue, numberOf((await withdrawn())['atx_id'])));

  it.for([
    ['action', exactly('Withdraw')],
    ['currency', exactly('btc')],
    ['description', exactly('address-1')],
    ['added_by_user_email', aText],
    ['status', aName],
    ['AccountTransferFee', aNumber],
  ] as const)('has %s as specified', async ([field, shape], context) => {
    leversOf(venue, context, why);
    expectShape(await row(), field, shape);
  });

  it('has an amount below zero', async (context) => {
    leversOf(venue, context, why);
    expect(unitsOf((await row())['amount'])).toBeLessThan(0n);
  });

  it('has the withdrawal fee of its currency', async (context) => {
    leversOf(venue, context, why);
    const { body } = await venue.get('/v1/withdraw-fee/btc');
    expect(unitsOf((await row())['AccountTransferFee'])).toBe(unitsOf(fieldsOf(body)['fee']));
  });

  it('is listed only on request while it is pending', async (context) => {
    leversOf(venue, context, why);
    const id = atxOf((await withdraw(venue)).body);
    const ids = listOf((await venue.get('/v1/account/transactions?types=withdraw')).body).map((each) =>
      numberOf(each['id']),
    );
    expect(ids).not.toContain(numberOf((await listed(venue, id))['id']));
  });
});

describe('a withdrawal', () => {
  const start = async (of: Target, context: TestContext, more: Readonly<Record<string, string>> = {}) => {
    const own = leversOf(of, context, why);
    return { own, id: atxOf(expectGood(await withdraw(of, more)).body) };
  };

  it('passes through Initiated, In Progress, Processing Automatic withdrawal and done', async (context) => {
    const { own, id } = await start(venue, context);
    expect(await life(venue, own, id)).toStrictEqual([
      'Initiated',
      'In Progress',
      'Processing Automatic withdrawal',
      'done',
    ]);
  });

  it('has a tx_hash after it was broadcast', async (context) => {
    const { own, id } = await start(venue, context);
    expectShape(await listed(venue, id), 'tx_hash', anEmptyText);
    own.pass(8 * MINUTE_MS);
    expectShape(await listed(venue, id), 'tx_hash', aName);
  });

  it('is deducted from the balance and no longer held when it is done', async (context) => {
    const { own, id } = await start(alone, context);
    expect(held(own)).not.toBe('0');
    own.pass(30 * MINUTE_MS);
    expect(await statusOf(alone, id)).toBe('done');
    expect(held(own)).toBe('0');
    const fee = own.exchange.ledger.rows('desk').find(({ action }) => action === 'withdraw')?.transferFee;
    expect(
      own.exchange.ledger
        .balance('desk', 'btc')
        .plus(fee ?? '0')
        .toFixed(),
    ).toBe('24.99');
  });

  it('is Approval Required above the threshold of a rule', async (context) => {
    const { id } = await start(guarded, context, { amount: '0.1' });
    expect(await statusOf(guarded, id)).toBe('Approval Required');
  });

  it('stays Approval Required until it is approved', async (context) => {
    const { own, id } = await start(guarded, context, { amount: '0.1' });
    expect(await life(guarded, own, id)).toStrictEqual(['Approval Required']);
  });

  it('is Confirmed after its approval and then sent', async (context) => {
    const { own, id } = await start(guarded, context, { amount: '0.1' });
    own.exchange.transit.review({ account: 'desk', id: Number(id), what: 'release' }, own.now());
    expect(await life(guarded, own, id)).toStrictEqual([
      'Confirmed',
      'Processing Automatic withdrawal',
      'done',
    ]);
  });

  it('releases the held amount when it is Canceled', async (context) => {
    const own = leversOf(guarded, context, why);
    const before = held(own);
    const { id } = await start(guarded, context, { amount: '0.1' });
    own.exchange.transit.cancel('desk', Number(id));
    expect(await life(guarded, own, id)).toStrictEqual(['Canceled']);
    expect(held(own)).toBe(before);
  });

  it('needs no approval up to the threshold', async (context) => {
    const { id } = await start(guarded, context, { amount: '0.01' });
    expect(await statusOf(guarded, id)).toBe('Initiated');
  });

  it('is on Admin Hold, Pending Further Review if it is flagged', async (context) => {
    const { own, id } = await start(venue, context);
    own.exchange.transit.review({ account: 'desk', id: Number(id), what: 'hold' }, own.now());
    expect(await life(venue, own, id)).toStrictEqual(['Admin Hold, Pending Further Review']);
  });
});

describe('a deposit', () => {
  const start = (context: TestContext) => {
    const own = leversOf(venue, context, 'nobody can deposit through the interface of the specification');
    const amount = quantityOf('0.25');
    const id = own.exchange.startDeposit(
      'desk',
      { currency: 'btc', amount, from: 'sender-1', by: 'desk' },
      own.now(),
    );
    return { own, id: String(id) };
  };

  it('passes through Initiated, In Progress, Confirmed and done', async (context) => {
    const { own, id } = start(context);
    expect(await life(venue, own, id)).toStrictEqual(['Initiated', 'In Progress', 'Confirmed', 'done']);
  });

  it('is not available while it is Confirmed', async (context) => {
    const own = leversOf(venue, context, why);
    own.pass(60 * MINUTE_MS);
    await venue.get('/v1/account/transactions');
    const before = own.exchange.ledger.available('desk', 'btc').toFixed();
    const { id } = start(context);
    own.pass(2.5 * MINUTE_MS);
    expect(await statusOf(venue, id)).toBe('Confirmed');
    expect(own.exchange.ledger.available('desk', 'btc').toFixed()).toBe(before);
    own.pass(MINUTE_MS);
    expect(await statusOf(venue, id)).toBe('done');
    expect(own.exchange.ledger.available('desk', 'btc').minus(before).toFixed()).toBe('0.25');
  });

  it('names the address of the sender', async (context) => {
    const { id } = start(context);
    expectShape(await listed(venue, id), 'description', exactly('sender-1'));
  });

  it('is on Admin Hold, Pending Further Review if it is flagged', async (context) => {
    const { own, id } = start(context);
    own.exchange.transit.review({ account: 'desk', id: Number(id), what: 'hold' }, own.now());
    expect(await life(venue, own, id)).toStrictEqual(['Admin Hold, Pending Further Review']);
  });

  it('can be canceled while it is pending', async (context) => {
    const { own, id } = start(context);
    own.exchange.transit.cancel('desk', Number(id));
    expect(await life(venue, own, id)).toStrictEqual(['Canceled']);
  });
});

describe('GET /v1/withdraw-fee/:currency', () => {
  it.each(['btc', 'usd'])('answers 200 with only the fee of %s', async (currency) => {
    const fields = fieldsOf(expectGood(await venue.get(`/v1/withdraw-fee/${currency}`), 200).body);
    expect(Object.keys(fields)).toStrictEqual(['fee']);
  });

  it.each(['btc', 'usd'])('writes the fee of %s as a number', async (currency) => {
    expectShape(fieldsOf((await venue.get(`/v1/withdraw-fee/${currency}`)).body), 'fee', aNumber);
  });

  it('accepts the channel international for usd', async () => {
    expectShape(
      fieldsOf((await venue.get('/v1/withdraw-fee/usd?channel=international')).body),
      'fee',
      aNumber,
    );
  });

  it('answers a higher fee for an international than for a domestic wire', async (context) => {
    leversOf(venue, context, 'the fees of another server may be equal');
    const fee = async (query: string) =>
      unitsOf(fieldsOf((await venue.get(`/v1/withdraw-fee/usd${query}`)).body)['fee']);
    expect(await fee('?channel=international')).toBeGreaterThan(await fee(''));
  });

  it('ignores the channel for other currencies', async () => {
    const plain = (await venue.get('/v1/withdraw-fee/btc')).text;
    expect((await venue.get('/v1/withdraw-fee/btc?channel=international')).text).toBe(plain);
  });

  it('refuses an unknown currency', async () => {
    expectError(await venue.get('/v1/withdraw-fee/zzz'), [400, 499]);
  });
});
