import { greatest, NO_QUANTITY, price, quantity } from '../core/money.ts';
import type { Price, Quantity } from '../core/money.ts';
import type { IntentText } from '../core/record.ts';
import type { Refusal } from '../core/refusal.ts';
import { isBudgetSpent, requoteMs, tacticRefusal } from '../core/tactics.ts';
import type { KnownPrices } from '../core/tactics.ts';
import type { Desk } from './desk.ts';
import type { OpenSlice } from './desk-state.ts';

/** The prices that the tactics of a slice are held against, with `mid` as the price of the moment. */
export function knownPrices(
  desk: Desk,
  { parent, decision_price: decision }: IntentText,
  mid: Price,
): KnownPrices {
  return {
    mid,
    decision: decision === undefined ? undefined : price(decision),
    arrival: desk.state.totals.parent(parent)?.arrival,
  };
}

/** Why a quote, or a price that one may come at, is too dear for the tactics of the slice. */
export const tacticFault = (
  desk: Desk,
  { intent }: OpenSlice,
  { price: each, mid }: { readonly price: Price; readonly mid: Price },
): Refusal | undefined =>
  tacticRefusal(intent.tactics, { side: intent.side, price: each }, knownPrices(desk, intent, mid));

/** What must stay of a currency: the reserve of the desk, or that of the strategy when it is larger. */
export function keepOf(desk: Desk, { tactics }: IntentText, currency: string): Quantity | undefined {
  const ofDesk = desk.policy.keep?.get(currency);
  if (tactics?.keep === undefined) return ofDesk;
  return greatest(quantity(tactics.keep), ofDesk ?? NO_QUANTITY);
}

/** Each wait of a slice is drawn by its own number: no slice has so many attempts. */
const TURNS = 10_000;

/** How long a slice waits after a quote that did not suit, milliseconds. */
export const waitOf = (desk: Desk, { intent, attempts }: OpenSlice): number =>
  requoteMs(intent.tactics, desk.policy.retry.requoteMs, intent.slice * TURNS + attempts);

/** Whether the slice may ask for no further quote, because none of its last ones led to a trade. */
export const hasNoQuotesLeft = ({ intent, attempts, settled }: OpenSlice): boolean =>
  isBudgetSpent(intent.tactics, attempts - settled);
