import { add, NO_MONEY } from '../../core/money.ts';
import type { Money, Ratio } from '../../core/money.ts';
import { drifts } from '../../core/risk/portfolio.ts';
import type { Instant } from '../../core/time.ts';
import type { DriftType } from '../../core/wake.ts';
import type { FillFacts } from '../figures/facts.ts';
import { fillCost, inCash } from './fill-costs.ts';
import type { Cash } from './fill-costs.ts';

/** One decision to trade and its result, in cash. */
export interface Rebalancing {
  readonly at: Instant;
  /** The currency farthest from its target before the first trade; `undefined` if a price or the holdings are unknown. */
  readonly farthest: { readonly currency: string; readonly weight: Ratio } | undefined;
  /** Amounts of the fills by the side of their orders, without fees. */
  readonly bought: Money;
  readonly sold: Money;
  /** Spread, impact and fees. */
  readonly cost: Money;
}

/** Maximum number of listed rebalancings. */
const REBALANCINGS_MAX = 50;

interface Asked extends Cash {
  /** The fills of each decision of the period. */
  readonly decisions: ReadonlyMap<Instant, readonly FillFacts[]>;
  readonly targets: ReadonlyMap<string, Ratio>;
  readonly driftType: DriftType;
  /** Weights before the trades of that instant. */
  readonly weightsAt: (at: Instant) => ReadonlyMap<string, Ratio> | undefined;
}

/** The rebalancings that traded most, oldest first. */
export function rebalancingsOf(asked: Asked): readonly Rebalancing[] {
  return [...asked.decisions]
    .map(([at, fills]) => ({ at, ...sumsOf(fills, asked) }))
    .toSorted((a, b) => add(b.bought, b.sold).cmp(add(a.bought, a.sold)))
    .slice(0, REBALANCINGS_MAX)
    .toSorted((a, b) => a.at - b.at)
    .map((one) => ({ ...one, farthest: farthestAt(one.at, asked) }));
}

function sumsOf(fills: readonly FillFacts[], cash: Cash): Omit<Rebalancing, 'at' | 'farthest'> {
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

function farthestAt(at: Instant, { weightsAt, targets, driftType }: Asked): Rebalancing['farthest'] {
  const weights = weightsAt(at);
  if (weights === undefined) return undefined;
  const [first] = [...drifts(weights, targets, driftType)].toSorted(([, a], [, b]) => b.abs().cmp(a.abs()));
  const weight = first && weights.get(first[0]);
  return first && weight && { currency: first[0], weight };
}
