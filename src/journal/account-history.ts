import { add, negate, NO_QUANTITY, quantity, subtract } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';

/** One transaction of the account's history. Amounts are text, digit for digit; fields that the venue omits are empty text. */
export interface HistoryRow {
  readonly id: number;
  /** Unix ms. */
  readonly at: number;
  readonly action: string;
  readonly currency: string;
  readonly amount: string;
  readonly fees: string;
  readonly transfer_fee: string;
  readonly balance: string;
  readonly status: string;
  readonly pair: string;
  readonly order_id: string;
  readonly client_order_id: string;
  readonly trade_id: string;
  readonly account_transaction_id: string;
  readonly description: string;
}

export const isDone = ({ status }: HistoryRow): boolean => status.toLowerCase() === 'done';

/** A completed row, and how it changed the balance of its currency. */
export interface BalanceStep {
  readonly row: HistoryRow;
  /** What the currency held before its first row; 0 for all but the first row that shows a balance. */
  readonly opening: Quantity;
  /** The change that the row explains. */
  readonly change: Quantity;
  /** The unexplained rest of the change. */
  readonly missing: Quantity;
}

/**
 * Follows the balance of each currency through its completed rows. A row explains a step of the balance by its amount,
 * with or without fees, because the venue's samples leave open which actions include fees in `amount`. Nothing can follow from a
 * row for which the venue states no balance.
 */
export function* balanceSteps(rows: Iterable<HistoryRow>): Generator<BalanceStep> {
  const last = new Map<string, { readonly balance: Quantity; readonly isShown: boolean }>();
  const opened = new Set<string>();
  for (const row of rows) {
    if (!isDone(row)) continue; // the balance does not change before
    const { currency } = row;
    const before = last.get(currency) ?? { balance: NO_QUANTITY, isShown: true };
    const [nearest = NO_QUANTITY, ...others] = explanations(row);
    const isShown = row.balance !== '';
    const step = isShown ? subtract(quantity(row.balance), before.balance) : nearest;
    const change = others.find((each) => each.eq(step)) ?? nearest;
    const rest = subtract(step, change);
    last.set(currency, { balance: add(before.balance, step), isShown });
    const opening = opened.has(currency) ? NO_QUANTITY : rest;
    if (isShown) opened.add(currency);
    yield { row, opening, change, missing: before.isShown ? subtract(rest, opening) : NO_QUANTITY };
  }
}

/**
 * Returns rows in the order in which balances follow one another best. This is usually chronological order. A venue that
 * books parts of an order late, with the time of their execution, computes the balances in the order of the ids.
 */
export function inBalanceOrder(rows: readonly HistoryRow[]): readonly HistoryRow[] {
  const gaps = (ordered: readonly HistoryRow[]): number =>
    [...balanceSteps(ordered)].filter(({ missing }) => !missing.isZero()).length;
  const byTime = rows.toSorted((a, b) => a.at - b.at || a.id - b.id);
  const byId = rows.toSorted((a, b) => a.id - b.id);
  return gaps(byId) < gaps(byTime) ? byId : byTime;
}

/**
 * Possible balance changes of a row, the simplest first: its amount minus all fees. Only for the legs of trades does the venue say that
 * an outgoing amount is negative.
 */
function explanations(row: HistoryRow): readonly Quantity[] {
  const amount = quantity(row.amount);
  const fees = quantity(row.fees);
  const transferFee = quantity(row.transfer_fee);
  const amounts = /^(?:buy|sell)$/iu.test(row.action) ? [amount] : [amount, negate(amount)];
  return amounts.flatMap((each) => [
    subtract(each, fees),
    subtract(each, transferFee),
    subtract(each, add(fees, transferFee)),
    each,
  ]);
}
