/** A time in ms, such as a window of a sweep. */
type Span = Readonly<Record<'from' | 'until', number>>;

/** One observation of a figure that is the ratio of two sums over a window: what it adds above and below the line. */
export interface Piece {
  readonly at: number;
  readonly over: number;
  readonly of: number;
}

/**
 * How a figure varied over its window, which is cut into `2^level` equal cells of time: by how much each cell moves the figure away
 * from its value. The parts sum to zero; a cell without an observation has none. Numbers, because statistics never become money.
 */
export interface Spread {
  readonly level: number;
  readonly parts: readonly (readonly [cell: number, part: number])[];
}

const LEVEL = 12;
/** Enough cells for a standard error that is itself known to an eighth. */
const CELLS_MAX = 32;

/**
 * Returns the spread of `scale·Σover/Σof`, linearized: a cell adds `scale·(over − ratio·of)/Σof`. Cells double until at most 32 of
 * them have observations, so that an order of an hour in a year of prices still has many.
 */
export function spreadOf(
  pieces: readonly Piece[],
  { from, until }: Span,
  scaleOf: (ratio: number, whole: number) => number = () => 1,
): Spread | undefined {
  const [over, of] = [sumOf(pieces.map((one) => one.over)), sumOf(pieces.map((one) => one.of))];
  if (!(of > 0)) return undefined;
  const [ratio, factor] = [over / of, scaleOf(over / of, of) / of];
  const cells = 2 ** LEVEL;
  const cellOf = (at: number): number => Math.floor(((at - from) / (until - from)) * cells);
  let level = LEVEL;
  let parts = merged(pieces.map((one) => [Math.max(0, Math.min(cells - 1, cellOf(one.at))), factor * (one.over - ratio * one.of)]), 0); // prettier-ignore
  for (; parts.length > CELLS_MAX; level--) parts = merged(parts, 1);
  return { level, parts: parts.map(([cell, part]) => [cell, Number(part.toPrecision(6))]) };
}

/** Returns bounds of cells within a time, at most 64: where all settings measure the market, so that their moves can be compared. */
export function boundsWithin({ from, until }: Span, [begin, end]: readonly [begin: number, end: number]): readonly number[] {
  let step = (until - from) / 2 ** LEVEL;
  while ((end - begin) / step > 2 * CELLS_MAX) step *= 2;
  const first = Math.floor((begin - from) / step) + 1;
  const count = Math.ceil((end - from) / step) - first;
  return Array.from({ length: Math.max(0, count) }, (_, k) => from + (first + k) * step);
} // prettier-ignore

/** Returns the spread of the mean of one value per window: its parts are the windows. */
export const spreadOver = (values: readonly number[]): Spread => ({
  level: 0,
  parts: values.map((value, i) => [i, (value - sumOf(values) / values.length) / values.length]),
});

/** Returns the spread of `one + factor·other`, in the coarser cells of the two, so that what both share cancels. */
export function combined(one: Spread, other: Spread, factor: number): Spread {
  const level = Math.min(one.level, other.level);
  const parts = [
    ...merged(one.parts, one.level - level),
    ...merged(other.parts, other.level - level).map(([cell, part]) => [cell, factor * part] as const),
  ];
  return { level, parts: merged(parts, 0) };
}

function merged(parts: Spread['parts'], halvings: number): Spread['parts'] {
  const sums = new Map<number, number>();
  for (const [cell, part] of parts) {
    const wide = Math.floor(cell / 2 ** halvings);
    sums.set(wide, (sums.get(wide) ?? 0) + part);
  }
  return [...sums];
}

/** Returns the standard error of the figure, in its unit; `undefined` if fewer than two cells have observations. */
export function standardError({ parts }: Spread): number | undefined {
  const n = parts.length;
  return n < 2 ? undefined : Math.sqrt((n / (n - 1)) * sumOf(parts.map(([, part]) => part * part)));
}

/** Returns the quantile of Student's distribution, to 1 % from 4 degrees of freedom on (Gaver and Kafadar 1984). */
export const tQuantile = (p: number, freedom: number): number =>
  Math.sqrt(freedom * Math.expm1(normalQuantile(p) ** 2 * ((freedom - 1.5) / (freedom - 1) ** 2)));

const sumOf = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** Returns the quantile of the standard normal distribution for `p` from 0.5 on, to 0.0005 (Abramowitz and Stegun 26.2.23). */
function normalQuantile(p: number): number {
  const t = Math.sqrt(-2 * Math.log(1 - p));
  return t - (2.515_517 + 0.802_853 * t + 0.010_328 * t ** 2) / (1 + 1.432_788 * t + 0.189_269 * t ** 2 + 0.001_308 * t ** 3);
} // prettier-ignore
