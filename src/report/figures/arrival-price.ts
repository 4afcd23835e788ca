import { price } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { ParentFacts } from './facts.ts';
import type { PriceBook, Seen } from './prices.ts';

/** A decision this soon after the slot counts as on time, so that the slot's price is the decision price. */
const ON_TIME_MS = SECOND_MS;
/** A journal price that is further away from a slot than this does not apply to the slot. */
export const SLOT_AGE_MAX_MS = 5 * MINUTE_MS;

/** Reference prices of a parent. */
interface Begin {
  readonly arrival: Price | undefined;
  readonly decision: Seen | undefined;
}

/** For a parent without any attempt, both are the price when it was due, so that its whole cost is opportunity cost. */
export function arrivalPricesOf(parent: ParentFacts, prices: PriceBook): Begin {
  if (parent.unbegun !== undefined) {
    const due = prices.midAt(parent.pair, parent.decidedAt, SLOT_AGE_MAX_MS);
    return { arrival: due?.price, decision: due };
  }
  const noted = parent.arrival ?? prices.tapeAt(parent.pair, parent.begunAt)?.price.toFixed();
  const arrival = noted === undefined ? undefined : price(noted);
  return { arrival, decision: arrival === undefined ? undefined : decisionOf(parent, arrival, prices) };
}

/**
 * The price when the parent was due. For a parent on time, this is the arrival price. For a late parent, it is the
 * price at the slot if that is known, because an unknown price must not add a delay cost.
 */
function decisionOf(
  { pair, decidedAt, begunAt, arrival: noted }: ParentFacts,
  arrival: Price,
  prices: PriceBook,
): Seen {
  const late = begunAt - decidedAt > ON_TIME_MS ? prices.midAt(pair, decidedAt, SLOT_AGE_MAX_MS) : undefined;
  return late ?? { price: arrival, at: begunAt, from: noted === undefined ? 'prices' : 'journal' };
}
