import { add, fixedEven, NO_MONEY, text } from '../../core/money.ts';
import type { Money, Ratio } from '../../core/money.ts';
import { drifts } from '../../core/risk/portfolio.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { DriftType } from '../../core/wake.ts';
import type { FillFacts, ParentFacts } from '../figures/facts.ts';
import type { Report } from '../json/schema.ts';
import { fillCost, inCash } from './fill-costs.ts';
import type { Cash } from './fill-costs.ts';

/** One decision to trade and its result, in cash, as `report.json` has it. */
export type Rebalancing = Report['portfolios'][number]['rebalancings'][number];

/** Maximum number of listed rebalancings. */
const REBALANCINGS_MAX = 50;

interface Asked extends Cash {
  /** The parents of each decision of the period. */
  readonly decisions: ReadonlyMap<Instant, readonly ParentFacts[]>;
  readonly targets: ReadonlyMap<string, Ratio>;
  readonly driftType: DriftType;
  /** Weights before the trades of that instant. */
  readonly weightsAt: (at: Instant) => ReadonlyMap<string, Ratio> | undefined;
}

/** The rebalancings that traded most, oldest first. */
export function rebalancingsOf(asked: Asked): readonly Rebalancing[] {
  return [...asked.decisions]
    .map(([at, parents]) => ({
      at,
      ...sumsOf(
        parents.flatMap(({ fills }) => fills),
        asked,
      ),
    }))
    .toSorted((a, b) => add(b.bought, b.sold).cmp(add(a.bought, a.sold)))
    .slice(0, REBALANCINGS_MAX)
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, bought, sold, cost }) => ({
      at: isoOf(at),
      ...farthestAt(at, asked),
      bought: text(bought),
      sold: text(sold),
      cost: text(cost),
    }));
}

/** The amounts of fills by the side of their orders, and their cost. */
function sumsOf(
  fills: readonly FillFacts[],
  cash: Cash,
): Readonly<Record<'bought' | 'sold' | 'cost', Money>> {
  let [bought, sold, cost] = [NO_MONEY, NO_MONEY, NO_MONEY];
  for (const fill of fills) {
    const { side, quote: currency, executed_at: at } = fill.record;
    const worth = inCash(cash, { currency, amount: fill.figures.amount, at }) ?? NO_MONEY;
    if (side === 'buy') bought = add(bought, worth);
    else sold = add(sold, worth);
    const { spread, fees } = fillCost(fill, cash, at);
    cost = add(cost, add(spread, fees));
  }
  return { bought, sold, cost };
}

/** The currency farthest from its target before the first trade; empty if a price or the holdings are unknown. */
function farthestAt(
  at: Instant,
  { weightsAt, targets, driftType }: Asked,
): Pick<Rebalancing, 'currency' | 'weight'> {
  const weights = weightsAt(at);
  if (weights === undefined) return {};
  const [first] = [...drifts(weights, targets, driftType)].toSorted(([, a], [, b]) => b.abs().cmp(a.abs()));
  const weight = first && weights.get(first[0]);
  return first && weight ? { currency: first[0], weight: fixedEven(weight, 6) } : {};
}
