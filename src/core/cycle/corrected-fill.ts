import { fraction, money, roundUp, scale, text } from '../money.ts';
import type { CorrectionRecord, FillRecord } from '../record.ts';

/** Applies a correction to a fill. Its value in the currency of the limits scales with its amount. */
export function corrected(fill: FillRecord, by: CorrectionRecord): FillRecord {
  return {
    ...fill,
    quantity: by.quantity,
    price: by.price,
    amount: by.amount,
    fees: by.fees,
    notional_usd: notionalOf(fill, by.amount),
    other_fees: by.other_fees,
    rows: by.rows,
    missing: by.missing,
  };
}

function notionalOf(fill: FillRecord, amount: string): string {
  const before = money(fill.amount);
  if (fill.notional_usd === fill.amount || before.isZero()) return amount;
  // Truncated like every other notional, because a quotient with endless digits could not be read back.
  return text(roundUp(scale(money(fill.notional_usd), fraction(money(amount), before)), 8));
}
