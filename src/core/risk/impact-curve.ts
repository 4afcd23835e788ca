import { add, greatest, money, NOTHING, roundDown, scale, slippageBps, subtract } from '../money.ts';
import type { Money, Price, Ratio } from '../money.ts';
import type { Side } from '../venue.ts';

/** One probed size, with its quoted price. */
export interface Rung {
  /** Quote currency. */
  readonly amount: Money;
  readonly price: Price;
}
/** The sizes of one ladder, requested one after the other, the smallest first. */
export type Round = readonly Rung[];

/** Shares of the largest slice that are probed. */
export const ladderShares: readonly string[] = ['0.1', '0.4', '1'];

/** With fewer rounds, the result is unreliable, because the market moves between two quotes. */
export const ROUNDS_NEEDED = 3;

/**
 * Extra cost of each size compared with the smallest, in basis points: the median of the rounds, so that one odd
 * response has no effect. It is never below the cost of a smaller size. `undefined` while too little is known.
 */
export function impactCurve(
  rounds: readonly Round[],
  side: Side,
): readonly { readonly amount: Money; readonly bps: Ratio }[] | undefined {
  const newest = rounds.at(-1);
  if (newest === undefined || rounds.length < ROUNDS_NEEDED) return undefined;
  let floor = NOTHING;
  return newest.map(({ amount }, rung) => {
    const measured = rounds.flatMap((round) => {
      const [smallest, here] = [round[0], round[rung]];
      return smallest === undefined || here === undefined
        ? []
        : [slippageBps(side, here.price, smallest.price)];
    });
    floor = greatest(floor, median(measured));
    return { amount, bps: floor };
  });
}

/** The largest size whose impact is at most `most`, interpolated linearly between probed sizes; `undefined`: any probed size. */
export function sizeWithin(
  curve: readonly { readonly amount: Money; readonly bps: Ratio }[],
  most: Ratio,
): Money | undefined {
  const above = curve.findIndex(({ bps }) => bps.gt(most));
  const [below, beyond] = [curve[above - 1], curve[above]];
  if (above < 0 || beyond === undefined) return undefined;
  if (below === undefined) return beyond.amount;
  // Multiplied before dividing, so that an exactly met bound counts as met.
  const rise = scale(subtract(beyond.amount, below.amount), subtract(most, below.bps));
  return roundDown(add(below.amount, money(rise.div(subtract(beyond.bps, below.bps)).toFixed(18))), 8);
}

/** The middle one, or the lower of the two. */
function median(values: readonly Ratio[]): Ratio {
  const sorted = values.toSorted((a, b) => a.comparedTo(b));
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? NOTHING;
}
