import { OperatorError } from '../../core/errors.ts';

/** Figures of a setting. Their text is exact; derived numbers are used only for ranking and drawing. */
export const sweepFigures = {
  cost_bps: {
    better: 'less',
    says: 'implementation shortfall: delay, trading, opportunity, fees; bps',
  },
  cost_usd: {
    better: 'less',
    says: 'implementation shortfall in USD: total cost, regardless of the traded value',
  },
  slippage_bps: { better: 'less', says: 'traded value against the arrival price, bps' },
  risk_bps: {
    better: 'less',
    says: 'standard deviation of slice prices against arrival, weighted by size, bps',
  },
  tracking_error: { better: 'less', says: 'of the portfolio against its targets, per year; fraction' },
  portfolio_bps: {
    better: 'less',
    says: 'per year: trading cost relative to the mean value, plus two times the squared tracking error; bps',
  },
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

/** Reads the name of a figure. @throws OperatorError `usage` that lists the names. */
export function readFigure(name: string, option: string): FigureName {
  if (isFigure(name)) return name;
  throw new OperatorError('usage', `${option}: expected one of ${figureNames.join(', ')}, got "${name}"`);
}

/** Whether a setting traded nothing. Such a setting is not compared, because its zero cost is not a better execution. */
export const isIdle = (figures: SweepFigures | undefined): boolean => figures?.fills === '0';

/** Returns a number for which less is better; `undefined` if the setting lacks the figure, or traded nothing. */
export function badness(figures: SweepFigures | undefined, name: FigureName): number | undefined {
  const said = figures?.[name];
  if (said === undefined || isIdle(figures)) return undefined;
  return sweepFigures[name].better === 'less' ? Number(said) : -Number(said);
}

/** Returns the indices of settings, best first, without those that lack the figure or traded nothing; equal ones keep their order. */
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
 * Returns the indices of the settings that no other one beats in both figures, sorted by the first: a better value of one
 * figure always means a worse value of the other. Settings that are equal in both are listed together, in their order.
 */
export function paretoFront(
  all: readonly (SweepFigures | undefined)[],
  [first, second]: readonly [FigureName, FigureName],
): readonly (readonly number[])[] {
  const points = all.flatMap((figures, index) => {
    const [x, y] = [badness(figures, first), badness(figures, second)];
    return x === undefined || y === undefined ? [] : [{ index, x, y }];
  });
  points.sort((a, b) => a.x - b.x || a.y - b.y || a.index - b.index);
  const front: { readonly x: number; readonly y: number; readonly indices: number[] }[] = [];
  for (const { index, x, y } of points) {
    const last = front.at(-1);
    if (last?.x === x && last.y === y) last.indices.push(index);
    else if (last === undefined || y < last.y) front.push({ x, y, indices: [index] });
  }
  return front.map(({ indices }) => indices);
}

/** A field whose best value is the smallest or largest tried, so that a better one may lie beyond. */
export interface Edge {
  readonly field: string;
  readonly value: string;
  readonly end: 'lowest' | 'highest';
}

/** Returns the fields whose best value is at an edge. Only for numbers with at least three values: of two, each is at an edge. */
export function edgesOf(
  fields: readonly string[],
  settings: readonly (readonly string[])[],
  best: number | undefined,
): readonly Edge[] {
  return fields.flatMap((field, place): Edge[] => {
    const value = best === undefined ? undefined : settings[best]?.[place];
    const tried = [...new Set(settings.map((setting) => Number(setting[place] ?? Number.NaN)))];
    if (value === undefined || tried.length < 3 || tried.some(Number.isNaN)) return [];
    if (tried.every((other) => other >= Number(value))) return [{ field, value, end: 'lowest' }];
    return tried.every((other) => other <= Number(value)) ? [{ field, value, end: 'highest' }] : [];
  });
}

/** The result of a sweep that pure chance would produce. */
export interface Luck {
  readonly trials: number;
  readonly median: number;
  /** Standard deviation, from the better half of the settings only. */
  readonly deviation: number;
  /** Expected best figure of this many settings if they differ only by chance. */
  readonly expectedBest: number;
  readonly best: number;
}

/**
 * Estimates how much of the best figure is luck. If all settings were equal and their figures normally distributed, the best
 * of `n` would be `(1−γ)·Φ⁻¹(1−1/n) + γ·Φ⁻¹(1−1/(n·e))` standard deviations from their mean (γ: Euler's constant). The
 * median replaces the mean, and the deviation comes from the quartile on the better side, so that a few extreme
 * settings have no effect. `undefined` for fewer than three settings, or when too many are equal.
 */
export function luckOf(all: readonly (SweepFigures | undefined)[], name: FigureName): Luck | undefined {
  const values = all.flatMap((figures) => badness(figures, name) ?? []).toSorted((a, b) => a - b);
  const trials = values.length;
  const median = quantile(values, 0.5);
  const deviation = (median - quantile(values, 0.25)) / normalQuantile(0.75);
  if (trials < 3 || !(deviation > 0)) return undefined;
  const sign = sweepFigures[name].better === 'less' ? 1 : -1;
  return {
    trials,
    median: sign * median,
    deviation,
    expectedBest: sign * (median - expectedMaximum(trials) * deviation),
    best: sign * (values[0] ?? Number.NaN),
  };
}

/** Returns a quantile of ascending values, with linear interpolation. */
function quantile(values: readonly number[], p: number): number {
  const place = p * (values.length - 1);
  const [low, high] = [values[Math.floor(place)] ?? Number.NaN, values[Math.ceil(place)] ?? Number.NaN];
  return low + (place - Math.floor(place)) * (high - low);
}

const EULER = 0.577_215_664_901_532_9;

/** Returns the expected maximum of `n` standard normal numbers, approximately. */
export const expectedMaximum = (n: number): number =>
  (1 - EULER) * normalQuantile(1 - 1 / n) + EULER * normalQuantile(1 - 1 / (n * Math.E));

/** Returns the quantile of the standard normal distribution for `p`. Uses bisection to 1e-12, because it is rarely called. */
export function normalQuantile(p: number): number {
  let [low, high] = [-10, 10];
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (normalBelow(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Returns the probability that a standard normal number is below `x`, by the series of the density around 0; beyond 7 it is 0 or 1. */
function normalBelow(x: number): number {
  if (Math.abs(x) > 7) return x < 0 ? 0 : 1;
  let [term, sum] = [x, x];
  for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum) && k < 400; k++) {
    term *= (x * x) / (2 * k + 1);
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}
