import type { TimeUnit } from './plan.ts';

const PER_MS: Readonly<Record<TimeUnit, number>> = { s: 0.001, ms: 1, us: 1_000, ns: 1_000_000 };

/** A cell of a sample as Unix ms, down to what a double tells apart: for looking, not for columns. */
export const unixOf = (cell: string, unit: TimeUnit): number => Number(cell) / PER_MS[unit];

/** So much of a cell as belongs into a message. */
export const shown = (cell: string): string => cell.slice(0, 60);

/** A cell of a sample as a number; NaN when it is none. */
export const numberOf = (cell: string | undefined): number =>
  cell !== undefined && /^\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$/u.test(cell) ? Number(cell) : Number.NaN;

/** Open, high, low, close; or open, close, high, low. */
export type Order = 'ohlc' | 'ochl';

/**
 * The order in which the four prices of these rows stand, beginning at cell `from`: the one in which fewer highs are below an open or a
 * close. `undefined` when both are as good. Rows without four numbers do not count.
 */
export function orderOf(rows: readonly (readonly string[])[], from: number): Order | undefined {
  let [ohlc, ochl] = [0, 0];
  for (const row of rows) {
    const [a = Number.NaN, b = Number.NaN, c = Number.NaN, d = Number.NaN] = row
      .slice(from, from + 4)
      .map(numberOf);
    if (Number.isNaN(a + b + c + d)) continue;
    if (b < Math.max(a, d) || c > Math.min(a, d)) ohlc += 1;
    if (c < Math.max(a, b) || d > Math.min(a, b)) ochl += 1;
  }
  if (ohlc === ochl) return undefined;
  return ohlc < ochl ? 'ohlc' : 'ochl';
}
