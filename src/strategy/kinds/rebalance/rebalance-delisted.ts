import { add, fraction, NOTHING, ONE, roundDown, scale, subtract, text } from '../../../core/money.ts';
import type { Ratio } from '../../../core/money.ts';
import { targetsOf, tradedPair } from '../../../core/risk/portfolio.ts';
import type { Basis } from '../../../core/risk/portfolio.ts';
import type { View } from '../../kernel.ts';

type Weights = Readonly<Record<string, string>>;

/** Decimals of a computed weight; the truncated rest is cash. */
const DECIMALS = 12;

/**
 * Returns the target weights after a delisting. A delisted asset keeps its current weight, and the others share the
 * rest in proportion to their targets. Without a delisting, the weights are unchanged.
 */
export function reachableWeights(weights: Weights, basis: Basis, view: View): Weights {
  const isFixed = (asset: string): boolean =>
    asset !== basis.cash && view.isDelisted(tradedPair(asset, basis));
  if (!Object.keys(weights).some(isFixed)) return weights;
  const targets = targetsOf({ targets: weights });
  const valued = view.value(targets, basis);
  if (valued === undefined) return weights;
  const sum = (all: readonly Ratio[]): Ratio => all.reduce((total, one) => add(total, one), NOTHING);
  const open = [...targets].filter(([asset]) => !isFixed(asset));
  const fixed = new Map([...targets.keys()].filter(isFixed).map((asset) => [asset, valued.weights.get(asset) ?? NOTHING] as const)); // prettier-ignore
  const wanted = sum(open.map(([, target]) => target));
  const share = wanted.isZero() ? NOTHING : fraction(subtract(ONE, sum([...fixed.values()])), wanted);
  const reached = new Map<string, Ratio>();
  for (const asset of targets.keys())
    if (asset !== basis.cash)
      reached.set(
        asset,
        roundDown(fixed.get(asset) ?? scale(targets.get(asset) ?? NOTHING, share), DECIMALS),
      );
  reached.set(basis.cash, subtract(ONE, sum([...reached.values()])));
  return Object.fromEntries([...reached].map(([asset, weight]) => [asset, text(weight)]));
}
