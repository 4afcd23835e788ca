import { NO_MONEY, add, cost, subtract, text } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import { isoOf } from '../../core/time.ts';
import type { FillFacts } from '../figures/facts.ts';
import type { Figures } from '../figures/figures.ts';
import { fillRow } from '../figures/fill-figures.ts';
import { statedBps } from '../figures/shortfall.ts';
import type { ParentFigures, SliceFigures } from '../figures/shortfall.ts';
import { recordsOf } from './attempt-trails.ts';
import type { AttemptTrails } from './attempt-trails.ts';

/** A slice that traded, with its cost compared with the reference price at its decision. Positive is bad. */
export interface JudgedSlice {
  readonly parent: ParentFigures;
  readonly slice: SliceFigures;
  readonly bps: number;
  readonly cost: Money;
  readonly paper: Money;
}

/** The usual cost of a pair and side, basis points. */
export interface CostBound {
  readonly pair: string;
  readonly side: 'buy' | 'sell';
  readonly slices: number;
  readonly median_bps: string;
  /** Median distance of the slices from the median cost. */
  readonly deviation_bps: string;
  /** Slices with a lower or higher cost are outliers. Omitted: there are too few slices. */
  readonly lower_bps?: string | undefined;
  readonly upper_bps?: string | undefined;
}

/** A slice beyond the bound, and why. */
export interface Outlier {
  readonly strategy: string;
  readonly parent: string;
  readonly slice: number;
  readonly pair: string;
  readonly side: 'buy' | 'sell';
  readonly decided_at: string;
  readonly amount: string;
  readonly quote: string;
  readonly cost: string;
  readonly cost_bps: string;
  /**
   * Parts of the cost: how far the reference price moved from the decision to the attempts that traded, and the
   * distance of their quotes from it.
   */
  readonly moved_bps?: string | undefined;
  readonly quoted_bps?: string | undefined;
  /** Reasons in its records, such as the reasons for refusing quotes before the one that traded. */
  readonly reasons: readonly Reason[];
  readonly had_doubt: boolean;
  /** From the decision to the last fill, milliseconds. */
  readonly delay_ms: number;
  readonly records: readonly number[];
}

/** With fewer slices, no cost counts as usual. */
const SLICES_MIN = 20;
/** Converts this deviation into a standard deviation, if costs follow a normal distribution. */
const NORMAL = 1.4826;
const DEVIATIONS = 5;
/** Costs nearer to the median are never outliers. Where all costs are alike, a rounding difference would otherwise be an outlier. */
const WIDTH_MIN_BPS = 2;

/** The rule for outliers, in words. */
export const OUTLIER_RULE = `A slice is an outlier if its cost against the reference price of its decision differs from the median of its pair and side by more than ${DEVIATIONS} times ${NORMAL} times the median absolute deviation, and by more than ${WIDTH_MIN_BPS} bps. Fewer than ${SLICES_MIN} slices have no bound.`;

export function judgedSlices({ parents }: Figures): readonly JudgedSlice[] {
  return parents.flatMap((parent) =>
    parent.slices.flatMap((slice): readonly JudgedSlice[] => {
      if (slice.traded.isZero() || slice.execution === undefined || slice.decision === undefined) return [];
      const paper = cost(slice.decision, slice.traded);
      const bps = statedBps(slice.execution, paper);
      return bps === undefined ? [] : [{ parent, slice, bps: Number(bps), cost: slice.execution, paper }];
    }),
  );
}

export interface Bound {
  readonly stated: CostBound;
  readonly distance: (bps: number) => number;
  readonly isBeyond: (bps: number) => boolean;
}

/** By pair and side, in their order in `slices`. */
export function boundsOf(slices: readonly JudgedSlice[]): ReadonlyMap<string, Bound> {
  const groups = Map.groupBy(slices, boundKey);
  return new Map(
    [...groups].map(([key, members]) => {
      const [first] = members;
      const costs = members.map(({ bps }) => bps);
      const median = medianOf(costs);
      const deviation = medianOf(costs.map((bps) => Math.abs(bps - median)));
      const width = Math.max(WIDTH_MIN_BPS, DEVIATIONS * NORMAL * deviation);
      const isEnough = members.length >= SLICES_MIN;
      const stated: CostBound = {
        pair: first?.parent.facts.pair ?? '',
        side: first?.parent.facts.side ?? 'buy',
        slices: members.length,
        median_bps: median.toFixed(4),
        deviation_bps: deviation.toFixed(4),
        ...(isEnough
          ? { lower_bps: (median - width).toFixed(4), upper_bps: (median + width).toFixed(4) }
          : {}),
      };
      const distance = (bps: number): number => Math.abs(bps - median);
      return [key, { stated, distance, isBeyond: (bps: number) => isEnough && distance(bps) > width }];
    }),
  );
}

export const boundKey = ({ parent: { facts } }: JudgedSlice): string => `${facts.pair} ${facts.side}`;

/** The median of the values; for an even number, the mean of the two in the middle. */
function medianOf(values: readonly number[]): number {
  const sorted = Float64Array.from(values).toSorted();
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2;
}

export function outlierOf(
  { parent, slice, cost: spent, paper }: JudgedSlice,
  trails: AttemptTrails,
): Outlier {
  const { facts } = parent;
  const own = trails.ofSlice(facts.parent, slice.facts.slice);
  const fills = facts.fills.filter(({ record }) => record.slice === slice.facts.slice);
  const quoted = quotedBeyond(fills);
  const reasons = new Set<Reason>([
    ...own.flatMap(({ ends }) => ends.flatMap(({ reason }) => reason ?? [])),
    ...own.flatMap(({ cuts }) => cuts),
    ...[slice.facts.end?.body.reason].flatMap((reason) => reason ?? []),
  ]);
  return {
    strategy: facts.strategy,
    parent: facts.parent,
    slice: slice.facts.slice,
    pair: facts.pair,
    side: facts.side,
    decided_at: isoOf(slice.facts.at),
    amount: text(slice.amount),
    quote: parent.quote,
    cost: text(spent),
    cost_bps: statedBps(spent, paper) ?? '',
    ...(quoted === undefined
      ? {}
      : { moved_bps: statedBps(subtract(spent, quoted), paper), quoted_bps: statedBps(quoted, paper) }),
    reasons: [...reasons],
    had_doubt: own.some(({ ends }) => ends.some(({ result }) => result === 'doubt')),
    delay_ms: Math.max(...fills.map(({ at }) => at), slice.facts.at) - slice.facts.at,
    records: own.flatMap(recordsOf).toSorted((a, b) => a - b),
  };
}

/** The cost of the quotes compared with the reference price of their attempts; `undefined` if an attempt has no reference price. */
function quotedBeyond(fills: readonly FillFacts[]): Money | undefined {
  let sum = NO_MONEY;
  for (const fill of fills) {
    const { spread } = fillRow(fill, undefined);
    if (spread === undefined) return undefined;
    sum = add(sum, spread);
  }
  return sum;
}
