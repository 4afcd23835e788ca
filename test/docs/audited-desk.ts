import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { add, money, negate, text } from '../../src/core/money.ts';
import { HISTORY_COLUMNS, openHistory } from '../../src/journal/account-history.ts';
import type { HistoryRow } from '../../src/journal/account-history.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { appendNow } from '../journal/records.ts';
import { packRecords } from '../report/pack-records.ts';
import { NINE } from '../report/records.ts';

const EMPTY = Object.fromEntries(HISTORY_COLUMNS.map((name) => [name, '']));

/** The files of the desk that docs/auditing.md is about: its journal, the history of its account, and the settings of its books. */
export function anAuditedDesk(folder: string): void {
  const records = packRecords();
  const journal = sqliteJournal(join(folder, 'desk.db'));
  for (const { at, body } of records) appendNow(journal, [body], at);
  journal.close();

  const history = openHistory(join(folder, 'history.db'), { account: 'a' });
  const rows: HistoryRow[] = [];
  let [usd, btc] = [money('10000'), money('0')];
  const row = (at: number, over: Partial<HistoryRow>): void => {
    rows.push({
      ...EMPTY,
      id: rows.length + 1,
      at,
      status: 'done',
      amount: '0',
      fees: '0',
      transfer_fee: '0',
      ...over,
    } as HistoryRow); // oxlint-disable-line typescript/no-unsafe-type-assertion -- all the columns
  };
  row(NINE - 2000, { action: 'Deposit', currency: 'usd', amount: '10000', balance: '10000' });
  for (const { body } of records) {
    if (body.kind !== 'fill') continue;
    btc = add(btc, money(body.quantity));
    usd = add(usd, negate(add(money(body.amount), money(body.fees))));
    const fill = { action: 'Buy', pair: body.pair, client_order_id: body.client_order_id };
    row(body.executed_at, { ...fill, currency: 'btc', amount: body.quantity, balance: text(btc) });
    row(body.executed_at, {
      ...fill,
      currency: 'usd',
      amount: `-${body.amount}`,
      fees: body.fees,
      balance: text(usd),
    });
  }
  history.keep(rows, { completeTo: records.at(-1)?.at ?? NINE, walk: undefined });
  history.close();
  writeFileSync(join(folder, 'books.yaml'), 'method: fifo\nhistory: history.db\n');
}
