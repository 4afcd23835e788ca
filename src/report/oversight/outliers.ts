import { approximate, cost } from '../../core/money.ts';
import type { Figures } from '../figures/figures.ts';
import { statedBps } from '../figures/shortfall.ts';
import type { ParentFigures, SliceFigures } from '../figures/shortfall.ts';

/** A slice that traded at an unusual cost compared with the reference price at its decision. Positive is bad. */
export interface Outlier {
  readonly parent: ParentFigures;
  readonly slice: SliceFigures;
  /** Basis points, four decimals. */
  readonly bps: string;
  /** The slices of its pair and size: their number, and their median cost and its bound in basis points. */
  readonly slices: number;
  readonly medianBps: number;
  readonly widthBps: number;
}

/** With fewer slices, no cost counts as usual. */
const SLICES_MIN = 20;
/** Converts this deviation into a standard deviation, if costs follow a normal distribution. */
const NORMAL = 1.4826;
const DEVIATIONS = 5;
/** Costs nearer to the median are never outliers. Where all costs are alike, a rounding difference would otherwise be an outlier. */
const WIDTH_MIN_BPS = 2;

/** The rule for outliers, in words. */
export const OUTLIER_RULE = `A slice is an outlier if its cost against the reference price of its decision differs from the median of its pair and size by more than ${DEVIATIONS} times ${NORMAL} times the median absolute deviation, and by more than ${WIDTH_MIN_BPS} bps. Sizes are alike if their values in quote currency have the same number of digits before the decimal point. Fewer than ${SLICES_MIN} slices have no bound.`;

/** Largest distance from the median first. */
export function outliersOf({ parents }: Figures): readonly Outlier[] {
  const judged = parents.flatMap((parent) =>
    parent.slices.flatMap((slice) => {
      const { traded, amount, execution, decision } = slice;
      if (traded.isZero() || execution === undefined || decision === undefined) return [];
      const bps = statedBps(execution, cost(decision, traded));
      const key = `${parent.facts.pair} ${Math.floor(Math.log10(approximate(amount)))}`;
      return bps === undefined ? [] : [{ parent, slice, bps, key }];
    }),
  );
  return [...Map.groupBy(judged, ({ key }) => key).values()]
    .filter(({ length }) => length >= SLICES_MIN)
    .flatMap((alike) => {
      const costs = alike.map(({ bps }) => Number(bps));
      const medianBps = medianOf(costs);
      const deviation = medianOf(costs.map((bps) => Math.abs(bps - medianBps)));
      const bound = { slices: alike.length, medianBps, widthBps: Math.max(WIDTH_MIN_BPS, DEVIATIONS * NORMAL * deviation) }; // prettier-ignore
      return alike.map(({ parent, slice, bps }): Outlier => ({ parent, slice, bps, ...bound }));
    })
    .filter((one) => distance(one) > one.widthBps)
    .toSorted((a, b) => distance(b) - distance(a));
}

const distance = ({ bps, medianBps }: Outlier): number => Math.abs(Number(bps) - medianBps);

/** The median of the values; for an even number, the mean of the two in the middle. */
function medianOf(values: readonly number[]): number {
  const sorted = Float64Array.from(values).toSorted();
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2;
}
