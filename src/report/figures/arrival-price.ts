import { price } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { ParentFacts } from './facts.ts';
import type { PriceBook, Seen } from './prices.ts';

/** Who decided so soon after the slot was on time: the price of the slot is the price of the decision. */
const ON_TIME_MS = SECOND_MS;
/** A price of the journal says nothing about a slot that is further away than this. */
export const SLOT_AGE_MAX_MS = 5 * MINUTE_MS;

/** Prices that a parent is measured from. */
interface Begin {
  readonly arrival: Price | undefined;
  readonly decision: Seen | undefined;
}

/** Both are the price when it was due for a parent of which nothing was ever tried: all of it is opportunity then. */
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
 * The price when the parent was due. Who began on time has that of arrival; who began late has that of the slot, as far as it
 * is known: a price that nobody knows adds no delay.
 */
function decisionOf(
  { pair, decidedAt, begunAt, arrival: noted }: ParentFacts,
  arrival: Price,
  prices: PriceBook,
): Seen {
  const late = begunAt - decidedAt > ON_TIME_MS ? prices.midAt(pair, decidedAt, SLOT_AGE_MAX_MS) : undefined;
  return late ?? { price: arrival, at: begunAt, from: noted === undefined ? 'prices' : 'journal' };
}
