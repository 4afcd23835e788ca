import { add, scale, ratioOf } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';

/** Factors of the cost of trading that are reported: none, as it was, twice. */
export const COST_TIMES = [0, 1, 2] as const;

/**
 * What a sum that holds a cost would be if the same fills had cost this many times as much: no fill is simulated again, and no fill
 * changes.
 */
export const atCosts = (
  sum: Money,
  cost: Money,
): readonly { readonly times: number; readonly sum: Money }[] =>
  COST_TIMES.map((times) => ({ times, sum: add(sum, scale(cost, ratioOf(times - 1))) }));
