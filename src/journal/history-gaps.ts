import { add, NO_QUANTITY, quantity, subtract, text } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';
import type { HistoryRow } from './account-history.ts';

/** A place where the balances of a currency do not follow from one another: a row is missing, or one is wrong. */
export interface Gap {
  readonly currency: string;
  /** Row before, 0 where the first row of a currency does not begin with an empty account. */
  readonly after: number;
  readonly id: number;
  /** Unix ms of the row after the gap. */
  readonly at: number;
  /** Balance after the row before. */
  readonly from: string;
  /** What the row says moved, fees aside. */
  readonly amount: string;
  /** Balance after the row. */
  readonly to: string;
  /** What is not explained: positive when money came that no row shows. */
  readonly missing: string;
}

/**
 * Follows the balance of each currency through its done rows. A row explains a step of the balance by its amount, with or
 * without its fees: samples of the venue leave open whether `amount` of which action already holds them. The first row of a
 * currency must explain its own balance when the history is whole from the start (`isFromStart`).
 */
export function* findGaps(
  rows: Iterable<HistoryRow>,
  { isFromStart }: { isFromStart: boolean },
): Generator<Gap> {
  const last = new Map<string, { readonly id: number; readonly balance: Quantity }>();
  for (const row of rows) {
    if (row.status.toLowerCase() !== 'done') continue; // the balance does not move before
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

/** What a row may have moved its balance by. The first is the plainest: its amount less all fees. */
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
