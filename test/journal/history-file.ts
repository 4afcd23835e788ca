import { writeFileSync } from 'node:fs';
import type { HistoryRow } from '../../src/journal/account-history.ts';

export const aHistoryRow = (over: Partial<HistoryRow>): HistoryRow => ({
  id: 1,
  at: Date.UTC(2026),
  action: 'deposit',
  currency: 'btc',
  amount: '0',
  fees: '0',
  transfer_fee: '0',
  balance: '',
  status: 'done',
  pair: '',
  order_id: '',
  client_order_id: '',
  trade_id: '',
  account_transaction_id: '',
  description: '',
  ...over,
});

/** Writes pages of rows as `tranche account transactions --json` prints them. */
export const writeHistory = (file: string, ...pages: readonly (readonly HistoryRow[])[]): void =>
  writeFileSync(file, pages.map((rows) => `${JSON.stringify(rows.map(sent))}\n`).join(''));

const sent = ({ at, transfer_fee: fee, balance, pair, account_transaction_id: atxid, ...row }: HistoryRow): object => ({
  ...row,
  atxid,
  timestamp: at,
  AccountTransferFee: fee,
  account_balance: balance,
  symbol: pair,
}); // prettier-ignore
