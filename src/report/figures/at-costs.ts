import { add, scale, ratioOf, text } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';

/** Factors of the trading cost that are reported: none, actual, double. */
export const COST_TIMES = [0, 1, 2] as const;

/** A sum that includes a cost, recomputed for each factor of that cost. The fills stay the same; no fill is simulated again. */
export const atCosts = (
  sum: Money,
  cost: Money,
): readonly { readonly times: number; readonly sum: string }[] =>
  COST_TIMES.map((times) => ({ times, sum: text(add(sum, scale(cost, ratioOf(times - 1)))) }));
