import { instant } from '../core/time.ts';
import type { PriceIndex } from './index.ts';
import { lastKnownRow } from './tape.ts';
import type { Tape } from './tape.ts';

/** What a cursor needs of a tape. */
export type Row = Pick<Tape, 'times' | 'barMs' | 'rows'>;

/** Goes through the prices of several tapes in the order in which they become known, an instant at a time. */
export interface RowCursor {
  /** The last row of each tape that is known at `at`. */
  readonly rows: Int32Array;
  readonly at: number;
  /** When the oldest of these prices became known. */
  oldest(): number;
  /** When the next price arrives; infinite when none does. */
  coming(): number;
  /** Goes to what is known at an instant. */
  seek(at: number): void;
  /** Goes to what is known just before a block begins. */
  enter(block: number): void;
  /** Goes to the next instant before `end` at which a price arrives; `false` when there is none. */
  advance(end: number): boolean;
  /** How many of the next instants before `end` bring the next row of every tape: a loop may go through these rows side by side. */
  abreast(end: number): number;
  /** Goes on by so many of them. */
  skip(count: number): void;
}

/** Blocks that a cursor may enter, `2 ** exponent` ms wide, and where they begin in each tape as far as that is known. */
export interface Blocks {
  readonly exponent: number;
  readonly indexes: readonly PriceIndex[];
}

/** For bars at the very same instants without a gap: one row is that of all, and where it stands is arithmetic. */
export function evenRows(tapes: readonly Row[], exponent = 0): RowCursor {
  const [{ times, barMs, rows: count } = NO_ROWS] = tapes;
  const rows = new Int32Array(tapes.length);
  const width = 2 ** exponent;
  const begins = (times[0] ?? 0) + barMs;
  const knownAt = (row: number): number => (row >= 0 && row < count ? begins + row * barMs : Infinity);
  const rowAt = (to: number): number => Math.max(-1, Math.min(count - 1, Math.floor((to - begins) / barMs)));
  const state = { at: 0, row: -1 };
  const place = (row: number): void => {
    state.row = row;
    for (let i = 0; i < rows.length; i++) rows[i] = row;
  };
  return {
    rows,
    get at() {
      return state.at;
    },
    oldest: () => knownAt(state.row),
    coming: () => knownAt(state.row + 1),
    seek(to) {
      state.at = to;
      place(rowAt(to));
    },
    enter(block) {
      place(rowAt(block * width - 1));
    },
    advance(end) {
      const coming = knownAt(state.row + 1);
      if (coming >= end) return false;
      state.at = coming;
      place(state.row + 1);
      return true;
    },
    abreast: (end) =>
      Math.min(count - 1, Math.max(state.row, Math.ceil((end - begins) / barMs) - 1)) - state.row,
    skip(some) {
      place(state.row + some);
      state.at = knownAt(state.row);
    },
  };
}

const NO_ROWS: Row = { times: new Float64Array(0), barMs: 1, rows: 0 };

/** The first row that is known in one of the narrowest blocks of an index or later. */
const startOf = ({ first, starts }: PriceIndex, block: number): number =>
  starts[Math.min(block - (first[0] ?? 0), starts.length - 1)] ?? 0;

/** Rows that are compared at once to tell whether they stand abreast. */
const STRETCH = 512;
const STRETCH_MIN = 8;

/** For tapes that have prices at instants of their own. */
export function mergedRows(tapes: readonly Row[], blocks?: Blocks): RowCursor {
  const count = tapes.length;
  const rows = new Int32Array(count);
  /** When the next row of each is known. */
  const coming = new Float64Array(count);
  const exponent = blocks?.exponent ?? 0;
  const width = 2 ** exponent;
  const times = tapes.map((tape) => tape.times);
  const barMs = tapes.map((tape) => tape.barMs);
  const [bar = 0] = new Set(barMs).size === 1 ? barMs : [];
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
  /** Bars never overlap: as many of them end in time only where all begin together and none is missing. */
  const areAbreast = (first: number, some: number): boolean => {
    for (let i = 0; i < count; i++)
      if (knownAt(i, (rows[i] ?? 0) + some) !== first + (some - 1) * bar) return false;
    return true;
  };
  return {
    rows,
    get at() {
      return at;
    },
    oldest: () => rows.reduce((oldest, row, i) => Math.min(oldest, knownAt(i, row)), Infinity),
    seek(to) {
      at = to;
      tapes.forEach((tape, i) => {
        place(i, lastKnownRow(tape, instant(to)));
      });
    },
    enter(block) {
      tapes.forEach((tape, i) => {
        const index = blocks?.indexes[i];
        const isOwn = index?.exponent === exponent;
        place(i, isOwn ? startOf(index, block) - 1 : lastKnownRow(tape, instant(block * width - 1)));
      });
    },
    coming: soonest,
    advance(end) {
      const first = soonest();
      if (first >= end) return false;
      at = first;
      for (let i = 0; i < count; i++) while ((coming[i] ?? 0) <= first) place(i, (rows[i] ?? 0) + 1);
      return true;
    },
    abreast(end) {
      const first = soonest();
      if (first >= end || bar === 0) return 0;
      let some = Math.min(STRETCH, Math.ceil((end - first) / bar));
      while (some >= STRETCH_MIN && !areAbreast(first, some)) some = Math.floor(some / 8);
      return some >= STRETCH_MIN ? some : 0;
    },
    skip(some) {
      at = soonest() + (some - 1) * bar;
      for (let i = 0; i < count; i++) place(i, (rows[i] ?? 0) + some);
    },
  };
}
