import type { Columns } from './tape.ts';

/** Survey of the columns: gaps, bars without volume, large moves. */
export interface Survey {
  readonly gaps: {
    /** Number of bars that are missing between the first and the last. */
    readonly missing: number;
    /** Number of places where one or more bars are missing. */
    readonly holes: number;
    /** The longest such place. `after`: start of the last bar before it, Unix ms. */
    readonly longest: { readonly bars: number; readonly after: number } | undefined;
  };
  /** Number of bars that do not begin a whole number of bars after the previous one. */
  readonly offGrid: number;
  /**
   * Number of trades with the time, price and volume of the previous one. They are kept, because two trades may be equal.
   * Always 0 for bars.
   */
  readonly repeatedTrades: number;
  readonly zeroVolume: number;
  readonly withoutVolume: number;
  /** The largest move from one close to the next, percent, and the time of the later row, Unix ms. */
  readonly largestMove: { readonly percent: number; readonly at: number } | undefined;
}

export function surveyOf({ times, close, volume }: Columns, barMs: number): Survey {
  let [missing, holes, longest, after, offGrid] = [0, 0, 0, 0, 0];
  let [zeroVolume, withoutVolume, leap, leapAt, repeatedTrades] = [0, 0, 0, 0, 0];
  for (let row = 0; row < times.length; row++) {
    const traded = volume[row] ?? Number.NaN;
    if (traded === 0) zeroVolume += 1;
    else if (Number.isNaN(traded)) withoutVolume += 1;
    if (row === 0) continue;
    const [at, before] = [times[row] ?? 0, times[row - 1] ?? 0];
    if (barMs > 0 && at - before !== barMs) {
      const bars = (at - before) / barMs - 1;
      if (!Number.isInteger(bars)) offGrid += 1;
      const whole = Math.floor(bars);
      if (whole > 0) {
        missing += whole;
        holes += 1;
        if (whole > longest) [longest, after] = [whole, before];
      }
    }
    if (
      barMs === 0 &&
      at === before &&
      close[row] === close[row - 1] &&
      Object.is(volume[row], volume[row - 1])
    )
      repeatedTrades += 1;
    const move = Math.abs((close[row] ?? 0) / (close[row - 1] ?? 1) - 1);
    if (move > leap) [leap, leapAt] = [move, at];
  }
  return {
    gaps: { missing, holes, longest: longest === 0 ? undefined : { bars: longest, after } },
    offGrid,
    repeatedTrades,
    zeroVolume,
    withoutVolume,
    largestMove: leap === 0 ? undefined : { percent: Math.round(leap * 10_000) / 100, at: leapAt },
  };
}
