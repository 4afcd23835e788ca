import { readFileSync } from 'node:fs';
import { OperatorError } from '../../../core/errors.ts';
import { text } from '../../../core/money.ts';
import { isoOf } from '../../../core/time.ts';
import { isDone } from '../../../journal/account-history.ts';
import type { HistoryRow } from '../../../journal/account-history.ts';
import { transactionDetailsSchema } from '../../../wire/account.ts';
import type { TransactionDetail } from '../../../wire/account.ts';
import { readBody } from '../../../wire/message.ts';

/**
 * Reads a file with pages of the account's transactions, one page a line, as `tranche account transactions --json` prints them, in any
 * order. Pages may overlap: a later copy of a row replaces an earlier one, and a done row replaces the pending rows of its account
 * transaction, because a settled row may have a new id (beyond the spec, 9.4).
 *
 * @throws OperatorError `storage`, or `data` with the line at fault.
 */
export function readHistory(file: string): readonly HistoryRow[] {
  const rows = new Map<number, HistoryRow>();
  for (const [n, line] of linesOf(file).entries()) {
    if (line.trim() === '') continue;
    for (const row of pageOf(line, `${file}:${n + 1}`)) rows.set(row.id, row);
  }
  const all = [...rows.values()];
  const settled = new Set(all.filter(isDone).map(({ account_transaction_id: id }) => id));
  return all.filter((row) => isDone(row) || row.account_transaction_id === '' || !settled.has(row.account_transaction_id)); // prettier-ignore
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (cause) {
    throw new OperatorError('storage', `the history ${file} cannot be read`, cause);
  }
}

function pageOf(line: string, where: string): readonly HistoryRow[] {
  let page: readonly TransactionDetail[];
  try {
    page = transactionDetailsSchema.parse(readBody(line));
  } catch (cause) {
    throw new OperatorError('data', `${where}: expected a page that "tranche account transactions --json" printed`, cause); // prettier-ignore
  }
  return page.map((row) => rowOf(row, where));
}

/** Any other time of a transaction is in another unit. */
const TIMES = { from: Date.UTC(2009), until: Date.UTC(2100) };

function rowOf(row: TransactionDetail, where: string): HistoryRow {
  const id = Number(row.id);
  const problem = row.spoiled === undefined ? 'an id that is no whole number' : `an unreadable ${row.spoiled.join(', ')}`; // prettier-ignore
  if (row.spoiled !== undefined || !Number.isSafeInteger(id))
    throw new OperatorError('data', `${where}: transaction ${row.id} has ${problem}`);
  if (row.at < TIMES.from || row.at >= TIMES.until)
    throw new OperatorError(
      'data',
      `${where}: transaction ${id} is of ${isoOf(row.at)}: its time is not in milliseconds`,
    );
  const isUnsigned =
    row.balance === undefined && /^(?:withdraw|charge)$/u.test(row.action) && row.amount.gt(0);
  if (isUnsigned && row.status.toLowerCase() === 'done')
    throw new OperatorError('data', `${where}: transaction ${id} (${row.action}) is above zero and shows no balance: whether ${text(row.amount)} ${row.currency} came in or went out is unknown`); // prettier-ignore
  return {
    id,
    at: row.at,
    action: row.action === 'other' ? row.sentAction || 'other' : row.action,
    currency: row.currency,
    amount: text(row.amount),
    fees: text(row.fees),
    transfer_fee: text(row.transferFee),
    balance: row.balance === undefined ? '' : text(row.balance),
    status: row.status,
    pair: row.pair,
    order_id: row.orderId ?? '',
    client_order_id: row.clientId ?? '',
    trade_id: row.tradeId ?? '',
    account_transaction_id: row.accountTransactionId,
    description: row.description,
  };
}
