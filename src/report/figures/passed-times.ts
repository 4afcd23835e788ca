import { add, cost, money, NO_MONEY, quantity, quantityDown, subtract } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import { SLOT_AGE_MAX_MS } from './arrival-price.ts';
import type { MissedFacts } from './facts.ts';
import type { PriceBook } from './prices.ts';
import { against, QUANTITY_DECIMALS, tradedFrom } from './shortfall.ts';
import type { ParentFigures } from './shortfall.ts';

/** Slots that passed without an attempt, and their later cost, exact, as `report.json` describes them. */
export interface Passed {
  readonly passed_slots: number;
  readonly passed_without_price: number;
  readonly passed_cost: Money;
}

export function passedOf(parent: ParentFigures, prices: PriceBook): Passed {
  const costs = parent.facts.missed.map((slot) => costOf(slot, parent, prices));
  return {
    passed_slots: costs.length,
    passed_without_price: costs.filter((one) => one === undefined).length,
    passed_cost: costs.reduce<Money>((sum, one) => add(sum, one ?? NO_MONEY), NO_MONEY),
  };
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
