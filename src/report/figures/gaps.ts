import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { PriceColumns } from './prices.ts';

/** Gaps in a market history within a period: bars that are missing in its source. */
export interface Gaps {
  readonly gaps: number;
  readonly missingBars: number;
  /** Longest time between the end of a bar and the start of the next, in ms, and the time at which the first of these bars ended. */
  readonly longestMs: number;
  readonly longestAt: Instant | undefined;
}

/**
 * The gaps between two instants. Skips stretches without gaps, which it recognizes by their length, so that the time
 * grows with the number of gaps, not of bars.
 */
export function gapsOf({ times, rows, barMs }: PriceColumns, from: number, until: number): Gaps {
  let [gaps, missing, longestMs] = [0, 0, 0];
  let longestAt: Instant | undefined;
  const at = (row: number): number => times[row] ?? 0;
  const look = (low: number, high: number): void => {
    const span = at(high) - at(low);
    if (high <= low || span <= (high - low) * barMs) return;
    if (high - low > 1) {
      const middle = (low + high) >>> 1;
      look(low, middle);
      look(middle, high);
      return;
    }
    gaps++;
    missing += Math.max(1, Math.round(span / barMs) - 1);
    if (span - barMs <= longestMs) return;
    longestMs = span - barMs;
    longestAt = instant(at(low) + barMs);
  };
  // Trades have no regular interval, and most histories have no gap.
  if (barMs > 0 && at(rows - 1) - at(0) > (rows - 1) * barMs)
    look(rowFrom(times, rows, from), rowFrom(times, rows, until));
  return { gaps, missingBars: missing, longestMs, longestAt };
}

/** The last row that has started by `at`; the first if none has. */
function rowFrom(times: Float64Array, rows: number, at: number): number {
  let [low, high] = [0, rows - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((times[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
