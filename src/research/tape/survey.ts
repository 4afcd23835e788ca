import { DAY_MS, instant, isoOf } from '../../core/time.ts';
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

/** How long before a full bar or day its close may be stamped. */
const CLOSE_MS = 1_000;
/** Fewer prices may be round by chance. */
const SHORT_MIN = 20;

/** Returns what is likely to be a fault of the source, in sentences. */
export function doubtsOf({ times, open, high, low, close }: Columns, barMs: number): readonly string[] {
  const doubts: string[] = [];
  const period = Math.min(barMs, DAY_MS);
  const short = period - ((times[0] ?? 0) % period);
  if (period > 2 * CLOSE_MS && short <= CLOSE_MS)
    doubts.push(`its times are ${short} ms before a full bar, as those of closes are. They count as starts of bars, so each price would be known almost a bar too late: use the times of the opens`); // prettier-ignore
  const leap = close.findIndex((price, row) => row > 0 && Math.abs(Math.log10(price / (close[row - 1] ?? price))) > 2); // prettier-ignore
  if (leap > 0)
    doubts.push(`its price goes from ${close[leap - 1] ?? ''} to ${close[leap] ?? ''} at ${isoOf(instant(times[leap] ?? 0))}: check its unit and its decimal point`); // prettier-ignore
  const isShort = (price: number): boolean => price >= 1_000 && Number(price.toPrecision(3)) === price;
  if (close.length >= SHORT_MIN && [open, high, low, close].every((prices) => prices.every(isShort)))
    doubts.push(
      'its prices are above 1000 and have at most three digits that are not 0: has a spreadsheet shortened them?',
    );
  return doubts;
}
