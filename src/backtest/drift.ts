import { invariant } from '../core/errors.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { ASSETS_MAX, hasLeft, mayLeave } from './band.ts';
import type { Band, Values } from './band.ts';
import { boundsAt, LEVELS } from './index.ts';
import type { PriceIndex } from './index.ts';
import { lastKnownRow } from './tape.ts';
import type { Tape } from './tape.ts';
import { walk } from './walk.ts';

/** Market history of a pair, and its index. */
export interface History {
  readonly tape: Pick<Tape, 'pair' | 'times' | 'close' | 'barMs' | 'rows'>;
  readonly index: PriceIndex;
}

/** How an asset is valued: at the price of its pair, times that of a second one where it has none against cash. */
export interface Valuation {
  /** Place of the pair among the histories. */
  readonly pair: number;
  readonly onward?: number | undefined;
}

export interface DriftQuestion {
  /** Prices are looked at as they are known here, and at each later instant at which a price arrives. Unix ms. */
  readonly from: number;
  /** Nothing later counts. */
  readonly until?: number | undefined;
  /** Units held of each asset: doubles, each the nearest to what is really held. */
  readonly held: Float64Array;
  readonly cash: number;
  /** A price that is older says nothing, and the portfolio is unknown then. */
  readonly ageMaxMs?: number | undefined;
  /** Decides where rounding could matter: whether there is a breach at these rows, one of each history. */
  isBreach(rows: Int32Array): boolean;
}

/** What a search has looked at, for figures. */
export interface Looked {
  blocks: number;
  rows: number;
  /** Rows at which the decimals had to decide. */
  doubts: number;
}

export interface DriftSearch {
  readonly looked: Looked;
  /** The first instant at which a weight is outside its band; `undefined` when there is none. */
  next(question: DriftQuestion): Instant | undefined;
}

/** A search for breaches of a band. Assets are in the order of the bounds; what is prepared serves any number of questions. */
export function driftSearch(
  histories: readonly History[],
  valuations: readonly Valuation[],
  band: Band,
): DriftSearch {
  const assets = valuations.length;
  invariant(assets <= ASSETS_MAX, `a band holds for at most ${ASSETS_MAX} assets`);
  invariant(band.upper.length === assets + 1, 'a band has bounds for each asset and for cash');
  const looked: Looked = { blocks: 0, rows: 0, doubts: 0 };
  const values: Values = { low: new Float64Array(assets), high: new Float64Array(assets), cash: 0 };
  const exponent = Math.min(...histories.map(({ index }) => index.exponent));
  const blocks = blockValues(histories, valuations, { exponent, values });
  const cursor = rowCursor(histories, exponent);
  const point: Values = { low: values.low, high: values.low, cash: 0 };
  const firstKnown = Math.max(...histories.map(({ tape }) => (tape.times[0] ?? Infinity) + tape.barMs));
  const lastKnown = Math.max(...histories.map(({ tape }) => (tape.times[tape.rows - 1] ?? 0) + tape.barMs));

  const next = (question: DriftQuestion): Instant | undefined => {
    const { held, ageMaxMs = Infinity } = question;
    values.cash = question.cash;
    point.cash = question.cash;
    const isBreachNow = (): boolean => {
      looked.rows++;
      const { rows, at } = cursor;
      for (let i = 0; i < assets; i++) {
        const { pair, onward } = valuations[i] ?? NOWHERE;
        const each = histories[pair]?.tape.close[rows[pair] ?? 0] ?? 0;
        const further = onward === undefined ? 1 : (histories[onward]?.tape.close[rows[onward] ?? 0] ?? 0);
        values.low[i] = (held[i] ?? 0) * each * further;
      }
      if (!mayLeave(band, point)) return false;
      if (at - cursor.oldest() > ageMaxMs) return false;
      if (hasLeft(band, point)) return true;
      looked.doubts++;
      return question.isBreach(rows);
    };

    const from = Math.max(question.from, firstKnown);
    const end = question.until ?? Infinity;
    if (from > end || from === Infinity || assets === 0) return undefined;
    const until = Math.min(end, lastKnown);
    cursor.seek(from);
    if (isBreachNow()) return instant(from);
    const search = {
      levels: SEARCH_LEVELS,
      mayHold(level: number, block: number) {
        looked.blocks++;
        blocks.read(level, block, held);
        return mayLeave(band, values);
      },
      open(block: number) {
        const blockEnd = (block + 1) * 2 ** exponent;
        cursor.enter(block, from);
        while (cursor.advance(Math.min(blockEnd, until + 1))) if (isBreachNow()) return cursor.at;
        return undefined;
      },
      resumesAt: () => cursor.coming(),
    };
    const found = walk(search, exponent, { from: from + 1, until });
    return found === undefined ? undefined : instant(found);
  };
  return { looked, next };
}

/** The widest blocks of a search: with a narrowest one of 2 ms still 70 years, so that wide tapes can be searched beside fine ones. */
const SEARCH_LEVELS = 21;
const NOWHERE: Valuation = { pair: -1 };
const NO_BOUNDS = new Float32Array(0);

/** Fills in between which values each asset was during a block. */
function blockValues(
  histories: readonly History[],
  valuations: readonly Valuation[],
  { exponent, values: { low, high } }: { readonly exponent: number; readonly values: Values },
): { read: (level: number, block: number, held: Float64Array) => void } {
  const stands = Array.from({ length: SEARCH_LEVELS }, (_, level) =>
    histories.map(({ index }) => standOf(index, level - (index.exponent - exponent) / 2)),
  );
  const read = (level: number, block: number, held: Float64Array): void => {
    const here = stands[level] ?? [];
    for (let i = 0; i < valuations.length; i++) {
      const { pair, onward } = valuations[i] ?? NOWHERE;
      const one = here[pair];
      if (one === undefined) continue;
      const place = placeIn(one, block);
      let lowest = one.bounds[place] ?? 0;
      let highest = one.bounds[place + 1] ?? Infinity;
      const two = onward === undefined ? undefined : here[onward];
      if (two !== undefined) {
        const further = placeIn(two, block);
        lowest *= two.bounds[further] ?? 0;
        highest *= two.bounds[further + 1] ?? Infinity;
      }
      const units = held[i] ?? 0;
      low[i] = units * (units >= 0 ? lowest : highest);
      high[i] = units * (units >= 0 ? highest : lowest);
    }
  };
  return { read };
}

/** The bounds of a history on one level of a search. */
interface Stand {
  readonly bounds: Float32Array;
  /** Number of the first block. */
  readonly first: number;
  /** How many blocks of the search make one block here. */
  readonly width: number;
}

const placeIn = ({ bounds, first, width }: Stand, block: number): number =>
  boundsAt(bounds, first, width === 1 ? block : Math.floor(block / width));

/** Below its own levels a history has its narrowest blocks, above them the bounds of everything. */
function standOf({ first, bounds }: PriceIndex, level: number): Stand {
  const own = Math.min(Math.max(level, 0), LEVELS - 1);
  const [begin = 0, here = NO_BOUNDS] = [first[own], bounds[own]];
  if (level <= own) return { bounds: here, first: begin, width: 4 ** Math.max(0, -level) };
  const times = 4 ** (level - own);
  const last = Math.floor((begin + here.length / 2 - 2) / times);
  const wide = new Float32Array(2 * (last - Math.floor(begin / times) + 2));
  const all = here.subarray(0, -2);
  const least = all.reduce((a, b) => Math.min(a, b), Infinity);
  const most = all.reduce((a, b) => Math.max(a, b), 0);
  for (let i = 0; i < wide.length; i++) wide[i] = i % 2 === 0 ? least : most;
  wide.set(here.subarray(-2), wide.length - 2);
  return { bounds: wide, first: Math.floor(begin / times), width: 1 };
}

interface RowCursor {
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

/** Goes through all prices of several histories in the order in which they become known, an instant at a time. */
function rowCursor(histories: readonly History[], exponent: number): RowCursor {
  const count = histories.length;
  const rows = new Int32Array(count);
  /** When the next row of each is known. */
  const coming = new Float64Array(count);
  const width = 2 ** exponent;
  const knownAt = (i: number, row: number): number => {
    const tape = histories[i]?.tape;
    return tape === undefined || row >= tape.rows ? Infinity : (tape.times[row] ?? 0) + tape.barMs;
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
        const start = block - (index.first[0] ?? 0);
        const before =
          index.exponent !== exponent
            ? lastKnownRow(tape, instant(block * width - 1))
            : (index.starts[Math.min(start, index.starts.length - 1)] ?? 0) - 1;
        place(i, before);
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
