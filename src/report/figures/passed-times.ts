import { add, cost, money, NO_MONEY, quantity, quantityDown, subtract } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import { SLOT_AGE_MAX_MS } from './arrival-price.ts';
import type { MissedFacts } from './facts.ts';
import type { PriceBook } from './prices.ts';
import { against, QUANTITY_DECIMALS, tradedFrom } from './shortfall.ts';
import type { ParentFigures } from './shortfall.ts';

/** The later cost of slots that passed without an attempt. It is part of trading and opportunity cost, not additional. */
export interface Passed {
  readonly slots: number;
  /** Number of slots that are not included, because their time, size or price is unknown, or because their parent has no cost. */
  readonly withoutPrice: number;
  /** `Σ s·u·(P_later − m(slot))`; positive is bad. */
  readonly cost: Money;
}

export function passedOf(parents: readonly ParentFigures[], prices: PriceBook): Passed {
  let [slots, withoutPrice, sum] = [0, 0, NO_MONEY];
  for (const parent of parents)
    for (const slot of parent.facts.missed) {
      const one = costOf(slot, parent, prices);
      slots++;
      if (one === undefined) withoutPrice++;
      else sum = add(sum, one);
    }
  return { slots, withoutPrice, cost: sum };
}

/** At the next fill of its parent, otherwise at the end of the parent. */
function costOf({ at, due, size }: MissedFacts, parent: ParentFigures, prices: PriceBook): Money | undefined {
  const { pair, side, by, fills } = parent.facts;
  if (due === undefined || size === undefined || parent.shortfall === undefined) return undefined;
  const then = prices.midAt(pair, due, SLOT_AGE_MAX_MS)?.price;
  const later = tradedFrom(fills, at) ?? parent.end?.price;
  if (then === undefined || later === undefined) return undefined;
  const wanted = by === 'quantity' ? quantity(size) : quantityDown(money(size), then, QUANTITY_DECIMALS);
  return against(side, cost(subtract(later, then), wanted));
}
