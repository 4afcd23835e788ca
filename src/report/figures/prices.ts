import { approximate, price } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { HOUR_MS, MINUTE_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { Sum } from './sum.ts';

/** Market history of one pair in columns, as in a tape. `close[i]` is known at `times[i] + barMs`; trades have `barMs` 0. */
export interface PriceColumns {
  readonly pair: string;
  readonly barMs: number;
  readonly rows: number;
  /** Unix ms, ascending. */
  readonly times: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  /** Base currency; NaN where the source has none. */
  readonly volume: Float64Array;
  /** SHA-256 of the columns, hex. */
  readonly hash: string;
  /**
   * Returns the rows of a column from the first index up to, but excluding, the second. Present if parts of the tape
   * can be read separately.
   */
  readonly part?:
    ((column: 'high' | 'low' | 'volume', from: number, until: number) => Float64Array) | undefined;
  /** Whether the last price remains valid, as for a delisted pair. */
  readonly isDelisted?: boolean | undefined;
}

/** Reference prices of a journal, oldest first. */
interface Noted {
  /** Unix ms. */
  readonly times: number[];
  readonly texts: string[];
}
const NOTHING_NOTED: Noted = { times: [], texts: [] };

/** The start of a period, equidistant instants after it, and its end. Unix ms. */
export interface Moments {
  readonly from: number;
  readonly stepMs: number;
  readonly until: number;
}

/**
 * The first instant after the start. Whole hours and days end as in UTC, so that the last point of a month is its end;
 * the first step is shorter if the period starts in between.
 */
const firstOf = ({ from, stepMs }: Moments): number =>
  stepMs % HOUR_MS === 0 ? (Math.floor(from / stepMs) + 1) * stepMs : from + stepMs;
/** The last step is shorter if the period ends in between. */
export const countOf = (moments: Moments): number => {
  const { from, stepMs, until } = moments;
  if (until < from) return 0;
  return until === from ? 1 : Math.max(0, Math.ceil((until - firstOf(moments)) / stepMs)) + 2;
};
export const momentOf = (moments: Moments, i: number): number =>
  i === 0 ? moments.from : Math.min(firstOf(moments) + (i - 1) * moments.stepMs, moments.until);

/** A price, the time at which it was known, and its source. */
export interface Seen {
  readonly price: Price;
  readonly at: Instant;
  readonly from: PriceSource;
}
export type PriceSource = 'prices' | 'journal';

/** A tape price that is further from an instant than this, or than three bars, does not apply. */
const AGE_MAX_MS = 15 * MINUTE_MS;
/** Significant digits of benchmarks, which are means of many prices. */
const BENCHMARK_DIGITS = 12;

/**
 * Prices at past instants: from tapes, or from the journal's reference prices for pairs without a tape. Never looks
 * ahead, because a bar counts only from its end on.
 */
export class PriceBook {
  readonly #histories: ReadonlyMap<string, History>;
  #last: History | undefined;
  readonly #noted = new Map<string, Noted>();

  constructor(tapes: Iterable<PriceColumns> = []) {
    this.#histories = new Map([...tapes].map((tape) => [tape.pair, new History(tape)]));
  }

  /** Adds a reference price of the journal. Records come oldest first, even after the clock was set back. */
  note(pair: string, at: Instant, text: string): void {
    const noted = this.#noted.get(pair) ?? { times: [], texts: [] };
    if (noted.times.length === 0) this.#noted.set(pair, noted);
    noted.times.push(Math.max(at, noted.times.at(-1) ?? at));
    noted.texts.push(text);
  }

  get tapes(): readonly PriceColumns[] {
    return [...this.#histories.values()].map(({ tape }) => tape);
  }

  tape(pair: string): PriceColumns | undefined {
    return this.#historyOf(pair)?.tape;
  }

  /** Cached, because consecutive queries mostly concern the same pair. */
  #historyOf(pair: string): History | undefined {
    if (this.#last?.tape.pair !== pair) this.#last = this.#histories.get(pair);
    return this.#last;
  }

  /** The newest price known at `at`. A price of the journal may be as old as `journalAgeMaxMs`. */
  midAt(pair: string, at: Instant, journalAgeMaxMs = Number.POSITIVE_INFINITY): Seen | undefined {
    return this.tapeAt(pair, at) ?? this.#notedAt(pair, at, journalAgeMaxMs);
  }

  /** The newest tape price known at `at`; `undefined` if it is too old. */
  tapeAt(pair: string, at: Instant): Seen | undefined {
    const history = this.#historyOf(pair);
    if (history === undefined) return undefined;
    const row = history.freshRowAt(at);
    if (row < 0) return undefined;
    return { price: history.priceIn(row), at: instant(history.knownAt(row)), from: 'prices' };
  }

  /** The tape price at `at`, if newer than `since`; otherwise NaN. */
  newerAt(pair: string, at: number, since: number): number {
    const history = this.#historyOf(pair);
    const row = history?.freshRowAt(at) ?? -1;
    if (history === undefined || row < 0 || history.knownAt(row) <= since) return Number.NaN;
    return history.tape.close[row] ?? Number.NaN;
  }

  #notedAt(pair: string, at: Instant, ageMaxMs: number): Seen | undefined {
    const { times, texts } = this.#noted.get(pair) ?? NOTHING_NOTED;
    const row = lastWhere(times.length, (i) => (times[i] ?? at) <= at);
    const [known, text] = [times[row], texts[row]];
    if (known === undefined || text === undefined || at - known > ageMaxMs) return undefined;
    return { price: price(text), at: instant(known), from: 'journal' };
  }

  /** The prices of a pair as numbers at these instants, for statistics of a portfolio; NaN if unknown. */
  numbersAt(pair: string, moments: Moments): Float64Array {
    const history = this.#historyOf(pair);
    if (history !== undefined) return history.numbersAt(moments);
    return Float64Array.from({ length: countOf(moments) }, (_, i) => {
      const seen = this.#notedAt(pair, instant(momentOf(moments, i)), Number.POSITIVE_INFINITY);
      return seen === undefined ? Number.NaN : approximate(seen.price);
    });
  }

  /**
   * The mean of the price over time, `(1/T) ∫ m(t) dt`, where `m` is the last known price. Twelve significant digits,
   * to the nearest. `undefined` if no tape covers the interval. For an empty interval, the price at its instant.
   */
  timeWeighted(pair: string, from: Instant, to: Instant): Price | undefined {
    const history = this.#historyOf(pair);
    if (history === undefined) return undefined;
    const { tape } = history;
    let row = history.freshRowAt(from);
    if (row < 0 || history.freshRowAt(to) < 0) return undefined;
    if (to <= from) return history.priceIn(row);
    const sum = new Sum();
    let since: number = from;
    while (row + 1 < tape.rows && history.knownAt(row + 1) < to) {
      const until = history.knownAt(row + 1);
      sum.add((tape.close[row] ?? 0) * (until - since));
      since = until;
      row++;
    }
    sum.add((tape.close[row] ?? 0) * (to - since));
    return stated(sum.value / (to - from));
  }

  /**
   * The mean of the price over volume, `Σ v·p / Σ v`. Bars that ended within the interval count at the mean of their
   * high, low and close; trades count at their price. `undefined` if there is no tape, or no volume in the interval.
   */
  volumeWeighted(pair: string, from: Instant, to: Instant): Price | undefined {
    const history = this.#historyOf(pair);
    if (history === undefined) return undefined;
    const { tape } = history;
    const [amount, volume] = [new Sum(), new Sum()];
    const last = history.rowAt(to);
    const first = history.rowAt(from) + 1;
    const { part } = tape;
    const begin = part === undefined ? 0 : first;
    const volumes = part?.('volume', first, last + 1) ?? tape.volume;
    const highs = part?.('high', first, last + 1) ?? tape.high;
    const lows = part?.('low', first, last + 1) ?? tape.low;
    for (let row = first; row <= last; row++) {
      const v = volumes[row - begin] ?? Number.NaN;
      if (!(v > 0)) continue;
      const close = tape.close[row] ?? 0;
      const typical = ((highs[row - begin] ?? 0) + (lows[row - begin] ?? 0) + close) / 3;
      amount.add(v * (tape.barMs === 0 ? close : typical));
      volume.add(v);
    }
    return volume.value > 0 ? stated(amount.value / volume.value) : undefined;
  }

  /** Prices between two instants for a chart, at most `points` of them: from the tape, otherwise from the journal. */
  line(
    pair: string,
    { from, to, points }: { readonly from: number; readonly to: number; readonly points: number },
  ): readonly (readonly [at: number, price: number])[] {
    const tape = this.tape(pair);
    const noted = this.#noted.get(pair) ?? NOTHING_NOTED;
    const [count, at] =
      tape === undefined
        ? [noted.times.length, (i: number) => noted.times[i] ?? 0]
        : [tape.rows, (i: number) => (tape.times[i] ?? 0) + tape.barMs];
    const first = Math.max(
      0,
      lastWhere(count, (i) => at(i) <= from),
    );
    const last = lastWhere(count, (i) => at(i) <= to);
    const step = Math.max(1, Math.ceil((last - first + 1) / points));
    const line: [number, number][] = [];
    for (let i = first; i <= last; i += step)
      line.push([Math.max(from, at(i)), tape === undefined ? Number(noted.texts[i]) : (tape.close[i] ?? 0)]);
    return line;
  }
}

/** The exact decimal of a tape row. It is the decimal of the row's shortest text, mostly obtained without creating the text. */
export const exactPrice = (close: number): Price => price(String(close));

const stated = (mean: number): Price | undefined =>
  Number.isFinite(mean) && mean > 0 ? price(String(Number(mean.toPrecision(BENCHMARK_DIGITS)))) : undefined;

/** One tape and the position of the last read, so that sequential reads are fast. */
class History {
  readonly tape: PriceColumns;
  /** When the first row became known. */
  readonly #begin: number;
  /** Whether the bars have no gap, so that their times need not be read. */
  readonly #isWhole: boolean;
  readonly #ageMaxMs: number;
  #row = 0;
  #slot = 0;
  #exact: { readonly row: number; readonly price: Price } | undefined;

  constructor(tape: PriceColumns) {
    const { times, rows, barMs } = tape;
    this.tape = tape;
    this.#begin = (times[0] ?? 0) + barMs;
    this.#isWhole = barMs > 0 && (times[rows - 1] ?? Number.NaN) + barMs - this.#begin === (rows - 1) * barMs;
    this.#ageMaxMs = Math.max(AGE_MAX_MS, 3 * barMs);
  }

  /** Cached prices, because a sweep repeatedly reads the same instants of the same tape, which are scattered over memory. */
  numbersAt(moments: Moments): Float64Array {
    const known = lastNumbers.get(this.tape);
    if (known !== undefined && isSame(known.moments, moments)) return known.numbers;
    const numbers = this.#numbersAt(moments);
    lastNumbers.set(this.tape, { moments, numbers });
    return numbers;
  }

  /** A separate loop for each tape, so that the processor can load many rows at once. If there are no gaps, it reads no times. */
  #numbersAt(moments: Moments): Float64Array {
    const count = countOf(moments);
    const { close, rows, barMs } = this.tape;
    const [begin, isWhole] = [this.#begin, this.#isWhole];
    const end = this.tape.isDelisted === true ? Infinity : this.knownAt(rows - 1) + this.#ageMaxMs;
    const numbers = new Float64Array(count).fill(Number.NaN);
    for (let i = 0; i < count; i++) {
      const at = momentOf(moments, i);
      if (!(at <= end)) break;
      const row = isWhole ? Math.min(Math.floor((at - begin) / barMs), rows - 1) : this.freshRowAt(at);
      if (row >= 0) numbers[i] = close[row] ?? Number.NaN;
    }
    return numbers;
  }

  /** When a row became known. */
  knownAt(row: number): number {
    const { times, barMs } = this.tape;
    return this.#isWhole ? this.#begin + row * barMs : (times[row] ?? Number.NaN) + barMs;
  }

  /** Cached, because the same row is mostly read again. */
  priceIn(row: number): Price {
    if (this.#exact?.row !== row) this.#exact = { row, price: exactPrice(this.tape.close[row] ?? 0) };
    return this.#exact.price;
  }

  /** The last row known at `at`; -1 when there is none, or when it is too old. */
  freshRowAt(at: number): number {
    const row = this.rowAt(at);
    if (row === this.tape.rows - 1 && this.tape.isDelisted === true) return row;
    return row >= 0 && at - this.knownAt(row) <= this.#ageMaxMs ? row : -1;
  }

  /** The last row known at `at`; -1 when there is none. */
  rowAt(at: number): number {
    const { rows, barMs } = this.tape;
    const slot = barMs > 0 ? Math.floor((at - this.#begin) / barMs) : 0;
    if (this.#isWhole) return Math.max(-1, Math.min(slot, rows - 1));
    // Without a gap since the last search, the distance in rows follows from the time. With a gap, the row is earlier,
    // and the search continues from there in steps that double.
    const guess = Math.max(0, Math.min(this.#row + slot - this.#slot, rows - 1));
    this.#slot = slot;
    let [low, high, step] = [guess, rows, 1];
    if (this.#isKnown(guess, at)) {
      for (; low + step < rows && this.#isKnown(low + step, at); step *= 2) low += step;
      high = Math.min(rows, low + step);
    } else {
      for (low--, high = guess; low >= 0 && !this.#isKnown(low, at); step *= 2) {
        high = low;
        low = Math.max(-1, low - 2 * step);
      }
    }
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#isKnown(middle, at)) low = middle;
      else high = middle;
    }
    this.#row = Math.max(0, low);
    return low;
  }

  #isKnown(row: number, at: number): boolean {
    return (this.tape.times[row] ?? Number.POSITIVE_INFINITY) + this.tape.barMs <= at;
  }
}

/** The last result for each tape. */
const lastNumbers = new WeakMap<
  PriceColumns,
  { readonly moments: Moments; readonly numbers: Float64Array }
>();

const isSame = (one: Moments, other: Moments): boolean =>
  one.from === other.from && one.stepMs === other.stepMs && one.until === other.until;

/**
 * The last index below `count` for which `holds` is true, if it is true up to some index and false after it; -1 when it
 * is never true.
 */
function lastWhere(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [-1, count - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
