import { instant } from '../core/time.ts';
import type { History } from './history.ts';
import type { PriceIndex } from './index.ts';
import { lastKnownRow } from './tape.ts';

/** Goes through the prices of several histories in the order in which they become known, an instant at a time. */
export interface RowCursor {
  /** The last row of each history that is known at `at`. */
  readonly rows: Int32Array;
  readonly at: number;
  /** When the oldest of these prices became known. */
  oldest(): number;
  /** When the next price arrives; infinite when none does. */
  coming(): number;
  /** Goes to what is known at an instant. */
  seek(at: number): void;
  /** Goes to what is known when a block begins, or at `from` where that is later. */
  enter(block: number, from: number): void;
  /** Goes to the next instant before `end` at which a price arrives; `false` when there is none. */
  advance(end: number): boolean;
}

/** For histories with prices at the very same instants: one row is that of all. */
export function alignedRows(histories: readonly History[], exponent: number): RowCursor {
  const [{ tape, index } = NO_HISTORY] = histories;
  const { times, barMs } = tape;
  const rows = new Int32Array(histories.length);
  const width = 2 ** exponent;
  const knownAt = (row: number): number => (row < times.length ? (times[row] ?? Infinity) + barMs : Infinity);
  let at = 0;
  let row = -1;
  return {
    rows,
    get at() {
      return at;
    },
    oldest: () => knownAt(row),
    coming: () => knownAt(row + 1),
    seek(to) {
      at = to;
      row = lastKnownRow(tape, instant(to));
      rows.fill(row);
    },
    enter(block, from) {
      if (block * width <= from) row = lastKnownRow(tape, instant(from));
      else row = startOf(index, block) - 1;
    },
    advance(end) {
      const coming = knownAt(row + 1);
      if (coming >= end) return false;
      at = coming;
      row++;
      for (let i = 0; i < rows.length; i++) rows[i] = row;
      return true;
    },
  };
}

const NO_HISTORY: History = {
  tape: { pair: '', times: new Float64Array(0), close: new Float64Array(0), barMs: 0, rows: 0 },
  index: { tape: '', rows: 0, barMs: 0, exponent: 1, first: [], bounds: [], starts: new Int32Array(1) },
};

/** The first row that is known in one of the narrowest blocks of an index or later. */
const startOf = ({ first, starts }: PriceIndex, block: number): number =>
  starts[Math.min(block - (first[0] ?? 0), starts.length - 1)] ?? 0;

/** For histories that have prices at instants of their own. */
export function mergedRows(histories: readonly History[], exponent: number): RowCursor {
  const count = histories.length;
  const rows = new Int32Array(count);
  /** When the next row of each is known. */
  const coming = new Float64Array(count);
  const width = 2 ** exponent;
  const times = histories.map(({ tape }) => tape.times);
  const barMs = histories.map(({ tape }) => tape.barMs);
  const knownAt = (i: number, row: number): number => {
    const own = times[i];
    return own === undefined || row >= own.length ? Infinity : (own[row] ?? 0) + (barMs[i] ?? 0);
  };
  const soonest = (): number => {
    let first = Infinity;
    for (let i = 0; i < count; i++) if ((coming[i] ?? 0) < first) first = coming[i] ?? 0;
    return first;
  };
  let at = 0;
  const place = (i: number, row: number): void => {
    rows[i] = row;
    coming[i] = knownAt(i, row + 1);
  };
  const seek = (to: number): void => {
    at = to;
    histories.forEach(({ tape }, i) => {
      place(i, lastKnownRow(tape, instant(to)));
    });
  };
  return {
    rows,
    get at() {
      return at;
    },
    oldest: () => rows.reduce((oldest, row, i) => Math.min(oldest, knownAt(i, row)), Infinity),
    seek,
    enter(block, from) {
      if (block * width <= from) return seek(from);
      for (let i = 0; i < count; i++) {
        const history = histories[i];
        if (history === undefined) continue;
        const { index, tape } = history;
        const isOwn = index.exponent === exponent;
        place(i, isOwn ? startOf(index, block) - 1 : lastKnownRow(tape, instant(block * width - 1)));
      }
    },
    coming: soonest,
    advance(end) {
      const first = soonest();
      if (first >= end) return false;
      at = first;
      for (let i = 0; i < count; i++) while ((coming[i] ?? 0) <= first) place(i, (rows[i] ?? 0) + 1);
      return true;
    },
  };
}
