import { add, NO_QUANTITY, quantity, subtract, text } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';
import type { HistoryRow, HistoryStore, RowOrder } from './account-history.ts';

/** A place where the balances of a currency do not follow from one another, because a row is missing or wrong. */
export interface Gap {
  readonly currency: string;
  /** Previous row; 0 if the first row of a currency does not start from an empty account. */
  readonly after: number;
  readonly id: number;
  /** Unix ms of the row after the gap. */
  readonly at: number;
  /** Balance after the previous row. */
  readonly from: string;
  /** The amount of the row, without fees. */
  readonly amount: string;
  /** Balance after the row. */
  readonly to: string;
  /** The unexplained difference. It is positive if money arrived that no row shows. */
  readonly missing: string;
}

/**
 * Follows the balance of each currency through its completed rows. A row explains a step of the balance by its amount,
 * with or without fees, because the venue's samples leave open which actions include fees in `amount`. If the history
 * is complete (`isFromStart`), the first row of a currency must explain its own balance.
 */
export function* findGaps(
  rows: Iterable<HistoryRow>,
  { isFromStart }: { isFromStart: boolean },
): Generator<Gap> {
  const last = new Map<string, { readonly id: number; readonly balance: Quantity }>();
  for (const row of rows) {
    if (row.status.toLowerCase() !== 'done') continue; // the balance does not change before
    const before = last.get(row.currency) ?? (isFromStart ? { id: 0, balance: NO_QUANTITY } : undefined);
    const balance = quantity(row.balance);
    last.set(row.currency, { id: row.id, balance });
    if (before === undefined) continue;
    const step = subtract(balance, before.balance);
    const nearest = explanations(row)[0] ?? NO_QUANTITY;
    if (explanations(row).some((each) => each.eq(step))) continue;
    yield {
      currency: row.currency,
      after: before.id,
      id: row.id,
      at: row.at,
      from: text(before.balance),
      amount: row.amount,
      to: text(balance),
      missing: text(subtract(step, nearest)),
    };
  }
}

/**
 * The order of rows in which balances follow one another, with the remaining gaps. This is usually chronological order.
 * A venue that books parts of an order late, with the time of their execution, computes the balances in the order of
 * the ids.
 */
export function balanceOrder(
  store: Pick<HistoryStore, 'rows'>,
  span: { isFromStart: boolean },
): { readonly order: RowOrder; readonly gaps: readonly Gap[] } {
  const gapsBy = (order: RowOrder): readonly Gap[] => [...findGaps(store.rows(order), span)];
  const byTime = gapsBy('time');
  const byId = byTime.length === 0 ? byTime : gapsBy('id');
  return byId.length < byTime.length ? { order: 'id', gaps: byId } : { order: 'time', gaps: byTime };
}

/** Possible balance changes of a row, the simplest first: its amount minus all fees. */
function explanations(row: HistoryRow): readonly Quantity[] {
  const amount = quantity(row.amount);
  const fees = quantity(row.fees);
  const transferFee = quantity(row.transfer_fee);
  return [
    subtract(amount, fees),
    subtract(amount, transferFee),
    subtract(amount, add(fees, transferFee)),
    amount,
  ];
}
