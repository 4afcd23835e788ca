import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { addAccounting } from '../../../src/app/accounting/accounting-cli.ts';
import type { RecordBody } from '../../../src/core/record.ts';
import { after, instant } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import { HISTORY_COLUMNS, openHistory } from '../../../src/journal/account-history.ts';
import type { HistoryRow } from '../../../src/journal/account-history.ts';
import { sqliteJournal } from '../../../src/journal/sqlite/sqlite.ts';
import { NINE, aFill, aStart, idOf } from '../../report/records.ts';
import { appendNow } from '../../journal/records.ts';
import { runLine } from '../support/cli.ts';
import type { Ran } from '../support/cli.ts';

export const fills: readonly RecordBody[] = [
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

export const aRow = (id: number, over: Partial<HistoryRow>): HistoryRow =>
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

/** The same trades as rows of the account, with rows that the journal lacks: a deposit, interest, and a manual trade. */
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

export interface BooksDesk {
  readonly run: (...line: readonly string[]) => Promise<Ran>;
  /** Runs the command at another time. */
  readonly runAt: (now: Instant, ...line: readonly string[]) => Promise<Ran>;
  readonly folder: string;
  readonly journal: string;
  /** Adds rows to the history of the account. */
  readonly show: (...rows: readonly HistoryRow[]) => void;
  readonly append: (body: RecordBody, at: Instant) => void;
}

/** A folder with a journal, the history of its account, prices, and the settings of the books. */
export function aDesk({
  settings = 'method: fifo\nhistory: history.db\nprices: prices.csv\n',
  bodies = fills,
  prices = PRICES,
} = {}): BooksDesk {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-accounting-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'journal.db');
  const append = (body: RecordBody, at: Instant): void => {
    const journal = sqliteJournal(file);
    appendNow(journal, [body], at);
    journal.close();
  };
  const show = (...more: readonly HistoryRow[]): void => {
    const history = openHistory(join(folder, 'history.db'), { account: 'a' });
    history.keep(more, { completeTo: NINE, walk: undefined });
    history.close();
  };
  for (const [n, body] of bodies.entries()) append(body, after(NINE, n * 60_000));
  show(...rows);
  writeFileSync(join(folder, 'prices.csv'), prices);
  writeFileSync(join(folder, 'books.yaml'), settings);
  const runAt: BooksDesk['runAt'] = async (now, command, ...line) =>
    await runLine(addAccounting, ['accounting', command ?? '', file, ...line], {
      cwd: folder,
      now,
      config: 'config/paper.yaml',
      env: { USER: 'ann' },
    });
  return {
    folder,
    journal: file,
    append,
    show,
    runAt,
    run: async (...line) => await runAt(instant(NINE), ...line),
  };
}
