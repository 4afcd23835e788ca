import fc from 'fast-check';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { add, quantity, subtract, text } from '../../src/core/money.ts';
import { readHistory } from '../../src/app/commands/journal/read-history.ts';
import { balanceSteps, inBalanceOrder } from '../../src/journal/account-history.ts';
import type { HistoryRow } from '../../src/journal/account-history.ts';
import { aHistoryRow, writeHistory } from './history-file.ts';
import { aFolder } from '../support/folder.ts';

describe('the history of the account', () => {
  it('has each row once, as the last page shows it, whatever pages overlap', () => {
    const file = join(aFolder(), 'history.jsonl');
    const first = aHistoryRow({ id: 1, status: 'Initiated', description: 'a "b"\n' });
    const second = aHistoryRow({
      id: 2,
      at: Date.UTC(2026, 5),
      amount: '0.10000000000000000001',
      pair: 'btcusd',
    });
    writeHistory(file, [second, first], [], [{ ...first, status: 'In Progress' }]);
    expect(readHistory(file)).toEqual([second, { ...first, status: 'In Progress' }]);
  });

  it('has the done row instead of the pending rows of its account transaction', () => {
    const file = join(aFolder(), 'history.jsonl');
    const row = (id: number, status: string, transaction = '7'): HistoryRow =>
      aHistoryRow({ id, status, account_transaction_id: transaction });
    // A done row stays, whatever other rows its account transaction has, such as that of a fee.
    writeHistory(file, [row(5, 'Done'), row(4, 'Done'), row(1, 'Initiated'), row(2, 'Initiated', '8'), row(3, 'Initiated', '')]); // prettier-ignore
    expect(readHistory(file).map(({ id }) => id)).toEqual([5, 4, 2, 3]);
  });

  it.each([
    ['not JSON', '[{"id":1'],
    ['no list', '{"transactions":[]}'],
    ['an id that is no whole number', '[{"id":"x","currency":"btc","amount":"1"}]'],
    ['a time in seconds', '[{"id":7,"currency":"btc","amount":"1","timestamp":1609466400}]'],
    ['a time in microseconds', '[{"id":7,"currency":"btc","amount":"1","timestamp":1609466400000000}]'],
    ['an unreadable amount', '[{"id":7,"currency":"btc","amount":"much"}]'],
  ])('is refused with its line if a page has %s', (_, line) => {
    const file = join(aFolder(), 'history.jsonl');
    writeFileSync(file, `[]\n${line}\n`);
    expect(() => readHistory(file)).toThrow(`${file}:2: `);
  });

  it('is refused if the file does not exist', () => {
    expect(() => readHistory('/nowhere/history.jsonl')).toThrow('the history /nowhere/history.jsonl cannot be read'); // prettier-ignore
  });
});

/** Ids of the rows whose balance does not follow from the previous one. */
const gapsIn = (rows: readonly HistoryRow[]): readonly number[] =>
  [...balanceSteps(rows)].filter(({ missing }) => !missing.isZero()).map(({ row }) => row.id);

describe('the steps of balances', () => {
  it('explain the rows of the venue and show each removed row', () => {
    const movement = fc.record({
      currency: fc.constantFrom('btc', 'usd'),
      amount: fc.integer({ min: -1_000_000, max: 1_000_000 }).filter((n) => n !== 0),
      fee: fc.nat(1_000),
      isFeeInside: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(movement, { minLength: 1, maxLength: 40 }), fc.nat(), (movements, pick) => {
        const balances = new Map<string, ReturnType<typeof quantity>>();
        const rows = movements.map(({ currency, amount, fee, isFeeInside }, at) => {
          const moved = quantity(`${amount}e-4`);
          const fees = quantity(`${fee}e-5`);
          const net = isFeeInside ? moved : subtract(moved, fees);
          const balance = add(balances.get(currency) ?? quantity('0'), net);
          balances.set(currency, balance);
          return aHistoryRow({ id: at + 1, currency, amount: text(moved), fees: text(fees), balance: text(balance) }); // prettier-ignore
        });
        expect(gapsIn(rows)).toEqual([]);

        const out = rows[pick % rows.length];
        const ofCurrency = rows.filter(({ currency }) => currency === out?.currency);
        const next = ofCurrency.find(({ id }) => id > (out?.id ?? 0));
        const gaps = gapsIn(rows.filter((row) => row !== out));
        // The first row of a currency is an opening balance. A row whose amount is at most the fee of the next row may stay unnoticed.
        const isSmall = quantity(out?.amount ?? '0')
          .abs()
          .lte(quantity('0.02'));
        const mayHide = next === undefined || ofCurrency[0] === out || isSmall;
        expect(gaps.length === 0 ? mayHide : gaps).toEqual(gaps.length === 0 ? true : [next?.id]);
      }),
    );
  });

  it('start over after a row that shows no balance', () => {
    const [first, third] = [
      aHistoryRow({ id: 1, amount: '5', balance: '5' }),
      aHistoryRow({ id: 3, amount: '1', balance: '9' }),
    ];
    const gapsWith = (balance: string): readonly number[] =>
      gapsIn([first, aHistoryRow({ id: 2, amount: '1', balance }), third]);
    expect([gapsWith(''), gapsWith('6')]).toEqual([[], [3]]);
  });

  it('state the unexplained amount, and ignore pending rows', () => {
    const rows = [
      aHistoryRow({ id: 1, amount: '5', balance: '5' }),
      aHistoryRow({ id: 2, amount: '-1', balance: '5', status: 'Initiated' }),
      aHistoryRow({ id: 3, amount: '-1', fees: '0.1', balance: '2.4' }),
    ];
    expect([...balanceSteps(rows)].map(({ row, missing }) => [row.id, text(missing)])).toEqual([
      [1, '0'],
      [3, '-1.5'],
    ]);
  });

  it('count the balance before the first row of a currency as its opening', () => {
    const [step] = balanceSteps([aHistoryRow({ id: 9, amount: '1', balance: '6' })]);
    expect([step?.opening, step?.change, step?.missing].map(String)).toEqual(['5', '1', '0']);
  });
});

describe('the order of rows', () => {
  const late = [
    aHistoryRow({ id: 1, at: 1_000, amount: '5', balance: '5' }),
    aHistoryRow({ id: 3, at: 2_000, amount: '2', balance: '8' }),
    aHistoryRow({ id: 2, at: 3_000, amount: '1', balance: '6' }),
  ];
  const idsOf = (rows: readonly HistoryRow[]): readonly number[] => inBalanceOrder(rows).map(({ id }) => id);

  it('is that of their ids if the venue booked late and stamped rows with the execution time', () => {
    expect(idsOf(late)).toEqual([1, 2, 3]);
    expect(idsOf([...late, aHistoryRow({ id: 4, at: 4_000, amount: '1', balance: '10' })])).toEqual([1, 2, 3, 4]); // prettier-ignore
  });

  it('is that of their times otherwise', () => {
    const [first, second, third] = late.map((row) => ({ ...row, balance: '' }));
    expect(idsOf([third, first, second].filter((row) => row !== undefined))).toEqual([1, 3, 2]);
  });
});
