import { approximate, text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import type { Figures } from '../figures/figures.ts';
import { statedBps } from '../figures/shortfall.ts';
import type { Report } from '../json/schema.ts';

type Outlier = NonNullable<Report['oversight']>['outliers'][number];

/** With fewer slices, no cost counts as usual. */
const SLICES_MIN = 20;
/** Converts this deviation into a standard deviation, if costs follow a normal distribution. */
const NORMAL = 1.4826;
const DEVIATIONS = 5;
/** Costs nearer to the median are never outliers. Where all costs are alike, a rounding difference would otherwise be an outlier. */
const WIDTH_MIN_BPS = 2;

/** The rule for outliers, in words. */
export const OUTLIER_RULE = `A slice is an outlier if its cost against the reference price of its decision differs from the median of its pair and size by more than ${DEVIATIONS} times ${NORMAL} times the median absolute deviation, and by more than ${WIDTH_MIN_BPS} bps. Sizes are alike if their values in quote currency have the same number of digits before the decimal point. Fewer than ${SLICES_MIN} slices have no bound.`;

/** Slices that traded at an unusual cost against the reference price of their decision, largest distance from the median first. */
export function outliersOf({ parents, facts: { attempts } }: Figures): readonly Outlier[] {
  const judged = parents.flatMap(({ facts, slices }) =>
    slices.flatMap(({ facts: slice, amount, execution, atDecision }) => {
      const bps = execution && atDecision && statedBps(execution, atDecision);
      const digits = Math.floor(Math.log10(approximate(amount)));
      return bps === undefined ? [] : [{ facts, slice, amount, bps, key: `${facts.pair} ${digits}` }];
    }),
  );
  const tried = Map.groupBy(attempts.values(), ({ intent: { parent, slice } }) => `${parent} ${slice}`);
  return [...Map.groupBy(judged, ({ key }) => key).values()]
    .filter(({ length }) => length >= SLICES_MIN)
    .flatMap((alike) => {
      const costs = alike.map(({ bps }) => Number(bps));
      const median = medianOf(costs);
      const bound = Math.max(WIDTH_MIN_BPS, DEVIATIONS * NORMAL * medianOf(costs.map((bps) => Math.abs(bps - median)))); // prettier-ignore
      return alike.map((one) => ({ ...one, slices: alike.length, median, bound, away: Math.abs(Number(one.bps) - median) })); // prettier-ignore
    })
    .filter(({ away, bound }) => away > bound)
    .toSorted((a, b) => b.away - a.away)
    .map(({ facts, slice, amount, bps, median, bound, slices }) => {
      const reasons = [
        ...(tried.get(`${facts.parent} ${slice.slice}`) ?? []).flatMap(({ reason, intent }) => [reason ?? [], intent.cuts].flat()),
        slice.end?.body.reason ?? [],
      ].flat(); // prettier-ignore
      return {
        strategy: facts.strategy,
        parent: facts.parent,
        slice: slice.slice,
        pair: facts.pair,
        side: facts.side,
        decided_at: isoOf(slice.at),
        amount: text(amount),
        cost_bps: bps,
        median_bps: median.toFixed(4),
        bound_bps: bound.toFixed(4),
        slices,
        reasons: [...new Set(reasons)],
      };
    });
}

/** The median of the values; for an even number, the mean of the two in the middle. */
function medianOf(values: readonly number[]): number {
  const sorted = Float64Array.from(values).toSorted();
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2;
}
