import { isBelowZero, negate, ratio, scale } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import type { Debt } from '../../core/risk/settling.ts';
import { DAY_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
/** A past debt: the largest amount owed, when it began, and, once repaid, when that happened. */
export interface FormerDebt {
  readonly since: Instant;
  readonly most: Quantity;
  readonly endedAt?: Instant | undefined;
}

interface Balances {
  readonly balances: ReadonlyMap<string, Quantity> | undefined;
  /** The earliest time from which each balance may have been below zero. */
  readonly owedSince: Map<string, Instant>;
  /** The newest debt of each currency, repaid or not. */
  readonly formerDebts: Map<string, FormerDebt>;
}

/** A debt that appears within this time after a repayment, and is at most this share of the repaid debt, is interest on that debt. */
const INTEREST_MS = 7 * DAY_MS;
const INTEREST_SHARE = ratio('0.01');

/** The earliest and latest time at which a balance may have changed, and whether one of our orders changed it. */
export interface DebtChange {
  readonly since: Instant;
  readonly at: Instant;
  readonly isOwnTrade: boolean;
}

/**
 * Tracks since when each balance has been below zero. A balance that fell below zero since the last check may have done
 * so at `since`, the last time at which it was known not to be negative. Interest charged after a repayment belongs to
 * the repaid debt, so it has no grace period of its own.
 */
export function noteDebts({ balances, owedSince, formerDebts }: Balances, change: DebtChange): void {
  for (const currency of owedSince.keys()) {
    if (balances?.get(currency)?.lt(0) === true) continue;
    const former = formerDebts.get(currency);
    if (former !== undefined) formerDebts.set(currency, { ...former, endedAt: change.at });
    owedSince.delete(currency);
  }
  if (balances === undefined) return;
  for (const [currency, balance] of balances) {
    if (!isBelowZero(balance)) continue;
    const amount = negate(balance);
    const former = formerDebts.get(currency);
    const known = owedSince.get(currency);
    if (known !== undefined) {
      if (former?.most.gte(amount) !== true) formerDebts.set(currency, { since: known, most: amount });
      continue;
    }
    const isInterest =
      !change.isOwnTrade &&
      former?.endedAt !== undefined &&
      change.at - former.endedAt <= INTEREST_MS &&
      amount.lte(scale(former.most, INTEREST_SHARE));
    if (isInterest) owedSince.set(currency, former.since);
    else {
      owedSince.set(currency, change.since);
      formerDebts.set(currency, { since: change.since, most: amount });
    }
  }
}

/** What the account owes, by currency. */
export function debtsOf({
  balances,
  owedSince,
}: Pick<Balances, 'balances' | 'owedSince'>): ReadonlyMap<string, Debt> {
  const debts = new Map<string, Debt>();
  if (balances === undefined) return debts;
  for (const [currency, balance] of balances)
    if (balance.lt(0))
      debts.set(currency, { amount: negate(balance), since: owedSince.get(currency) ?? instant(0) });
  return debts;
}
