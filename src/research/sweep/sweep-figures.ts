import { OperatorError } from '../../core/errors.ts';

/** Figures of a setting. Their text is exact; numbers derived from it only rank and draw. */
export const sweepFigures = {
  cost_bps: {
    better: 'less',
    says: 'implementation shortfall: delay, trading, opportunity, fees; bps',
  },
  cost_usd: {
    better: 'less',
    says: 'implementation shortfall in USD: total cost, whatever the traded value',
  },
  slippage_bps: { better: 'less', says: 'traded value against the arrival price, bps' },
  risk_bps: {
    better: 'less',
    says: 'standard deviation of slice prices against arrival, weighted by size, bps',
  },
  tracking_error: { better: 'less', says: 'of the portfolio against its targets, per year; fraction' },
  drawdown: { better: 'less', says: 'largest fall of the portfolio from a peak; fraction' },
  untraded: { better: 'less', says: 'slices that did not trade' },
  fills: { better: 'less', says: 'trades' },
  turnover_usd: { better: 'less', says: 'value of all trades, USD' },
  fees_usd: { better: 'less', says: 'fees, USD' },
  gain_usd: {
    better: 'more',
    says: 'value of the account at the end of the window minus that at its start, USD',
  },
  value_usd: { better: 'more', says: 'value of the account at the prices of the end of the window, USD' },
} as const satisfies Readonly<Record<string, { readonly better: 'less' | 'more'; readonly says: string }>>;

export type FigureName = keyof typeof sweepFigures;
export type SweepFigures = Readonly<Partial<Record<FigureName, string>>>;

export const figureNames = Object.keys(sweepFigures) as readonly FigureName[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- keys of a constant
export const isFigure = (name: string): name is FigureName => Object.hasOwn(sweepFigures, name);

/** @throws OperatorError `usage` that lists the names. */
export function readFigure(name: string, option: string): FigureName {
  if (isFigure(name)) return name;
  throw new OperatorError('usage', `${option}: expected one of ${figureNames.join(', ')}, got "${name}"`);
}

/** As a number of which less is better; `undefined` when the setting has no such figure. */
export function badness(figures: SweepFigures | undefined, name: FigureName): number | undefined {
  const said = figures?.[name];
  if (said === undefined) return undefined;
  return sweepFigures[name].better === 'less' ? Number(said) : -Number(said);
}

/** Indices of settings, the best first, without those that lack the figure; equal ones keep their order. */
export function ranked(all: readonly (SweepFigures | undefined)[], name: FigureName): readonly number[] {
  return all
    .flatMap((figures, index) => {
      const bad = badness(figures, name);
      return bad === undefined ? [] : [{ index, bad }];
    })
    .toSorted((a, b) => a.bad - b.bad || a.index - b.index)
    .map(({ index }) => index);
}

/**
 * Indices of the settings that no other one beats in both figures, by the first of them: a better value of one is only to be had
 * for a worse value of the other.
 */
export function paretoFront(
  all: readonly (SweepFigures | undefined)[],
  [first, second]: readonly [FigureName, FigureName],
): readonly number[] {
  const points = all.flatMap((figures, index) => {
    const [x, y] = [badness(figures, first), badness(figures, second)];
    return x === undefined || y === undefined ? [] : [{ index, x, y }];
  });
  points.sort((a, b) => a.x - b.x || a.y - b.y || a.index - b.index);
  const front: typeof points = [];
  for (const point of points) {
    const last = front.at(-1);
    if (last === undefined || point.y < last.y || (point.x === last.x && point.y === last.y))
      front.push(point);
  }
  return front.map(({ index }) => index);
}

/** What chance alone would make of a sweep. */
export interface Luck {
  readonly trials: number;
  readonly mean: number;
  /** Of the settings. */
  readonly deviation: number;
  /** Expected best figure of that many settings if they differ only by chance. */
  readonly expectedBest: number;
  readonly best: number;
}

/**
 * The best of many tries is good by luck as well. If all settings were equal and their figures scattered normally, the best of
 * `n` would lie `(1−γ)·Φ⁻¹(1−1/n) + γ·Φ⁻¹(1−1/(n·e))` standard deviations from their mean (γ: Euler's constant).
 * `undefined` of fewer than three settings, or when all are the same.
 */
export function luckOf(all: readonly (SweepFigures | undefined)[], name: FigureName): Luck | undefined {
  const values = all.flatMap((figures) => badness(figures, name) ?? []);
  const trials = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / trials;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (trials - 1));
  if (trials < 3 || !(deviation > 0)) return undefined;
  const sign = sweepFigures[name].better === 'less' ? 1 : -1;
  return {
    trials,
    mean: sign * mean,
    deviation,
    expectedBest: sign * (mean - expectedMaximum(trials) * deviation),
    best: sign * Math.min(...values),
  };
}

const EULER = 0.577_215_664_901_532_9;

/** Of `n` standard normal numbers, approximately. */
export const expectedMaximum = (n: number): number =>
  (1 - EULER) * normalQuantile(1 - 1 / n) + EULER * normalQuantile(1 - 1 / (n * Math.E));

/** The value that a standard normal number stays below with probability `p`. Halving an interval: rarely asked, to 1e-12. */
export function normalQuantile(p: number): number {
  let [low, high] = [-10, 10];
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (normalBelow(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Probability that a standard normal number is below `x`, by the series of the density around 0; beyond 7 it is 0 or 1. */
function normalBelow(x: number): number {
  if (Math.abs(x) > 7) return x < 0 ? 0 : 1;
  let [term, sum] = [x, x];
  for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum) && k < 400; k++) {
    term *= (x * x) / (2 * k + 1);
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}
