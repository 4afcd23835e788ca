import type { Bar } from '../../core/bar.ts';
import { lastEnd } from '../../core/bar.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { knownAt, lastKnownRow, priceAt } from './tape.ts';
import type { Tape } from './tape.ts';

/** The latest bars of one length, oldest first. */
interface Made {
  /** The bars are complete up to this instant. */
  readonly end: Instant;
  /** Requested number of bars. */
  readonly count: number;
  readonly bars: readonly Bar[];
}

/**
 * Builds bars of any length from the rows of a tape. A row counts in the interval in which its close becomes known, so that a bar
 * contains only data that was known when it ended. An interval without rows has no bar, nor has the interval in which the tape
 * begins.
 */
export class TapeBars {
  readonly #tape: Tape;
  readonly #made = new Map<number, Made>();

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  /**
   * Returns the newest `count` bars that have ended by `at`, oldest first; fewer if the tape has no more. @throws RangeError when
   * its rows are longer.
   */
  newest(at: Instant, intervalMs: number, count: number): readonly Bar[] {
    if (this.#tape.barMs > intervalMs)
      throw new RangeError(
        `bars of ${intervalMs / 1000} s cannot be built from ${this.#tape.pair}, whose data has bars of ${this.#tape.barMs / 1000} s: use a longer interval, or finer data`,
      );
    const end = lastEnd(at, intervalMs);
    const made = this.#made.get(intervalMs);
    if (made?.end === end && made.count === count) return made.bars;
    // Time mostly advances, so earlier bars are reused.
    const isOnward = made !== undefined && made.count === count && made.end < end;
    const known = isOnward ? made : { end: instant(0), bars: [] };
    const bars = [...known.bars, ...this.#between(known.end, end, { intervalMs, count })].slice(-count);
    this.#made.set(intervalMs, { end, count, bars });
    return bars;
  }

  /** Returns the newest `count` bars after `from` and up to `end`, oldest first. */
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
      // A row that becomes known exactly at the end of an interval is its last.
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
