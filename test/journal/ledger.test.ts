import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'csv-parse/sync';
import { exportLedger } from '../../src/app/commands/journal/journal-ledger.ts';
import type { LedgerOptions } from '../../src/app/commands/journal/journal-ledger.ts';
import { NO_QUANTITY, add, quantity } from '../../src/core/money.ts';
import type { RecordBody, RowText } from '../../src/core/record.ts';
import type { HistoryRow } from '../../src/journal/account-history.ts';
import { commodity } from '../../src/journal/ledger/beancount.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { NINE, aFill, aStart, idOf } from '../report/records.ts';
import { aHistoryRow, writeHistory } from './history-file.ts';
import { appendNow } from './records.ts';
import { aFolder } from '../support/folder.ts';
import { streamed } from '../support/streams.ts';
import { loadBeancount, loadHledger, noBeancount, noHledger } from './plain-text-accounting.ts';

const aRow = (id: number, over: Partial<HistoryRow>): HistoryRow =>
  aHistoryRow({ id, at: NINE + id * 1_000, ...over });

interface Exported {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly file: string;
}

/** Exports the ledger of a journal with these records and a history with these rows. */
async function exported(
  { bodies = [aStart()], rows, costs }: { bodies?: readonly RecordBody[]; rows?: readonly HistoryRow[]; costs?: string },
  { format = 'beancount', booking = 'fifo' }: Partial<Pick<LedgerOptions, 'format' | 'booking'>> = {},
): Promise<Exported> {
  const folder = aFolder();
  const journal = sqliteJournal(join(folder, 'journal.db'));
  for (const body of bodies) appendNow(journal, [body], NINE);
  journal.close();
  const [history, file] = [join(folder, 'history.jsonl'), join(folder, 'out')];
  if (rows !== undefined) writeHistory(history, rows);
  if (costs !== undefined) writeFileSync(join(folder, 'costs.csv'), costs);
  const options = {
    format,
    booking,
    history: rows === undefined ? undefined : history,
    costs: costs === undefined ? undefined : join(folder, 'costs.csv'),
  };
  const url = `sqlite:${join(folder, 'journal.db')}`;
  const { code, stdout, stderr } = await streamed(async (out) => await exportLedger(url, options, out));
  writeFileSync(file, stdout);
  return { code, out: stdout, err: stderr, file };
} // prettier-ignore

/** A year in small: a purchase, a sale, and everything else that changes an account, with the odd names and signs that venues send. */
const bodies: readonly RecordBody[] = [
  aStart(),
  aFill(20_000, { slice: 0, quantity: '1', amount: '100', fees: '1' }),
  {
    kind: 'correction',
    client_order_id: idOf('p', 0),
    order_id: '1',
    quantity: '1',
    price: '100.5',
    amount: '100.5',
    fees: '1',
    was_quantity: '1',
    was_amount: '100',
    was_fees: '1',
    rows: [],
  },
  aFill(30_000, { slice: 1, side: 'sell', quantity: '0.25', amount: '30', fees: '0.5' }),
  aFill(31_000, { slice: 2, pair: 'ethbtc', base: 'eth', quote: 'btc', quantity: '3', amount: '0.1', fees: '0.01', notional_usd: '12' }),
  aFill(35_000, { slice: 3, side: 'sell', pair: 'ethbtc', base: 'eth', quote: 'btc', quantity: '1', amount: '0.02', fees: '0.001', notional_usd: '3' }),
]; // prettier-ignore
const buy = { action: 'Buy', pair: 'btcusd', client_order_id: idOf('p', 0) };
const sell = { action: 'Sell', pair: 'btcusd', client_order_id: idOf('p', 1) };
const swap = { action: 'Buy', pair: 'ethbtc', client_order_id: idOf('p', 2) };
const back = { action: 'Sell', pair: 'ethbtc', client_order_id: idOf('p', 3) };
const byHand = { action: 'Sell', pair: 'usdt/usd', order_id: '9', trade_id: '9' };
const rows: readonly HistoryRow[] = [
  aRow(1, { action: 'Deposit', currency: 'usd', amount: '1000', balance: '1000' }),
  aRow(2, { action: 'Credit', currency: 's', amount: '5', balance: '5', description: 'reward "S"; \\' }),
  aRow(3, { action: 'other', currency: '1inch', amount: '7', balance: '7', description: 'Airdrop' }),
  aRow(4, { action: 'Deposit', currency: 'true', amount: '2', transfer_fee: '0.5', balance: '1.5' }),
  aRow(5, { action: 'Credit', currency: 's', amount: '-1', balance: '4', description: 'reversed' }),
  aRow(6, { action: 'Deposit', currency: 'usdt', amount: '100', balance: '140' }),
  aRow(20, { ...buy, currency: 'btc', amount: '1', balance: '1' }),
  aRow(21, { ...buy, currency: 'usd', amount: '-100.5', fees: '1', balance: '898.5' }),
  aRow(30, { ...sell, currency: 'btc', amount: '-0.25', balance: '0.75' }),
  aRow(31, { ...sell, currency: 'usd', amount: '30', fees: '0.5', balance: '928' }),
  aRow(32, { ...swap, currency: 'eth', amount: '3', balance: '3' }),
  aRow(33, { ...swap, currency: 'btc', amount: '-0.1', fees: '0.01', balance: '0.64' }),
  aRow(35, { ...back, currency: 'eth', amount: '-1', balance: '2' }),
  aRow(36, { ...back, currency: 'btc', amount: '0.02', fees: '0.001', balance: '0.659' }),
  aRow(40, { ...byHand, currency: 'usd', amount: '50', fees: '-0.05', balance: '978.05' }),
  aRow(41, { ...byHand, currency: 'usdt', amount: '-50', balance: '90' }),
  aRow(50, { action: 'Charge', currency: 'usd', amount: '-2', balance: '976.05', description: 'interest of position 7' }),
  aRow(51, { action: 'Charge', currency: 'usd', amount: '1', balance: '977.05', description: 'refunded' }),
  aRow(52, { action: 'Withdraw', currency: 'btc', amount: '0.5', transfer_fee: '0.001', balance: '0.158' }),
  aRow(53, { action: 'Withdraw', currency: 'usd', amount: '-5', balance: '977.05', status: 'Initiated' }),
  aRow(54, { action: 'Withdraw', currency: 'eth', amount: '-3', balance: '-1' }),
  aRow(55, { action: 'Deposit', currency: 'eth', amount: '1.5', balance: '0.5' }),
]; // prettier-ignore
const HELD = {
  BTC: '0.158',
  ETH: '0.5',
  'X-TRUE': '1.5',
  USD: '977.05',
  USDT: '90',
  'X-1INCH': '7',
  'X-S': '4',
};

const SALE = `
2026-12-01 * "p-1-0" "sell 0.25 btc: buyer, p, slice 1"
  at: "2026-12-01T09:00:30.000Z"
  record: "4"
  Assets:Venue  -0.25 BTC {} @@ 30.00000000 USD
  Assets:Venue  29.50000000 USD
  Expenses:Trading-Fees  0.50000000 USD
  Income:Gains
`;
const BACK = `
  Assets:Venue  -1 ETH {} @@ 3.00000000 USD
  Assets:Venue  0.019 BTC {{2.85000000 USD}}
  Expenses:Trading-Fees  0.15000000 USD
  Income:Gains
`;
const REWARD = `
2026-12-01 ! "transaction 2" "credit reward \\"S\\"; \\\\"
  at: "2026-12-01T09:00:02.000Z"
  transactions: "2"
  cost: "unknown"
  Assets:Venue  5 X-S {{0.00000000 USD}}
  Income:Credits  0.00000000 USD
`;

describe('the ledger of a journal and its account', () => {
  it.for(['fifo', 'lifo'] as const)('is booked by beancount, with the balances of the account: %s', async (booking, ctx) => {
    const { code, out, err, file } = await exported({ bodies, rows }, { booking });
    expect([code, err]).toEqual([0, '7 entries bring units at an unknown cost, which counts as 0; they have the flag "!". State it with --costs: opening usdt, transaction 2, transaction 3, transaction 4, transaction 6, transaction 54, transaction 55\n']);
    expect(out).toContain(`1970-01-01 open Assets:Venue "${booking.toUpperCase()}"\n`);
    expect(out).toContain(SALE);
    expect(out).toContain(REWARD);
    expect(out).toContain(BACK);
    if (noBeancount !== undefined) return ctx.skip(noBeancount);
    expect(loadBeancount(file)).toMatchObject({ errors: [], held: HELD });
    return undefined;
  }); // prettier-ignore

  it('is accepted by hledger, with the balances of the account', async (ctx) => {
    const { code, out, err, file } = await exported({ bodies, rows }, { format: 'hledger' });
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(
      '    Assets:Venue  3 ETH @@ 0.1 BTC\n    Assets:Venue  -0.11 BTC\n    Expenses:Trading-Fees  0.01 BTC\n',
    );
    if (noHledger !== undefined) return ctx.skip(noHledger);
    expect(loadHledger(file)).toEqual(HELD);
    return undefined;
  });

  it('balances in each currency as CSV, in columns that stay', async () => {
    const { out } = await exported({ bodies, rows }, { format: 'csv' });
    const [header, ...cells] = parse(out);
    expect(header?.join(',')).toBe(
      'entry,at,account,currency,quantity,total,total_currency,record,correction,transactions,description',
    );
    const sums = new Map<string, typeof NO_QUANTITY>();
    for (const [entry, , , currency = '', units = '', total = '', other = ''] of cells) {
      const key = `${entry} ${total === '' ? currency : other}`;
      sums.set(key, add(sums.get(key) ?? NO_QUANTITY, quantity(total === '' ? units : total)));
    }
    expect([...sums].filter(([, sum]) => !sum.isZero())).toEqual([]);
    expect(cells.filter(([entry]) => entry === idOf('p', 0)).map((row) => row.slice(2, 9))).toEqual([
      ['Assets:Venue', 'btc', '1', '100.5', 'usd', '2', '3'],
      ['Assets:Venue', 'usd', '-101.5', '', '', '2', '3'],
      ['Expenses:Trading-Fees', 'usd', '1', '', '', '2', '3'],
    ]);
  });

  it('takes the cost of incoming units from a file', async (ctx) => {
    const costs = 'entry,cost,acquired\nopening usdt,39.5,2024-05-01\ntransaction 6,101,\n';
    const { out, err, file } = await exported({ bodies, rows, costs });
    expect(err).toMatch(/^5 entries/u);
    expect(out).toContain('  Assets:Venue  40 USDT {{39.50000000 USD, 2024-05-01}}\n');
    if (noBeancount !== undefined) return ctx.skip(noBeancount);
    // 40 usdt for 39.5, 10 of 100 for 101: sold for 50.
    expect(loadBeancount(file)).toMatchObject({ errors: [], gains: expect.arrayContaining([['transaction 40', '0.4']]) as unknown });
    return undefined;
  }); // prettier-ignore

  it.each([
    ['entry,cost\n', ''],
    ['entry,cost,acquired\ntransaction 6,-1,\n', ':2: expected entry,cost,acquired'],
    ['entry,cost,acquired\ntransaction 6,1,May\n', ':2: expected entry,cost,acquired'],
    ['entry,cost,acquired\ntransaction 6,1,2025-02-30\n', ':2: expected entry,cost,acquired'],
  ])('refuses a file of costs with a wrong line: %j', async (costs, why) => {
    const { code, out, err } = await exported({ rows, costs });
    expect([code, out]).toEqual([65, '']);
    expect(err).toContain(why);
  });

  it('opens lots of a debt at what the units were sold for, and closes them by a purchase', async (ctx) => {
    const short: readonly RecordBody[] = [
      aStart(),
      aFill(1_000, { slice: 0, quantity: '1', amount: '100', fees: '0' }),
      aFill(2_000, { slice: 1, side: 'sell', quantity: '3', amount: '330', fees: '0' }),
      aFill(3_000, { slice: 2, quantity: '2', amount: '180', fees: '0' }),
    ];
    const { code, err, file } = await exported({ bodies: short });
    expect([code, err]).toEqual([0, 'Without --history, deposits, withdrawals, interest and trades by hand are missing: "tranche account transactions --json" prints them.\n']);
    if (noBeancount !== undefined) return ctx.skip(noBeancount);
    expect(loadBeancount(file)).toEqual({ errors: [], held: { USD: '50' }, gains: [[idOf('p', 1), '10'], [idOf('p', 2), '40']] });
    return undefined;
  }); // prettier-ignore

  it('books fees in other currencies once, whether the account shows them in the trade or as rows of their own', async (ctx) => {
    const shown = (id: string, currency: string, amount: string): RowText => ({ id, currency, amount });
    const other: readonly RecordBody[] = [
      aStart(),
      aFill(10_000, { slice: 0, quantity: '1', amount: '100', fees: '1', other_fees: { btc: '0.01', tok: '2' }, rows: [shown('10', 'btc', '1'), shown('11', 'usd', '-100')] }),
      { kind: 'shown', fills: { [idOf('p', 0)]: [shown('12', 'usd', '-1'), shown('13', 'tok', '-2')] } },
    ];
    const order = { pair: 'btcusd', order_id: '7' };
    const history = [
      aRow(1, { action: 'Deposit', currency: 'usd', amount: '1000', balance: '' }),
      aRow(2, { action: 'Deposit', currency: 'tok', amount: '5', balance: '5' }),
      aRow(10, { ...order, action: 'Buy', currency: 'btc', amount: '1', fees: '0.01', balance: '0.99' }),
      aRow(11, { ...order, action: 'Buy', currency: 'usd', amount: '-100', balance: '' }),
      aRow(12, { ...order, action: 'Charge', currency: 'usd', amount: '-1', balance: '899' }),
      aRow(13, { ...order, action: 'Charge', currency: 'tok', amount: '-2', balance: '3' }),
      aRow(14, { action: 'Charge', currency: 'tok', amount: '-1', balance: '' }),
    ];
    const { code, err, file, out } = await exported({ bodies: other, rows: history });
    expect([code, err]).toEqual([0, expect.stringMatching(/^1 entries .*: transaction 2\n$/u)]);
    expect(out).toContain(`"${idOf('p', 0)} fee btc"`);
    if (noBeancount !== undefined) return ctx.skip(noBeancount);
    expect(loadBeancount(file)).toMatchObject({ errors: [], held: { BTC: '0.99', TOK: '2', USD: '899' } });
    return undefined;
  }); // prettier-ignore

  it('says where it differs from the account, and whose fills it shows', async () => {
    const { code, err, out } = await exported({
      bodies: [aStart('dry_run'), ...bodies.slice(1), aFill(60_000, { slice: 4, quantity: '2', amount: '4', fees: '0' })],
      rows,
    }, { format: 'csv' }); // prettier-ignore
    expect(code).toBe(65);
    expect(err).toContain('mode dry_run: its fills are not trades of a real account.\n');
    expect(err).toContain('btc: the ledger holds 2 more than the account.');
    expect(err).toContain('usd: the ledger holds -4 more than the account.');
    expect(out).toContain(idOf('p', 4));
  });
});

describe('a row of the account', () => {
  const trade = { pair: 'usdtusd', order_id: '9', trade_id: '9' };
  it.each<readonly [string, readonly HistoryRow[], readonly string[]]>([
    ['a reversed deposit', [aRow(2, { amount: '-0.5', balance: '1.5' })], ['btc -0.5 Equity:Deposits']],
    ['a reversed deposit without a balance', [aRow(2, { amount: '-0.5' })], ['btc -0.5 Equity:Deposits']],
    [
      'a reversed credit',
      [aRow(2, { action: 'credit', amount: '-0.5', balance: '1.5' })],
      ['btc -0.5 Income:Credits'],
    ],
    [
      'a refunded charge',
      [aRow(2, { action: 'charge', amount: '0.5', balance: '2.5' })],
      ['btc 0.5 Expenses:Charges'],
    ],
    [
      'a charge without a sign',
      [aRow(2, { action: 'charge', amount: '0.5', balance: '1.5' })],
      ['btc -0.5 Expenses:Charges'],
    ],
    [
      'a refunded fee',
      [aRow(2, { amount: '1', transfer_fee: '-0.01', balance: '3.01' })],
      ['btc 1 Equity:Deposits', 'btc 0.01 Expenses:Transfer-Fees'],
    ],
    [
      'a word of the venue',
      [aRow(2, { action: 'Staking_Reward', amount: '1', balance: '3' })],
      ['btc 1 Equity:Other'],
    ],
    ...(
      [
        ['usd', 'usdt'],
        ['usdt', 'usd'],
      ] as const
    ).map(([first, second]) => {
      const leg = {
        usd: { currency: 'usd', amount: '1000.5', balance: '' },
        usdt: { currency: 'usdt', amount: '-1000', balance: '' },
      };
      const legs = [
        aRow(2, { ...trade, action: 'sell', ...leg[first] }),
        aRow(3, { ...trade, action: 'sell', ...leg[second] }),
      ];
      return [
        `a trade of usdtusd with ${first} first`,
        legs,
        ['usdt -1000 for -1000.5 usd', 'usd 1000.5 Expenses:Trading-Fees'],
      ] as const;
    }),
  ])('follows its sign: %s', async (_, legs, moved) => {
    const { out, err } = await exported(
      { rows: [aRow(1, { amount: '2', balance: '2' }), ...legs] },
      { format: 'csv' },
    );
    expect(err).not.toContain('the ledger holds');
    const cells: readonly (readonly string[])[] = parse(out);
    const told = cells.flatMap(
      ([entry = '', , account = '', currency = '', units = '', total = '', other = ''], at) =>
        account === 'Assets:Venue' && entry !== 'transaction 1'
          ? [
              `${currency} ${units} ${total === '' ? (cells[at + 1]?.[2] ?? 'Expenses:Trading-Fees') : `for ${total} ${other}`}`,
            ]
          : [],
    );
    expect(told).toEqual(moved);
  });

  it.each<readonly [Partial<HistoryRow>, string]>([
    [{ action: 'charge', amount: '0.5' }, 'whether 0.5 btc came in or went out is unknown'],
    [{ action: 'Withdraw', amount: '0.5' }, 'whether 0.5 btc came in or went out is unknown'],
    [{ amount: '1', at: NINE / 1000 }, 'its time is not in milliseconds'],
    [{ amount: '1', at: NINE * 1000 }, 'its time is not in milliseconds'],
  ])('is refused, with its id, if its direction or time is unknown: %j', async (over, why) => {
    const { code, out, err } = await exported({
      rows: [aRow(1, { amount: '2', balance: '2' }), aRow(7, over)],
    });
    expect([code, out]).toEqual([65, '']);
    expect(err).toMatch(/:1: transaction 7 /u);
    expect(err).toContain(why);
  });

  it('keeps the word of an action that the specification does not name', async () => {
    const { out } = await exported({
      rows: [aRow(1, { action: 'Staking_Reward', amount: '1', balance: '1' })],
    });
    expect(out).toContain('"transaction 1" "Staking_Reward"');
  });
});

describe('a commodity', () => {
  it('has a name of its own that beancount and hledger accept', () => {
    const names = ['btc', 's', 'xs', '1inch', 'x1inch', 'null', 'a_b', 'a_', 'a-b', 'ß', 'ss', '$', 'k'.repeat(24), 'k'.repeat(25), 'k'.repeat(26)]; // prettier-ignore
    const made = names.map(commodity);
    expect(new Set(made).size).toBe(names.length);
    for (const name of made) expect(name).toMatch(/^[A-Z][A-Z\d-]{0,22}[A-Z\d]$/u);
    expect(made.slice(0, 6)).toEqual(['BTC', 'X-S', 'XS', 'X-1INCH', 'X1INCH', 'X-NULL']);
  });
});
