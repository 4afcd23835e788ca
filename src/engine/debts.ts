import { negate } from '../core/money.ts';
import type { Debt } from '../core/settling.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { DeskState } from './desk-state.ts';

type Books = Pick<DeskState, 'balances' | 'owedSince'>;

/**
 * Keeps since when each balance is below zero: one that has come to be since the last look may be so since `since`, the
 * last moment at which it was known not to be.
 */
export function noteDebts({ balances, owedSince }: Books, since: Instant): void {
  for (const currency of owedSince.keys())
    if (balances?.get(currency)?.lt(0) !== true) owedSince.delete(currency);
  if (balances === undefined) return;
  for (const [currency, balance] of balances)
    if (balance.lt(0) && !owedSince.has(currency)) owedSince.set(currency, since);
}

/** What the account owes, by currency. */
export function debtsOf({ balances, owedSince }: Books): ReadonlyMap<string, Debt> {
  const debts = new Map<string, Debt>();
  if (balances === undefined) return debts;
  for (const [currency, balance] of balances)
    if (balance.lt(0))
      debts.set(currency, { amount: negate(balance), since: owedSince.get(currency) ?? instant(0) });
  return debts;
}
