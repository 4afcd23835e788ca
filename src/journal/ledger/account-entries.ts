import { NO_QUANTITY, add, isAboveZero, negate, quantity } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import { balanceSteps } from '../account-history.ts';
import type { BalanceStep, HistoryRow } from '../account-history.ts';
import { movementPostings, tradePostings } from './entries.ts';
import type { Account, Entry, Posting } from './entries.ts';

const COUNTER_ACCOUNTS: Readonly<Record<string, Account>> = {
  deposit: 'Equity:Deposits',
  withdraw: 'Equity:Withdrawals',
  credit: 'Income:Credits',
  charge: 'Expenses:Charges',
};

/**
 * Returns the entries of the account's history: opening balances first, then movements and trades. Rows come in the order of their
 * balances, because the change of the balance, not the name of the action, tells which way the money moved. `known` holds what the
 * journal contains: its orders, whose trades it books, and the ids of rows of these orders, including their fees.
 */
export function accountEntries(
  rows: readonly HistoryRow[],
  known: { readonly orders: Pick<ReadonlyMap<string, unknown>, 'has'>; readonly rows: ReadonlySet<string> },
): readonly Entry[] {
  const steps = [...balanceSteps(rows)];
  const start = instant(rows.reduce((first, { at }) => Math.min(first, at), Infinity));
  const openings = steps.map(({ row, opening }): Entry => {
    const postings = movementPostings(row.currency, opening, 'Equity:Opening-Balances');
    return { ...entryOf([row], postings), id: `opening ${row.currency}`, at: start, description: 'held before' };
  });
  const isKnown = ({ row }: BalanceStep): boolean =>
    known.rows.has(String(row.id)) || (isTrade(row) && known.orders.has(row.client_order_id));
  const unknown = steps.filter((step) => !isKnown(step));
  const movements = unknown.filter(({ row }) => !isTrade(row)).flatMap(movementEntries);
  const trades = Map.groupBy(unknown.filter(({ row }) => isTrade(row)), ({ row: { id, order_id: order, trade_id: trade } }) =>
    order === '' && trade === '' ? String(id) : `${order} ${trade}`);
  return [...openings, ...movements, ...[...trades.values()].flatMap(tradeEntries)].filter(({ postings }) =>
    postings.some((posting) => !posting.quantity.isZero()));
} // prettier-ignore

const isTrade = ({ action }: HistoryRow): boolean => /^(?:buy|sell)$/iu.test(action);

/** Below zero for a rebate. */
const feesOf = ({ fees, transfer_fee: transfer }: HistoryRow): Quantity =>
  add(quantity(fees), quantity(transfer));

function movementEntries({ row, change }: BalanceStep): readonly Entry[] {
  const fee = feesOf(row);
  const action = row.action.toLowerCase();
  // The venue has no action for interest, only a charge that mentions it.
  const isInterest = action === 'charge' && /\binterest\b/iu.test(row.description);
  const counter = isInterest ? 'Expenses:Interest' : (COUNTER_ACCOUNTS[action] ?? 'Equity:Other');
  return [
    entryOf([row], movementPostings(row.currency, add(change, fee), counter)),
    asFee(entryOf([row], movementPostings(row.currency, negate(fee), 'Expenses:Transfer-Fees'))),
  ];
}

/** The rows of one trade: a trade of two currencies, or, if they are anything else, movements that a person must name. */
function tradeEntries(steps: readonly BalanceStep[]): readonly Entry[] {
  const sums = new Map<string, { readonly quantity: Quantity; readonly fee: Quantity }>();
  for (const { row, change } of steps) {
    const fee = feesOf(row);
    const sum = sums.get(row.currency) ?? { quantity: NO_QUANTITY, fee: NO_QUANTITY };
    sums.set(row.currency, { quantity: add(add(sum.quantity, change), fee), fee: add(sum.fee, fee) });
  }
  const rows = steps.map(({ row }) => row);
  const pair = rows[0]?.pair.toLowerCase().replaceAll(/[^a-z\d]/gu, '');
  const legs = [...sums].map(([currency, sum]) => ({ currency, ...sum }));
  const base = legs.find(({ currency }) => legs.some((leg) => pair === currency + leg.currency)) ?? legs[0];
  const quote = legs.find((leg) => leg !== base);
  if (base === undefined || quote === undefined || legs.length > 2 || isAboveZero(base.quantity) === isAboveZero(quote.quantity))
    return steps.flatMap(movementEntries);
  return [
    entryOf(rows, tradePostings({ currency: base.currency, quantity: base.quantity }, quote, quote.fee)),
    asFee(entryOf(rows, movementPostings(base.currency, negate(base.fee), 'Expenses:Trading-Fees'))),
  ];
} // prettier-ignore

const asFee = (entry: Entry): Entry => ({ ...entry, id: `${entry.id} fee` });

function entryOf(rows: readonly HistoryRow[], postings: readonly Posting[]): Entry {
  const [{ id, at, action, description } = { id: 0, at: 0, action: '', description: '' }] = rows;
  return {
    id: `transaction ${id}`,
    at: instant(at),
    description: `${action} ${description}`.trim(),
    postings,
    tags: { transactions: rows.map((row) => row.id).join(' ') },
  };
}
