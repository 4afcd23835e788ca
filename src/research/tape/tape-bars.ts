import type { Bar } from '../../core/bar.ts';
import { lastEnd } from '../../core/bar.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { knownAt, lastKnownRow, priceAt } from './tape.ts';
import type { Tape } from './tape.ts';

/** Bars of one length that were made last, oldest first. */
interface Made {
  /** They are all there are up to here. */
  readonly end: Instant;
  /** How many were asked for. */
  readonly count: number;
  readonly bars: readonly Bar[];
}

/**
 * Bars of any length out of the rows of a tape. A row counts to the interval in which its close becomes known, so that a bar is made of
 * what was known when it ended and of nothing else. An interval without rows has no bar, and so has the one in which the tape begins.
 */
export class TapeBars {
  readonly #tape: Tape;
  readonly #made = new Map<number, Made>();

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  /** The newest `count` bars that have ended by `at`, oldest first; fewer where the tape has no more. @throws RangeError when its rows are longer. */
  newest(at: Instant, intervalMs: number, count: number): readonly Bar[] {
    if (this.#tape.barMs > intervalMs)
      throw new RangeError(
        `bars of ${intervalMs / 1000} s cannot be built from ${this.#tape.pair}, whose data has bars of ${this.#tape.barMs / 1000} s: use a longer interval, or finer data`,
      );
    const end = lastEnd(at, intervalMs);
    const made = this.#made.get(intervalMs);
    if (made?.end === end && made.count === count) return made.bars;
    // Time mostly advances: known values are not computed again.
    const isOnward = made !== undefined && made.count === count && made.end < end;
    const known = isOnward ? made : { end: instant(0), bars: [] };
    const bars = [...known.bars, ...this.#between(known.end, end, { intervalMs, count })].slice(-count);
    this.#made.set(intervalMs, { end, count, bars });
    return bars;
  }

  /** The newest `count` bars after `from` and up to `end`, oldest first. */
  #between(
    from: Instant,
    end: Instant,
    { intervalMs, count }: { readonly intervalMs: number; readonly count: number },
  ): readonly Bar[] {
    const tape = this.#tape;
    const begins = tape.times[0] ?? Number.POSITIVE_INFINITY;
    const bars: Bar[] = [];
    let last = lastKnownRow(tape, end);
    while (last >= 0 && bars.length < count) {
      // A row that becomes known at the very end of an interval is its last.
      const start = (Math.ceil(knownAt(tape, last) / intervalMs) - 1) * intervalMs;
      if (start < from || start < begins) break;
      let first = last;
      while (first > 0 && knownAt(tape, first - 1) > start) first--;
      bars.push(this.#bar(instant(start), first, last));
      last = first - 1;
    }
    return bars.toReversed();
  }

  #bar(from: Instant, first: number, last: number): Bar {
    const { open, high, low, close } = this.#tape;
    let [highest, lowest] = [first, first];
    for (let row = first + 1; row <= last; row++) {
      if ((high[row] ?? 0) > (high[highest] ?? 0)) highest = row;
      if ((low[row] ?? 0) < (low[lowest] ?? 0)) lowest = row;
    }
    return {
      from,
      open: priceAt(open, first),
      high: priceAt(high, highest),
      low: priceAt(low, lowest),
      close: priceAt(close, last),
    };
  }
}
