import { price } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { ParentFacts } from './facts.ts';
import type { PriceBook, Seen } from './prices.ts';

/** A decision within this time of the slot was on time, so the decision price is the price of the slot. */
const ON_TIME_MS = SECOND_MS;
/** A journal price further away from a slot than this does not apply to it. */
export const SLOT_AGE_MAX_MS = 5 * MINUTE_MS;

/** Reference prices of a parent. */
interface Begin {
  readonly arrival: Price | undefined;
  readonly decision: Seen | undefined;
}

/** For a parent without any attempt, both prices are the price at its due time, so that its whole cost is opportunity. */
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
 * The price when the parent was due. For a parent on time, the arrival price; for a late one, the price at the slot if
 * known: an unknown price adds no delay cost.
 */
function decisionOf(
  { pair, decidedAt, begunAt, arrival: noted }: ParentFacts,
  arrival: Price,
  prices: PriceBook,
): Seen {
  const late = begunAt - decidedAt > ON_TIME_MS ? prices.midAt(pair, decidedAt, SLOT_AGE_MAX_MS) : undefined;
  return late ?? { price: arrival, at: begunAt, from: noted === undefined ? 'prices' : 'journal' };
}
