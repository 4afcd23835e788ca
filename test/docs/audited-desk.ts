import { join } from 'node:path';
import { add, money, negate, text } from '../../src/core/money.ts';
import type { HistoryRow } from '../../src/journal/account-history.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aHistoryRow, writeHistory } from '../journal/history-file.ts';
import { appendNow } from '../journal/records.ts';
import { overseenRecords } from '../report/overseen-records.ts';
import { NINE } from '../report/records.ts';

/** The files of the desk that docs/auditing.md is about: its journal, the history of its account. */
export function anAuditedDesk(folder: string): void {
  const records = overseenRecords();
  const journal = sqliteJournal(join(folder, 'desk.db'));
  for (const { at, body } of records) appendNow(journal, [body], at);
  journal.close();

  const rows: HistoryRow[] = [];
  let [usd, btc] = [money('10000'), money('0')];
  const row = (at: number, over: Partial<HistoryRow>): void => {
    rows.push(aHistoryRow({ id: rows.length + 1, at, ...over }));
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
  writeHistory(join(folder, 'history.jsonl'), rows);
}
