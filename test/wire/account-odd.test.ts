import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientId } from '../../src/core/ids.ts';
import { isAmountText, text } from '../../src/core/money.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { balancesSchema, transactionDetailsSchema, transactionsSchema } from '../../src/wire/account.ts';
import { readBody, readMessage } from '../../src/wire/message.ts';

/** The fields of a row as JSON text, so that a test can write any number. */
const fields: Readonly<Record<string, string>> = {
  id: '5000001',
  atxid: 'null',
  order_id: '88000001',
  client_order_id: '"tr-1"',
  trade_id: '"t-1"',
  day: '"2026-11-28T16:00:00.000Z"',
  action: '"Buy"',
  currency: '"BTC"',
  memo: '""',
  amount: '0.05',
  net_proceeds: '0.05',
  price: '60000',
  fees: '0.001',
  status: '"Done"',
  hold_expires: '""',
  tx_hash: '""',
  algo_name: '"Instant"',
  algo_id: '"150"',
  account_balance: '1.05',
  AccountTransferFee: '0',
  description: '""',
  wallet_display_id: '"w"',
  added_by_user_email: '"a@b.c"',
  symbol: '"btcusd"',
  IdempotencyId: 'null',
  timestamp: '1795880000000',
};
const UNUSED = ['atxid', 'memo', 'net_proceeds', 'hold_expires', 'tx_hash', 'algo_name', 'algo_id', 'description', 'wallet_display_id',
  'added_by_user_email', 'symbol', 'IdempotencyId', 'day', 'zzz']; // prettier-ignore

/** `undefined` removes a field. */
type Change = Readonly<Record<string, string | undefined>>;
const rowText = (change: Change = {}): string =>
  `{${Object.entries({ ...fields, ...change })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}}`;

function read(source: string): readonly Transaction[] {
  const message = readMessage(transactionsSchema, readBody(source));
  if (!message.ok) throw new Error(message.why);
  return message.value;
}
function readRow(change: Change = {}): Transaction {
  const [row] = read(`[${rowText(change)}]`);
  if (row === undefined) throw new Error('no row');
  return row;
}
const plain = ({ amount, fees, price, balance, transferFee, ...row }: Transaction): object => ({
  ...row,
  amount: text(amount),
  fees: text(fees),
  price: price && text(price),
  balance: balance && text(balance),
  transferFee: transferFee && text(transferFee),
});

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.constantFrom('null', 'true', 'false', '{}', '[]', '[0.05]', '{"a":{"b":[1]}}', '""', '"  "', '" 5 "', '-0', '0', '-1', '1.5', '5e-8',
    '1e400', '-1e400', '9007199254740993', '123456789012345678901234567890', '0.0000000000000000000000001', '"1,000.5"', '"0x10"', '"NaN"',
    '"\\u0000"', '"\\ud800"', `"${'x'.repeat(200)}"`, `${'['.repeat(50)}${']'.repeat(50)}`), // prettier-ignore
);
const good = plain(readRow());

describe('a row of the account', () => {
  it('never fails the list, whatever it is, and leaves the other rows as they are', () => {
    const name = fc.constantFrom(...Object.keys(fields), 'zzz', '__proto__');
    const change = fc.dictionary(name, fc.option(odd, { nil: undefined }), { maxKeys: 6 });
    const twice = fc.tuple(name, odd, odd).map(([key, a, b]) => rowText({ [key]: `${a},"${key}":${b}` }));
    const row = fc.oneof(change.map(rowText), twice, odd);
    fc.assert(
      fc.property(fc.array(row, { maxLength: 4 }), (rows) => {
        const [first, ...rest] = read(`[${[rowText(), ...rows].join(',')}]`);
        expect(first && plain(first)).toEqual(good);
        expect(rest).toHaveLength(rows.length);
        for (const each of rest) {
          expect(typeof each.id === 'string' && each.id !== '' && each.id.length <= 129).toBe(true);
          expect([each.orderId, each.clientId, each.tradeId]).not.toContain('');
          expect(Number.isInteger(each.at) && each.at >= 0).toBe(true);
          expect(() => new Date(each.at).toISOString()).not.toThrow();
          expect(isAmountText(text(each.amount)) && isAmountText(text(each.fees))).toBe(true);
          expect(each.currency === '').toBe(
            each.spoiled?.some((field) => /^(?:row|currency)$/u.test(field)) === true,
          );
        }
        const shown = readMessage(transactionDetailsSchema, readBody(`[${rows.join(',')}]`));
        expect(shown.ok && shown.value.map(({ id }) => id)).toEqual(rest.map(({ id }) => id));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is the same whatever its unused fields hold', () => {
    const change = fc.dictionary(fc.constantFrom(...UNUSED), fc.option(odd, { nil: undefined }), {
      minKeys: 1,
    });
    fc.assert(
      fc.property(change, (over) => {
        expect(plain(readRow(over))).toEqual(good);
      }),
      { numRuns: 1_000 },
    );
    expect(plain(readRow({ memo: '1,"memo":2' }))).toEqual(good);
  });

  it('has ids exactly as written, as text or as a number of any size', () => {
    const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String);
    fc.assert(
      fc.property(digits, fc.boolean(), (id, isText) => {
        const written = isText ? `"${id}"` : id;
        const row = readRow({ id: written, order_id: written, client_order_id: written, trade_id: written });
        expect([row.id, row.orderId, row.clientId, row.tradeId]).toEqual([id, id, id, id]);
        expect(row.spoiled).toBeUndefined();
      }),
    );
    const ids = readRow({ id: '"a-1"', order_id: '9007199254740993', trade_id: '1e400' });
    expect(ids).toMatchObject({ id: 'a-1', orderId: '9007199254740993', tradeId: '1e400' });
  });

  it.each([undefined, 'null', '""', '" "'])(
    'has no id of an order or a trade if the venue sends %s',
    (none) => {
      const row = readRow({ order_id: none, client_order_id: none, trade_id: none });
      expect([row.orderId, row.clientId, row.tradeId]).toEqual([undefined, undefined, undefined]);
      expect(row.spoiled).toBeUndefined();
    },
  );

  it.each<readonly [string, string, string]>([
    ['order_id', '{}', 'orderId'],
    ['order_id', 'true', 'orderId'],
    ['client_order_id', '["tr-1"]', 'clientId'],
    ['client_order_id', '"tr-1","client_order_id":"tr-2"', 'clientId'],
    ['trade_id', 'false', 'tradeId'],
    ['trade_id', '"\\u0000"', 'tradeId'],
    ['trade_id', '"\\ud800"', 'tradeId'],
    ['trade_id', `"${'9'.repeat(129)}"`, 'tradeId'],
  ])('is spoiled by the id %s: %s', (name, value, key) => {
    const row = readRow({ [name]: value });
    expect(row[key as keyof Transaction]).toBeUndefined();
    expect(row.spoiled).toEqual([name]);
  });

  it.each([undefined, 'null', '""', '7', '{}', '"btc (bitcoin)"', '"b tc"', '"btc/usd"'])(
    'is spoiled by the currency %s',
    (currency) => {
      expect(readRow({ currency })).toMatchObject({ currency: '', spoiled: ['currency'] });
    },
  );

  it.each([undefined, 'null', '""', '"lots"', '"1,000.5"', '"0x10"', 'true', '[0.05]', '{}', `1${'0'.repeat(70)}`, '1e400', '0.05,"amount":0.06'])(
    'is spoiled by the amount %s',
    (amount) => {
      expect(plain(readRow({ amount }))).toMatchObject({ amount: '0', spoiled: ['amount'] });
    },
  ); // prettier-ignore

  it.each([
    ['"0.05"', '0.05'],
    ['" -0.05 "', '-0.05'],
    ['5e-2', '0.05'],
    ['5E-8', '0.00000005'],
    ['-0', '0'],
    ['-0.00', '0'],
    ['0.050000000000000000000000001', '0.050000000000000000000000001'],
  ])('can have the amount %s', (amount, value) => {
    const row = readRow({ amount, fees: amount, account_balance: amount, price: amount });
    expect(plain(row)).toMatchObject({ amount: value, fees: value, balance: value, price: value });
    expect(row.spoiled).toBeUndefined();
    expect(row.amount.isNegative()).toBe(value.startsWith('-'));
  });

  it.each([undefined, 'null', '""', '" "', '-0.00'])('has no fees if the venue sends %s', (fees) => {
    const row = readRow({ fees });
    expect([text(row.fees), row.spoiled]).toEqual(['0', undefined]);
  });

  it.each(['{}', 'true', '"free"', '1e400', '0.001,"fees":0'])('is spoiled by the fees %s', (fees) => {
    expect(plain(readRow({ fees }))).toMatchObject({ fees: '0', spoiled: ['fees'] });
  });

  it.each([undefined, 'null', '{}', 'true', '"much"', '""'])(
    'is not spoiled by figures that decide nothing: %s',
    (value) => {
      const row = readRow({ price: value, account_balance: value, status: '{}', AccountTransferFee: value });
      expect(row).toMatchObject({ price: undefined, balance: undefined, status: '' });
      expect([row.spoiled, row.transferFee]).toEqual([undefined, undefined]);
    },
  );

  it.each([
    ['"Sell"', 'sell'],
    ['" BUY "', 'buy'],
    ['"Transfer"', 'other'],
    ['null', 'other'],
    [undefined, 'other'],
    ['3', 'other'],
    ['{}', 'other'],
    ['"Buy","action":"Sell"', 'other'],
  ])('has for the action %s: %s', (written, action) => {
    const row = readRow({ action: written });
    expect([row.action, row.spoiled]).toEqual([action, undefined]);
  });

  it('is read if an unknown action names one of our orders', () => {
    const ours = clientId({ desk: 'main', parent: 'abcdefgh', slice: 0, attempt: 0 });
    expect(readRow({ action: '"Transfer"', client_order_id: `"${ours}"` })).toMatchObject({
      action: 'other',
      clientId: ours,
    });
  });

  it.each([
    ['1795880000000', 1_795_880_000_000],
    ['"1795880000000"', 1_795_880_000_000],
    ['1795880000000.5', 1_795_880_000_000],
    ['1.79588e12', 1_795_880_000_000],
    ['1795880000', 1_795_880_000],
    [undefined, Date.UTC(2026, 10, 28, 16)],
    ['null', Date.UTC(2026, 10, 28, 16)],
    ['""', Date.UTC(2026, 10, 28, 16)],
    ['{}', Date.UTC(2026, 10, 28, 16)],
    ['-1', Date.UTC(2026, 10, 28, 16)],
    ['1e400', Date.UTC(2026, 10, 28, 16)],
    ['1795880000000000000', Date.UTC(2026, 10, 28, 16)],
  ])('has for the timestamp %s the time %s', (timestamp, at) => {
    expect(readRow({ timestamp }).at).toBe(at);
  });

  it.each(['"2026-11-28T16:00:00"', '"2026-11-28"', '""', 'null', '5'])(
    'has no time if only day is sent, as %s',
    (day) => {
      expect(readRow({ timestamp: undefined, day }).at).toBe(0);
    },
  );

  it.each([undefined, 'null', '""', '{}', 'true', '1,"id":2'])(
    'has its content as id if the venue sends the id %s',
    (id) => {
      const row = readRow({ id });
      expect(row.id).toMatch(/^\?[0-9a-f]{64}$/u);
      expect(row.spoiled).toBeUndefined();
      const reversed = Object.fromEntries(Object.entries(fields).toReversed());
      const [same, other] = read(`[${rowText({ ...reversed, id })},${rowText({ id, amount: '0.06' })}]`);
      expect([same?.id === row.id, other?.id === row.id]).toEqual([true, false]);
    },
  );

  it.each(['null', '5', '"text"', 'true', '[]', '[{}]'])('is spoiled as a whole if it is %s', (element) => {
    const [row] = read(`[${element}]`);
    expect(row && plain(row)).toMatchObject({
      id: `?${element}`,
      action: 'other',
      currency: '',
      amount: '0',
      spoiled: ['row'],
    });
  });
});

it.each(['{}', 'null', '"[]"', '5', '{"data":[]}'])(
  'a list of transactions is unreadable if it is %s',
  (body) => {
    expect(readMessage(transactionsSchema, readBody(body)).ok).toBe(false);
  },
);

describe('what cannot be spent', () => {
  it.each([
    ['"2026-11-30T12:00:00Z"', Date.UTC(2026, 10, 30, 12)],
    ['1795880000000', 1_795_880_000_000],
    ['"1795880000000"', 1_795_880_000_000],
    ['"in three days"', 8.64e15], // Never known to have ended.
    ['""', undefined],
    ['null', undefined],
  ])('is a deposit until its hold expires: %s', (hold, until) => {
    expect(readRow({ action: '"Deposit"', hold_expires: hold }).heldUntil).toBe(until);
    expect(readRow({ hold_expires: hold }).heldUntil).toBeUndefined();
  });

  it('is the held part of a balance, even if the venue counts it as available', () => {
    const balance = (available: number, held: string): string =>
      `[{"currency":"USD","balance":100,"available":${available}${held}}]`;
    const spendable = (body: string) =>
      balancesSchema.parse(readBody(body)).map((one) => text(one.available));
    expect(spendable(balance(90, ',"held":10'))).toEqual(['90']);
    expect(spendable(balance(100, ',"held":"10"'))).toEqual(['90']);
    expect(spendable(balance(100, ''))).toEqual(['100']);
  });
});
