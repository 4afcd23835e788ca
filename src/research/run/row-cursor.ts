import { instant } from '../../core/time.ts';
import type { History } from './history.ts';
import type { PriceIndex } from '../tape/index.ts';
import { lastKnownRow } from '../tape/tape.ts';

/** A cursor over the prices of several tapes in the order in which they become known, one instant at a time. */
export interface RowCursor {
  /** The last row of each tape that is known at `at`. */
  readonly rows: Int32Array;
  readonly at: number;
  /** Returns when the next price arrives; infinity if none does. */
  nextAt(): number;
  /** Moves to the prices known at an instant. */
  seek(at: number): void;
  /** Moves to the prices known just before a block of the search begins. */
  enter(block: number): void;
  /** Moves to the next instant before `end` at which a price arrives; `false` if there is none. */
  advance(end: number): boolean;
}

/** Returns a cursor. The blocks of the search are `2 ** exponent` ms wide; an index with that exponent knows where they begin. */
export function rowCursor(histories: readonly History[], exponent: number): RowCursor {
  const count = histories.length;
  const rows = new Int32Array(count);
  /** When the next row of each tape is known. */
  const nextAt = new Float64Array(count);
  const width = 2 ** exponent;
  const tapes = histories.map(({ tape }) => tape);
  const times = tapes.map((tape) => tape.times);
  const barMs = tapes.map((tape) => tape.barMs);
  const knownAt = (i: number, row: number): number => {
    const own = times[i];
    return own === undefined || row >= own.length ? Infinity : (own[row] ?? 0) + (barMs[i] ?? 0);
  };
  const soonest = (): number => {
    let first = Infinity;
    for (let i = 0; i < count; i++) if ((nextAt[i] ?? 0) < first) first = nextAt[i] ?? 0;
    return first;
  };
  let at = 0;
  const place = (i: number, row: number): void => {
    rows[i] = row;
    nextAt[i] = knownAt(i, row + 1);
  };
  return {
    rows,
    get at() {
      return at;
    },
    nextAt: soonest,
    seek(to) {
      at = to;
      tapes.forEach((tape, i) => {
        place(i, lastKnownRow(tape, instant(to)));
      });
    },
    enter(block) {
      histories.forEach(({ tape, index }, i) => {
        const isOwn = index.exponent === exponent;
        place(i, isOwn ? startOf(index, block) - 1 : lastKnownRow(tape, instant(block * width - 1)));
      });
    },
    advance(end) {
      const first = soonest();
      if (first >= end) return false;
      at = first;
      for (let i = 0; i < count; i++) while ((nextAt[i] ?? 0) <= first) place(i, (rows[i] ?? 0) + 1);
      return true;
    },
  };
}

/** Returns the first row that is known in one of the narrowest blocks of an index or later. */
const startOf = ({ first, starts }: PriceIndex, block: number): number =>
  starts[Math.min(block - (first[0] ?? 0), starts.length - 1)] ?? 0;
