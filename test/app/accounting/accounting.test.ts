import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addAccounting } from '../../../src/app/accounting/accounting-cli.ts';
import type { RecordBody } from '../../../src/core/record.ts';
import { after, instant } from '../../../src/core/time.ts';
import { HISTORY_COLUMNS, openHistory } from '../../../src/journal/account-history.ts';
import type { HistoryRow } from '../../../src/journal/account-history.ts';
import { sqliteJournal } from '../../../src/journal/sqlite/sqlite.ts';
import { NINE, aFill, aStart, idOf } from '../../report/records.ts';
import { appendNow } from '../../journal/records.ts';
import { runLine } from '../support/cli.ts';
import type { Ran } from '../support/cli.ts';

const fills: readonly RecordBody[] = [
  aStart(),
  aFill(1_000, { slice: 0, quantity: '1', amount: '100', fees: '1' }),
  aFill(2_000, { slice: 1, side: 'sell', quantity: '0.25', amount: '30', fees: '0.5' }),
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
  },
];

const aRow = (id: number, over: Partial<HistoryRow>): HistoryRow =>
  ({
    ...Object.fromEntries(HISTORY_COLUMNS.map((name) => [name, ''])),
    id,
    at: NINE + id,
    status: 'done',
    amount: '0',
    fees: '0',
    transfer_fee: '0',
    ...over,
  }) as HistoryRow; // oxlint-disable-line typescript/no-unsafe-type-assertion -- all the columns

/** The same as the account shows it, with what is not of the journal: a deposit, interest, and a trade by hand. */
const rows: readonly HistoryRow[] = [
  aRow(1, { action: 'Deposit', currency: 'usd', amount: '1000', balance: '1000' }),
  aRow(2, { action: 'Buy', pair: 'btcusd', client_order_id: idOf('p', 0), currency: 'btc', amount: '1', balance: '1' }),
  aRow(3, { action: 'Buy', pair: 'btcusd', client_order_id: idOf('p', 0), currency: 'usd', amount: '-100.5', fees: '1', balance: '898.5' }),
  aRow(4, { action: 'Sell', pair: 'btcusd', client_order_id: idOf('p', 1), currency: 'btc', amount: '-0.25', balance: '0.75' }),
  aRow(5, { action: 'Sell', pair: 'btcusd', client_order_id: idOf('p', 1), currency: 'usd', amount: '30', fees: '0.5', balance: '928' }),
  aRow(6, { action: 'Charge', currency: 'usd', amount: '-2', balance: '926', description: 'interest of position 7' }),
  aRow(7, { action: 'Buy', pair: 'ethusd', order_id: '9', trade_id: '9', client_order_id: 'op-1', currency: 'eth', amount: '2', balance: '2' }),
  aRow(8, { action: 'Buy', pair: 'ethusd', order_id: '9', trade_id: '9', client_order_id: 'op-1', currency: 'usd', amount: '-6', balance: '920' }),
  aRow(9, { action: 'Withdraw', currency: 'usd', amount: '-5', balance: '920', status: 'Initiated' }),
]; // prettier-ignore

const PRICES =
  'at,currency,price,source\n2026-12-01T00:00:00Z,btc,120,an index\n2026-12-02T00:00:00Z,btc,130,an index\n2026-12-02T00:00:00Z,eth,4,an index\n';

interface Desk {
  readonly run: (...line: readonly string[]) => Promise<Ran>;
  readonly folder: string;
}

/** A folder with a journal, the history of its account, prices, and the settings of the books. */
function aDesk({
  settings = 'method: fifo\nhistory: history.db\nprices: prices.csv\n',
  bodies = fills,
  prices = PRICES,
} = {}): Desk {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-accounting-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const journal = sqliteJournal(join(folder, 'journal.db'));
  for (const [n, body] of bodies.entries()) appendNow(journal, [body], after(NINE, n * 60_000));
  journal.close();
  const history = openHistory(join(folder, 'history.db'), { account: 'a' });
  history.keep(rows, { completeTo: NINE, walk: undefined });
  history.close();
  writeFileSync(join(folder, 'prices.csv'), prices);
  writeFileSync(join(folder, 'books.yaml'), settings);
  const world = { cwd: folder, now: instant(NINE), config: 'config/paper.yaml' };
  return {
    folder,
    run: async (command, ...line) =>
      await runLine(addAccounting, ['accounting', command ?? '', join(folder, 'journal.db'), ...line], world),
  };
}

describe('tranche accounting', () => {
  it('holds what the account holds, to the last digit', async () => {
    const { run } = aDesk();
    expect(await run('balances')).toEqual({
      code: 0,
      out: 'currency  books  account  difference\n     btc   0.75     0.75           0\n     eth      2        2           0\n     usd    920      920           0\n',
      err: '',
    });
  });

  it('says what differs from the account, and why it may', async () => {
    const { run } = aDesk({
      settings:
        'method: fifo\nhistory: history.db\nopening: [{ currency: usd, quantity: "0.01", acquired_at: 2026-01-01T00:00:00Z, lot: cash }]\n',
    });
    const { code, err } = await run('balances');
    expect([code, err]).toEqual([
      65,
      expect.stringContaining('usd: the books hold 0.01 more than the account.'),
    ]);
  });

  it('says that it did not compare without a history, and that a journal is of a simulation', async () => {
    const { run } = aDesk({ settings: 'method: fifo\n', bodies: [aStart('paper'), ...fills.slice(1)] });
    const { code, err } = await run('balances');
    expect(code).toBe(0);
    expect(err).toContain('of mode paper: its fills are not those of an account');
    expect(err).toContain('Not compared with the account');
  });

  it('lists each disposal, corrections as further rows', async () => {
    const { run } = aDesk();
    const { code, out } = await run('gains');
    expect(code).toBe(0);
    expect(out.split('\r\n').map((line) => line.split(',').toSpliced(3, 2).join())).toEqual([
      'entry,currency,lot,quantity,proceeds,cost,gain',
      'p-1-0,btc,p-0-0,0.25,30,25,5',
      'p-0-0 reversed,btc,p-0-0,-0.25,0,-25,25',
      'p-0-0 (2) sold,btc,p-0-0 (2),0.25,0,25.125,-25.125',
      '',
    ]);
  });

  it('lists the open lots', async () => {
    const { run } = aDesk();
    const { out } = await run('lots', '--json');
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      {
        currency: 'btc',
        lot: 'p-0-0 (2)',
        acquired_at: '2026-12-01T09:00:01.000Z',
        quantity: '0.75',
        cost: '75.375',
      },
      {
        currency: 'eth',
        lot: 'transaction 7',
        acquired_at: '2026-12-01T09:00:00.007Z',
        quantity: '2',
        cost: '6',
      },
    ]);
  });

  it('rolls fair values forward with the source of each price', async () => {
    const { run } = aDesk();
    const { code, out } = await run(
      'roll-forward',
      '--from',
      '2026-12-01T00:00:00Z',
      '--until',
      '2026-12-02T00:00:00Z',
    );
    expect(code).toBe(0);
    // 0.75 btc at 130, of which 100.5 were added and 30 left.
    expect(out).toMatch(/btc +0\.00 +100\.50 +30\.00 +27\.00 +97\.50 +75\.38/u);
    expect(out).toContain('closing at 130, 2026-12-02T00:00:00.000Z, an index');
  });

  it('writes every format, with where each entry is written down', async () => {
    const { run, folder } = aDesk({
      settings:
        'method: fifo\nhistory: history.db\ncodes: { holdings usd: "1000", holdings btc: "1400", holdings eth: "1410", deposits: "3000", realised gains: "7000", trading fees: "6000", interest: "6100" }\n',
    });
    for (const format of ['beancount', 'hledger', 'csv', 'jsonl', 'netsuite', 'xero']) {
      const { code, out, err } = await run('export', '--format', format);
      expect([format, code, err]).toEqual([format, 0, '']);
      expect(out.length).toBeGreaterThan(100);
    }
    expect(await run('export', '--format', 'parquet', '--out', 'books.parquet')).toMatchObject({ code: 0 });
    const found = await parquetReadObjects({
      file: await asyncBufferFromFile(join(folder, 'books.parquet')),
    });
    expect(found.find(({ entry }) => entry === 'p-0-0')).toMatchObject({
      entry: 'p-0-0',
      account: 'holdings',
      currency: 'btc',
      record: 2n,
    });
    await run('export', '--format', 'csv', '--out', 'books.csv');
    const [header, first] = readFileSync(join(folder, 'books.csv'), 'utf8').split('\r\n');
    expect(header).toBe(
      'entry,at,what,account,currency,quantity,value,lot,acquired_at,record,hash,transactions,description',
    );
    expect(first).toBe('transaction 1,2026-12-01T09:00:00.001Z,deposit,holdings,usd,1000,1000,,,,,1,');
  });

  it.each([
    [{ settings: 'method: fifo\n' }, ['export', '--format', 'netsuite'], 78, 'add the code of your ledger under codes: holdings'],
    [{}, ['balances', '--books', 'none.yaml'], 78, 'there are no settings of the books at none.yaml: write them as in docs/accounting.md'],
    [{ settings: 'method: oldest\n' }, ['balances'], 78, 'books.yaml:1'],
    [{ settings: 'method: fifo\ncodes: { fees: "1" }\n' }, ['balances'], 78, 'expected holdings with a currency'],
    [{ settings: 'method: fifo\nopening: [{ currency: btc, quantity: "1", acquired_at: 2026-01-01T00:00:00Z, lot: a }]\n' }, ['balances'], 78, 'add cost: what the lot cost, in usd'],
    [{ prices: 'when,what\n' }, ['balances'], 65, 'prices.csv:1: expected the columns at,currency,price,source'],
    [{ prices: 'at,currency,price,source\n2026-12-01T00:00:00Z,btc,0,x\n' }, ['balances'], 65, 'prices.csv:2: expected a price above zero, got "0"'],
    [{ prices: 'at,currency,price,source\n2026-12-01T00:00:00Z,btc,1\n' }, ['balances'], 65, 'prices.csv:2: expected 4 cells'],
    [{}, ['roll-forward', '--from', '2026-12-02T00:00:00Z', '--until', '2026-12-01T00:00:00Z'], 64, '--until must be after --from'],
    [{}, ['roll-forward', '--from', '2026-12-01T00:00:00Z', '--until', '2027-12-01T00:00:00Z'], 65, 'no price of btc at 2027-12-01'],
    [{}, ['export', '--format', 'parquet'], 64, 'name the output file with --out FILE'],
    [{}, ['export', '--format', 'beancount', '--from', '2026-12-01T00:00:00Z'], 64, 'needs all entries'],
  ] as const)('says what is wrong and how to correct it: %o %o', async (desk, line, code, says) => {
    const { run } = aDesk(desk);
    const ran = await run(...line);
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(says)]);
  }); // prettier-ignore
});
