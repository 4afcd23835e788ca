import { OperatorError } from '../../core/errors.ts';
import { DAY_MS, SECOND_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { seededRandom } from '../../simulator/market/random.ts';
import { columnsBy, knownAt, lastKnownRow, tapeOf } from '../tape/tape.ts';
import type { Tape } from '../tape/tape.ts';

/** How history is resampled. */
export interface Resampling {
  readonly seed: string;
  /** Length of a block, in whole bars; `blockFor` returns a default. */
  readonly blockMs: number;
  /** `removed`: the mean return of the window is removed from every pair. */
  readonly trend: 'kept' | 'removed';
  /** Whether blocks of whole days start at any time of day, not only at their original one. */
  readonly isUnanchored?: boolean | undefined;
}

interface Span {
  readonly from: Instant;
  readonly until: Instant;
}

/**
 * A piece of history and its position: `(source, source + lengthMs]` becomes `(target, target + lengthMs]`, ms since
 * the start of the window.
 */
export interface Piece {
  readonly target: number;
  readonly source: number;
  readonly lengthMs: number;
}

/** Returns the step at which blocks start and end. All bars of all tapes end at multiples of this step. */
export function gridOf(tapes: readonly Tape[]): number {
  const bars = tapes.map(({ barMs }) => barMs).filter((ms) => ms > 0);
  return bars.length === 0 ? SECOND_MS : bars.reduce((a, b) => (a / divisor(a, b)) * b);
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** Returns the default length of a block: a day, or ten bars for long bars; at most a quarter of the window. */
export function blockFor(tapes: readonly Tape[], { from, until }: Span): number {
  const grid = gridOf(tapes);
  const usual = grid * Math.max(10, Math.round(DAY_MS / grid));
  const most = grid * Math.max(1, Math.floor((until - from) / 4 / grid));
  return Math.min(usual, most);
}

/**
 * Checks the length of a block. @throws OperatorError `usage` for a block that is not a whole number of bars, or longer than the
 * window.
 */
export function checkBlock(blockMs: number, tapes: readonly Tape[], { from, until }: Span): void {
  const grid = gridOf(tapes);
  if (blockMs % grid !== 0 || blockMs <= 0)
    throw new OperatorError('usage', `--block: expected whole bars: a multiple of ${grid / 1000} s`);
  if (blockMs > until - from)
    throw new OperatorError('usage', '--block is longer than the window: choose a shorter block');
}

interface Drawing {
  readonly lengthMs: number;
  /**
   * Time from the start of the window until the last prices of all pairs are known. A bar that ends later does not
   * count. Omitted: the whole window.
   */
  readonly knownMs?: number;
  readonly grid: number;
  readonly resampling: Resampling;
}

/** The history from which the pieces of a resample are cut, joined at its ends. Ms since the start of the window. */
interface Ring {
  readonly begin: number;
  readonly lengthMs: number;
  /** Blocks keep their time of day. */
  readonly byDay: boolean;
}

/**
 * Returns the ring. Blocks of whole days need a ring of whole days. If the window has additional hours, resamples omit
 * them alternately at its start and at its end, so that all hours are used.
 */
function ringOf(index: number, { lengthMs, knownMs = lengthMs, grid, resampling }: Drawing): Ring {
  const byDay = isByDay(lengthMs, grid, resampling);
  if (!byDay) return { begin: 0, lengthMs: Math.floor(knownMs / grid) * grid, byDay };
  const left = Math.floor((lengthMs % DAY_MS) / grid) * grid;
  return { begin: index % 2 === 0 ? left : 0, lengthMs: Math.floor(lengthMs / DAY_MS) * DAY_MS, byDay };
} // prettier-ignore

/**
 * Returns the pieces of one resample, in order. Uses circular blocks of one length. History is a ring, so that every
 * instant is equally likely. The first block is cut at random, so that blocks can meet anywhere. Blocks of whole days
 * keep their time of day. All pairs use the same pieces.
 */
export function piecesOf(index: number, drawing: Drawing): readonly Piece[] {
  const { lengthMs, grid, resampling } = drawing;
  const { blockMs, seed } = resampling;
  const random = seededRandom(`resample ${seed} ${index}`);
  const draw = (count: number): number => Math.floor(random.next() * count);
  const ring = ringOf(index, drawing);
  const unit = ring.byDay ? DAY_MS : grid;
  const pieces: Piece[] = [];
  let target = 0;
  let end = grid * (1 + draw(blockMs / grid));
  while (target < lengthMs) {
    const time = ring.byDay ? (target - ring.begin + DAY_MS) % DAY_MS : 0;
    const place = (time + unit * draw(ring.lengthMs / unit)) % ring.lengthMs;
    const length = Math.min(end, lengthMs) - target;
    const before = Math.min(length, ring.lengthMs - place);
    pieces.push({ target, source: ring.begin + place, lengthMs: before });
    if (before < length) pieces.push({ target: target + before, source: ring.begin, lengthMs: length - before });
    target += length;
    end = target + blockMs;
  }
  return pieces;
} // prettier-ignore

function isByDay(lengthMs: number, grid: number, { blockMs, isUnanchored = false }: Resampling): boolean {
  const isOfDays = blockMs % DAY_MS === 0 && grid < DAY_MS && DAY_MS % grid === 0;
  return !isUnanchored && isOfDays && lengthMs >= 2 * DAY_MS;
}

/**
 * Returns the number of instants at which a block may start: one per day if blocks keep their time of day, otherwise each step of
 * the grid.
 */
export function startsOf(
  tapes: readonly Tape[],
  { from, until }: Span,
  resampling: Resampling,
): { readonly count: number; readonly unanchored: number } {
  const grid = gridOf(tapes);
  const unanchored = Math.floor((until - from) / grid);
  const count = isByDay(until - from, grid, resampling) ? Math.floor((until - from) / DAY_MS) : unanchored;
  return { count, unanchored };
}

/** Resamples the history of a window. The same number gives the same tapes. */
export class Resampler {
  readonly #sources: readonly Source[];
  readonly #span: Span;
  readonly #resampling: Resampling;
  readonly #grid: number;
  readonly #knownMs: number;

  /** @throws OperatorError `usage` for a window shorter than a bar. */
  constructor(tapes: readonly Tape[], span: Span, resampling: Resampling) {
    this.#span = span;
    this.#resampling = resampling;
    this.#grid = gridOf(tapes);
    const ends = tapes.map((tape) => knownAt(tape, lastKnownRow(tape, span.until)));
    this.#knownMs = Math.min(span.until, ...ends) - span.from;
    if (this.#knownMs < this.#grid)
      throw new OperatorError('usage', '--bootstrap: the window is shorter than a bar: there is no history to resample'); // prettier-ignore
    this.#sources = tapes.map((tape) => sourceOf(tape, span));
  }

  /** Returns tapes of the window, with times and returns reordered. @param index from 1. */
  tapes(index: number): readonly Tape[] {
    const { from, until } = this.#span;
    const lengthMs = until - from;
    const drawing = { lengthMs, knownMs: this.#knownMs, grid: this.#grid, resampling: this.#resampling };
    const pieces = piecesOf(index, drawing);
    const isPlain = this.#resampling.trend === 'kept';
    const ring = ringOf(index, drawing);
    return this.#sources.map((source) => resampled(source, { from, pieces, trend: isPlain ? 0 : trendOf(source, from, ring) }));
  } // prettier-ignore
}

/** The rows of a window, preceded by the row whose close is known when the window starts. */
interface Source {
  readonly tape: Tape;
  readonly first: number;
  readonly last: number;
  /** Prices are rounded to multiples of `1 / scale`, which keeps ten digits of the first price. */
  readonly scale: number;
}

function sourceOf(tape: Tape, { from, until }: Span): Source {
  const first = Math.max(0, lastKnownRow(tape, from));
  const last = Math.max(first, lastKnownRow(tape, until));
  const decimals = Math.min(18, Math.max(0, 9 - Math.floor(Math.log10(tape.close[first] ?? Number.NaN))));
  return { tape, first, last, scale: 10 ** decimals };
}

/** Returns the change of the logarithm of the price over the ring, per ms. */
function trendOf({ tape, first }: Source, from: Instant, { begin, lengthMs }: Ring): number {
  const closeAt = (ms: number): number =>
    tape.close[Math.max(first, lastKnownRow(tape, instant(from + ms)))] ?? Number.NaN;
  return Math.log(closeAt(begin + lengthMs) / closeAt(begin)) / lengthMs;
}

function resampled(
  { tape, first, last, scale }: Source,
  { from, pieces, trend }: { readonly from: Instant; readonly pieces: readonly Piece[]; readonly trend: number },
): Tape {
  const rows = last - first + 1;
  const part = (column: Float64Array): Float64Array => Float64Array.from(column.subarray(first, last + 1));
  const columns = columnsBy((name) => part(tape[name]));
  const rounded = (price: number): number => Math.max(1, Math.round(price * scale)) / scale;
  const cursor = new Cursor(tape, first, last);
  let anchor = tape.close[first] ?? Number.NaN;
  let row = 1;
  for (const { target, source: begin, lengthMs } of pieces) {
    cursor.seek(instant(from + begin));
    const unit = anchor / cursor.close;
    for (; row < rows; row++) {
      const at = knownAt(tape, first + row) - from;
      if (at > target + lengthMs) break;
      cursor.advance(instant(from + begin + (at - target)));
      const by = trend === 0 ? unit : unit * Math.exp(-trend * at);
      columns.open[row] = rounded(by * cursor.open);
      columns.high[row] = rounded(by * cursor.high);
      columns.low[row] = rounded(by * cursor.low);
      columns.close[row] = rounded(by * cursor.close);
      columns.volume[row] = cursor.volume;
    }
    cursor.advance(instant(from + begin + lengthMs));
    anchor = unit * cursor.close;
  }
  return tapeOf({ pair: tape.pair, barMs: tape.barMs, columns });
} // prettier-ignore

/** Steps through history and returns the data that became known since the previous step. */
class Cursor {
  readonly #tape: Tape;
  readonly #first: number;
  readonly #last: number;
  readonly #noVolume: number;
  #row = 0;
  open = 0;
  high = 0;
  low = 0;
  close = 0;
  volume = 0;

  constructor(tape: Tape, first: number, last: number) {
    this.#tape = tape;
    this.#first = first;
    this.#last = last;
    this.#noVolume = Number.isNaN(tape.volume[first] ?? 0) ? Number.NaN : 0;
  }

  seek(at: Instant): void {
    this.#row = Math.max(this.#first, Math.min(this.#last, lastKnownRow(this.#tape, at)));
    this.#stand();
  }

  /**
   * Combines the rows since the previous step: the highest and lowest price, and the total volume. Without such rows,
   * the last close remains.
   */
  advance(to: Instant): void {
    const { times, barMs, open, high, low, close, volume } = this.#tape;
    this.#stand();
    let isFirst = true;
    while (this.#row < this.#last && (times[this.#row + 1] ?? Infinity) + barMs <= to) {
      const row = ++this.#row;
      if (isFirst) {
        this.open = open[row] ?? 0;
        this.high = high[row] ?? 0;
        this.low = low[row] ?? 0;
        this.volume = volume[row] ?? 0;
        isFirst = false;
        continue;
      }
      this.high = Math.max(this.high, high[row] ?? 0);
      this.low = Math.min(this.low, low[row] ?? 0);
      this.volume += volume[row] ?? 0;
    }
    this.close = close[this.#row] ?? 0;
  }

  #stand(): void {
    const price = this.#tape.close[this.#row] ?? 0;
    this.open = price;
    this.high = price;
    this.low = price;
    this.close = price;
    this.volume = this.#noVolume;
  }
}
