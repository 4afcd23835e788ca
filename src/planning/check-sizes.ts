import {
  approximate,
  cost,
  fraction,
  money,
  ONE,
  quantityUp,
  ratioOf,
  roundDown,
  roundUp,
  scale,
  text,
} from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { PIECES_MAX } from '../core/risk/sizing.ts';
import { figure, worthOf } from './plan.ts';
import type { Check, PlanFacts, PlannedSlice, PlannedStrategy, Worth } from './plan.ts';

/** Checks each slice against the venue's minimum and the per-order limits. */

interface Sized {
  readonly slice: PlannedSlice;
  readonly worth: Worth;
}

const sizedOf = (strategy: PlannedStrategy, facts: PlanFacts): readonly Sized[] =>
  strategy.slices
    .filter(({ closed }) => closed === undefined)
    .map((slice) => ({ slice, worth: worthOf(slice, facts) }));

/** A bound for every slice of a strategy, in one unit. */
interface Bound {
  /** What sets it: `its minimum`, or a setting. */
  readonly name: string;
  readonly bound: Quantity | Money | undefined;
  readonly unit: string;
  readonly of: (sized: Sized) => Quantity | Money | undefined;
}

/** A bound, and the sizes of the slices in its unit. */
interface Measured extends Bound {
  readonly bound: Quantity | Money;
  readonly sizes: readonly (Quantity | Money)[];
}

/** Calls `look` for each bound for which the sizes of all slices are known; reports the others as not done. */
const measured = (
  { check, id, all }: { readonly check: 'minimum' | 'limits'; readonly id: string; readonly all: readonly Sized[] },
  bounds: readonly Bound[],
  look: (measured: Measured) => Pick<Check, 'says' | 'fix'> | undefined,
): readonly Check[] =>
  bounds.flatMap((one): readonly Check[] => {
    const { bound, name, unit } = one;
    if (bound === undefined) return [];
    const sizes = all.map(one.of).filter((size) => size !== undefined);
    const pair = all[0]?.slice.pair ?? '';
    if (sizes.length < all.length) {
      const what = check === 'minimum' ? `${name} of ${text(bound)} ${unit}` : name;
      return [{ check, verdict: 'not_done', strategy: id, says: `${what} needs a price of ${pair}: give --price ${pair}=…` }];
    }
    const found = look({ ...one, bound, sizes });
    return found === undefined ? [] : [{ check, verdict: 'refused', strategy: id, ...found }];
  }); // prettier-ignore

export function checkMinimum(strategies: readonly PlannedStrategy[], facts: PlanFacts): readonly Check[] {
  return eachWithSlices(strategies, facts, 'minimum', ({ id }, all) => {
    const [first] = all;
    if (first === undefined) return [];
    const { pair, isEstimate } = first.slice;
    const { quantity, notional } = facts.minimum(pair);
    const names = facts.currencies(pair);
    const name = 'its minimum';
    const bounds: readonly Bound[] = [
      { name, bound: quantity, unit: names?.base ?? 'base', of: ({ worth }) => worth.quantity },
      // At its worst price, a buy is larger than at the market price. The smaller value counts here.
      { name, bound: notional, unit: names?.quote ?? 'quote', of: (one) => amountAtMarket(one, facts) },
    ];
    return measured({ check: 'minimum', id, all }, bounds, ({ bound, unit, sizes }) => {
      const smallest = sizes.reduce((a, b) => (b.lt(a) ? b : a));
      if (smallest.gte(bound)) return undefined;
      const most = feasibleSlices(all, smallest, { bound, facts });
      return {
        says: `its smallest slice is ${figure(smallest)} ${unit}, below the venue's minimum of ${text(bound)} ${unit}`,
        fix:
          isEstimate === true
            ? `min_trade_notional: ${text(bound)} ${unit} or more, or fewer slices in legs`
            : most < 1
              ? `increase the total: it is less than one slice of ${text(bound)} ${unit}`
              : `slices: ${most}, or fewer`,
      };
    });
  });
}

const amountAtMarket = ({ slice, worth }: Sized, facts: PlanFacts): Money | undefined => {
  if (slice.size.by === 'amount') return slice.size.amount;
  const mid = facts.price(slice.pair)?.mid;
  return mid === undefined ? worth.amount : cost(mid, slice.size.quantity);
};

/**
 * Maximum number of slices of which the smallest still meets the minimum. A slice in base currency is truncated to its
 * decimals, and the truncated size must be worth the minimum.
 */
function feasibleSlices(all: readonly Sized[], smallest: Quantity | Money, { bound, facts }: Floor): number {
  const [first] = all;
  const mid = first && facts.price(first.slice.pair)?.mid;
  const least = all.reduce<Quantity | undefined>((a, { slice: { size } }) => {
    if (size.by === 'amount') return a;
    return a === undefined || size.quantity.lt(a) ? size.quantity : a;
  }, undefined);
  const isInQuote = bound === facts.minimum(first?.slice.pair ?? '').notional;
  if (least === undefined || mid === undefined || !isInQuote)
    return Math.floor(approximate(scale(fraction<Quantity | Money>(smallest, bound), ratioOf(all.length))));
  const { basePrecision = DECIMALS } = facts.precisions(first?.slice.pair ?? '');
  const needed = quantityUp(money(text(bound)), mid, basePrecision);
  return Math.floor(approximate(scale(fraction(least, needed), ratioOf(all.length))));
}
const DECIMALS = 8;

interface Floor {
  readonly bound: Quantity | Money;
  readonly facts: PlanFacts;
}

export function checkOrderLimits(strategies: readonly PlannedStrategy[], facts: PlanFacts): readonly Check[] {
  const { limits } = facts;
  return eachWithSlices(strategies, facts, 'limits', ({ id }, all) => {
    const [first] = all;
    if (first === undefined) return [];
    const { pair, isEstimate } = first.slice;
    const base = facts.currencies(pair)?.base ?? 'base';
    const bounds: readonly Bound[] = [
      {
        name: 'controls.max_order_notional',
        bound: limits.orderNotionalMax,
        unit: limits.currency,
        of: ({ slice, worth }) => orderOf(slice, worth.notional),
      },
      {
        name: 'controls.max_order_quantity',
        bound: limits.orderQuantityMax.get(pair),
        unit: base,
        of: ({ slice, worth }) => orderOf(slice, worth.quantity),
      },
    ];
    const found = measured({ check: 'limits', id, all }, bounds, ({ name, bound, unit, sizes }) => {
      const largest = sizes.reduce((a, b) => (b.gt(a) ? b : a));
      if (largest.lte(bound)) return undefined;
      const slices = ratioOf(all.length);
      const fewest = approximate(roundUp(scale(fraction<Quantity | Money>(largest, bound), slices), 0));
      const above = `above ${name} of ${text(bound)} ${unit}`;
      return isEstimate === true
        ? {
            says: `its largest trade of ${pair} now would need orders of ${figure(largest)} ${unit} in ${PIECES_MAX} pieces, ${above}`,
            fix: `legs: { slices: ${fewest}, duration: … }, or more; or a larger limit`,
          }
        : {
            says: `its largest slice is ${figure(largest)} ${unit} at worst, ${above}`,
            fix: `slices: ${fewest}, or more; or a total of at most ${figure(roundDown(scale(bound, slices), 2))} ${unit}`,
          };
    });
    return [...found, ...parentLimit(id, all, facts)];
  });
}

/** The order of a slice. For a slice traded in pieces, the smallest possible piece, slightly below its limit. */
const orderOf = <A extends Quantity | Money>(
  { isSplit }: PlannedSlice,
  whole: A | undefined,
): A | undefined =>
  isSplit === true ? whole && scale(whole, fraction(ONE, ratioOf(PIECES_MAX * PIECE_SHARE))) : whole;
const PIECE_SHARE = 0.98;

/** If a parent has more orders than the controls allow, the desk halts. */
function parentLimit(id: string, all: readonly Sized[], { limits }: PlanFacts): readonly Check[] {
  const most = limits.parentExecutionsMax;
  const perParent = Map.groupBy(all, ({ slice }) => slice.leg ?? '');
  const largest = Math.max(0, ...[...perParent.values()].map(({ length }) => length));
  if (most === undefined || largest <= most) return [];
  return [
    {
      check: 'limits',
      verdict: 'refused',
      strategy: id,
      says: `a parent has ${largest} slices, more than controls.max_executions_per_parent of ${most}: the desk would halt`,
      fix: `slices: ${most}, or fewer`,
    },
  ];
}

/** Checks every strategy that has slices. A single line reports that all pass. */
function eachWithSlices(
  strategies: readonly PlannedStrategy[],
  facts: PlanFacts,
  check: 'minimum' | 'limits',
  look: (strategy: PlannedStrategy, sized: readonly Sized[]) => readonly Check[],
): readonly Check[] {
  // Per pair, which determines the minimum and the unit.
  const found = strategies.flatMap((strategy) =>
    [...Map.groupBy(sizedOf(strategy, facts), ({ slice }) => slice.pair).values()].flatMap((sized) =>
      look(strategy, sized),
    ),
  );
  const slices = strategies.reduce(
    (sum, one) => sum + one.slices.filter(({ closed }) => closed === undefined).length,
    0,
  );
  if (found.length > 0 || slices === 0) return found;
  const what =
    check === 'minimum' ? 'reach the minimum of their pair' : 'stay within the limits of one order';
  return [{ check, verdict: 'ok', says: `all ${slices} slices ${what}` }];
}
