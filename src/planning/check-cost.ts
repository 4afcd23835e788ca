import { approximate, ratio, roundEven, scale, text } from '../core/money.ts';
import type { Money } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import { figure, openSlices, sumOf, worthOf } from './plan.ts';
import type { Check, PlanFacts, PlannedStrategy } from './plan.ts';

/** The expected cost of the plan. It is only for display; these figures are never used as money. */

/** The expected cost of a strategy compared with the price before each of its slices. Positive is bad. */
export interface ExpectedCost {
  readonly strategy: string;
  readonly bps: number;
  /** Standard deviation, caused by the market alone; present only for a kind with its own model. */
  readonly riskBps?: number | undefined;
  /** Worst-case value of all slices, in the currency of the limits; `undefined` if no price determines it. */
  readonly notional: Money | undefined;
  /** The basis points as an amount. */
  readonly cost: Money | undefined;
  /** Source of the figure, in words. */
  readonly by: string;
}

/** Cost of a trade against the mid price, if the venue did not quote it. */
const HALF_SPREAD_BPS = 5;
/** Impact of a slice worth one million in the currency of the limits. */
const IMPACT_BPS = 10;
const MILLION = 1_000_000;
const BPS = 10_000;

/**
 * Expected cost of a slice, basis points: half the spread, plus an impact that grows with the square root of its
 * size.
 */
const sliceBps = (halfSpreadBps: number, notional: number): number =>
  halfSpreadBps + IMPACT_BPS * Math.sqrt(Math.max(0, notional) / MILLION);

export function expectedCosts(
  strategies: readonly PlannedStrategy[],
  facts: PlanFacts,
): readonly ExpectedCost[] {
  return strategies.flatMap((strategy): readonly ExpectedCost[] => {
    const slices = openSlices([strategy]);
    const [first] = slices;
    if (first === undefined) return [];
    const worths = slices.map((slice) => worthOf(slice, facts).notional);
    const known = worths.filter((one) => one !== undefined);
    const notional = known.length === worths.length ? sumOf(known) : undefined;
    const { forecast, id } = strategy;
    if (forecast !== undefined)
      return [
        {
          strategy: id,
          bps: forecast.costBps,
          riskBps: forecast.riskBps,
          notional,
          cost: costOf(notional, forecast.costBps),
          by: `its own model; equal slices: ${round(forecast.even.costBps)} ± ${round(forecast.even.riskBps)} bps`,
        },
      ];
    if (notional === undefined || notional.isZero()) return [];
    const price = facts.price(first.pair);
    const halfSpreadBps = price?.halfSpreadBps ?? HALF_SPREAD_BPS;
    const total = approximate(notional);
    const bps = known.reduce(
      (sum, one) => sum + sliceBps(halfSpreadBps, approximate(one)) * (approximate(one) / total),
      0,
    );
    const spread = `${round(halfSpreadBps)} bps half spread${price?.halfSpreadBps === undefined ? '' : ' as quoted now'}`;
    return [
      {
        strategy: id,
        bps,
        notional,
        cost: costOf(notional, bps),
        by: `${spread}, ${round(IMPACT_BPS)} bps a million of impact`,
      },
    ];
  });
}

const costOf = (notional: Money | undefined, bps: number): Money | undefined =>
  notional && roundEven(scale(notional, ratio((bps / BPS).toFixed(12))), 2);

export function checkCost(strategies: readonly PlannedStrategy[], facts: PlanFacts): readonly Check[] {
  const costs = expectedCosts(strategies, facts);
  const { limits } = facts;
  const found: Check[] = strategies
    .filter((one) => openSlices([one]).length > 0 && !costs.some(({ strategy }) => strategy === one.id))
    .map(({ id, pairs }) => ({
      check: 'cost',
      verdict: 'not_done',
      strategy: id,
      says: `its cost needs a price of ${pairs.join(', ')}: give --price ${pairs[0] ?? ''}=…`,
    }));
  for (const { strategy, bps } of costs) {
    const most = limits.shortfallBpsMax;
    if (most === undefined || bps <= approximate(most)) continue;
    found.push({
      check: 'cost',
      verdict: 'refused',
      strategy,
      says: `its expected cost of ${round(bps)} bps is above controls.max_shortfall_bps of ${text(most)}: the desk would pause it`,
      fix: 'use more, smaller slices, or a longer window',
    });
  }
  found.push(...dayCosts(strategies, facts, costs));
  if (found.length > 0 || costs.length === 0) return found;
  const paid = costs.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  const says = `expected cost of all slices: ${figure(sumOf(paid))} ${limits.currency}, positive is bad`;
  return [{ check: 'cost', verdict: 'ok', says }];
}

/** Compares the expected cost of a UTC day with the limit that halts the desk. */
function dayCosts(
  strategies: readonly PlannedStrategy[],
  facts: PlanFacts,
  costs: readonly ExpectedCost[],
): readonly Check[] {
  const most = facts.limits.dayCostMax;
  if (most === undefined) return [];
  const bpsOf = new Map(costs.map(({ strategy, bps }) => [strategy, bps]));
  const days = Map.groupBy(openSlices(strategies), ({ at }) => isoOf(at).slice(0, 10));
  return [...days].flatMap(([day, of]): readonly Check[] => {
    const paid = of.map((slice) => costOf(worthOf(slice, facts).notional, bpsOf.get(slice.strategy) ?? 0));
    const total = sumOf(paid.filter((one) => one !== undefined));
    if (total.lte(most)) return [];
    return [
      {
        check: 'cost',
        verdict: 'refused',
        says: `the expected cost of ${day} (UTC), ${figure(total)} ${facts.limits.currency}, is above controls.max_day_cost of ${figure(most)}: the desk would halt`,
        fix: 'spread the orders over more days, or use more, smaller slices',
      },
    ];
  });
}

const round = (bps: number): string => String(Number(bps.toFixed(2)));
