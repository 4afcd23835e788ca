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
    return this.#histories.get(pair)?.tape;
  }

  /** The newest price known at `at`. A price of the journal may be as old as `journalAgeMaxMs`. */
  midAt(pair: string, at: Instant, journalAgeMaxMs = Number.POSITIVE_INFINITY): Seen | undefined {
    return this.tapeAt(pair, at) ?? this.#notedAt(pair, at, journalAgeMaxMs);
  }

  /** The newest tape price known at `at`; `undefined` if it is too old. */
  tapeAt(pair: string, at: Instant): Seen | undefined {
    const history = this.#histories.get(pair);
    const row = history?.freshRowAt(at) ?? -1;
    if (history === undefined || row < 0) return undefined;
    return { price: history.priceIn(row), at: instant(history.knownAt(row)), from: 'prices' };
  }

  /** The tape price at `at`, if newer than `since`. */
  newerAt(pair: string, at: Instant, since: Instant): Price | undefined {
    const seen = this.tapeAt(pair, at);
    return seen !== undefined && seen.at > since ? seen.price : undefined;
  }

  #notedAt(pair: string, at: Instant, ageMaxMs: number): Seen | undefined {
    const { times, texts } = this.#noted.get(pair) ?? NOTHING_NOTED;
    const row = lastWhere(times.length, (i) => (times[i] ?? at) <= at);
    const [known, text] = [times[row], texts[row]];
    if (known === undefined || text === undefined || at - known > ageMaxMs) return undefined;
    return { price: price(text), at: instant(known), from: 'journal' };
  }

  /** The newest price known at `at` as a number, for statistics; NaN if unknown. */
  numberAt(pair: string, at: number): number {
    const history = this.#histories.get(pair);
    if (history !== undefined) return history.tape.close[history.freshRowAt(at)] ?? Number.NaN;
    const seen = this.#notedAt(pair, instant(at), Number.POSITIVE_INFINITY);
    return seen === undefined ? Number.NaN : approximate(seen.price);
  }

  /**
   * The mean of the price over time, `(1/T) ∫ m(t) dt`, where `m` is the last known price. Twelve significant digits,
   * to the nearest. `undefined` if no tape covers the interval. For an empty interval, the price at its instant.
   */
  timeWeighted(pair: string, from: Instant, to: Instant): Price | undefined {
    const history = this.#histories.get(pair);
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
    const history = this.#histories.get(pair);
    if (history === undefined) return undefined;
    const { tape } = history;
    const [amount, volume] = [new Sum(), new Sum()];
    const last = history.rowAt(to);
    const first = history.rowAt(from) + 1;
    for (let row = first; row <= last; row++) {
      const v = tape.volume[row] ?? Number.NaN;
      if (!(v > 0)) continue;
      const close = tape.close[row] ?? 0;
      const typical = ((tape.high[row] ?? 0) + (tape.low[row] ?? 0) + close) / 3;
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

const stated = (mean: number): Price | undefined =>
  Number.isFinite(mean) && mean > 0 ? price(String(Number(mean.toPrecision(BENCHMARK_DIGITS)))) : undefined;

/** One tape, and when its rows became known. */
class History {
  readonly tape: PriceColumns;
  /** When the first row became known. */
  readonly #begin: number;
  /** Whether the bars have no gap, so that a row follows from its time. */
  readonly #isWhole: boolean;
  readonly #ageMaxMs: number;

  constructor(tape: PriceColumns) {
    const { times, rows, barMs } = tape;
    this.tape = tape;
    this.#begin = (times[0] ?? 0) + barMs;
    this.#isWhole = barMs > 0 && (times[rows - 1] ?? Number.NaN) + barMs - this.#begin === (rows - 1) * barMs;
    this.#ageMaxMs = Math.max(AGE_MAX_MS, 3 * barMs);
  }

  /** When a row became known. */
  knownAt(row: number): number {
    return (this.tape.times[row] ?? Number.NaN) + this.tape.barMs;
  }

  /** The exact decimal of a row: that of its shortest text. */
  priceIn(row: number): Price {
    return price(String(this.tape.close[row] ?? 0));
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
    if (this.#isWhole) return Math.max(-1, Math.min(Math.floor((at - this.#begin) / barMs), rows - 1));
    return lastWhere(rows, (row) => this.knownAt(row) <= at);
  }
}

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
