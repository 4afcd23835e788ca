import { invariant } from '../../core/errors.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { ASSETS_MAX, hasLeft, mayLeave, mayLeaveAt } from './band.ts';
import type { Band, Values } from './band.ts';
import { blockValues } from './block-values.ts';
import type { History, Valuation } from './history.ts';
import { rowCursor } from './row-cursor.ts';
import { walk } from './walk.ts';

export type { History, Valuation };

export interface DriftQuestion {
  /** Evaluates the known prices at this instant, and at each later instant at which a price arrives. Unix ms. */
  readonly from: number;
  /** Units held of each asset, as the nearest doubles. */
  readonly held: Float64Array;
  readonly cash: number;
  /** Decides whether there is a breach at these rows, one row of each history. Called if rounding could matter. */
  isBreach(rows: Int32Array): boolean;
}

/** Statistics of a search. */
export interface Looked {
  blocks: number;
  rows: number;
  /** Number of rows that needed exact decimals. */
  doubts: number;
}

export interface DriftSearch {
  readonly looked: Looked;
  /** Returns the first instant at which a weight is outside its band; `undefined` if none is. */
  next(question: DriftQuestion): Instant | undefined;
}

/**
 * Prepares a search for breaches of a band, which then answers any number of questions. Assets follow the order of the
 * bounds. The search skips blocks of time that certainly contain no breach, and checks the rows of the others one by one.
 */
export function driftSearch(
  histories: readonly History[],
  valuations: readonly Valuation[],
  band: Band,
): DriftSearch {
  const assets = valuations.length;
  invariant(assets <= ASSETS_MAX, `a band holds for at most ${ASSETS_MAX} assets`);
  invariant(band.upper.length === assets + 1, 'a band has bounds for each asset and for cash');
  const exponent = Math.min(...histories.map(({ index }) => index.exponent));
  const tapes = histories.map(({ tape }) => tape);
  const cursor = rowCursor(histories, exponent);
  const firstKnown = Math.max(...tapes.map(({ times, barMs }) => (times[0] ?? Infinity) + barMs));
  const lastKnown = Math.max(...tapes.map(({ times, rows, barMs }) => (times[rows - 1] ?? 0) + barMs));
  const looked: Looked = { blocks: 0, rows: 0, doubts: 0 };
  const bounds: Values = { low: new Float64Array(assets), high: new Float64Array(assets), cash: 0 };
  const blocks = blockValues(histories, valuations, { exponent, values: bounds });
  const closes = valuations.map(({ pair, onward = -1 }) => ({
    pair,
    close: tapes[pair]?.close ?? NO_CLOSES,
    onward,
    onwardClose: tapes[onward]?.close,
  }));
  const values = new Float64Array(assets);
  let asked: DriftQuestion = { from: 0, held: NO_CLOSES, cash: 0, isBreach: () => false };

  const isBreachNow = (): boolean => {
    const { held, cash } = asked;
    const { rows } = cursor;
    looked.rows++;
    for (let i = 0; i < assets; i++) {
      const { close, pair, onward, onwardClose } = closes[i] ?? NO_ASSET;
      const value = (held[i] ?? 0) * (close[rows[pair] ?? 0] ?? 0);
      values[i] = onwardClose === undefined ? value : value * (onwardClose[rows[onward] ?? 0] ?? 0);
    }
    if (!mayLeaveAt(band, values, cash)) return false;
    if (hasLeft(band, values, cash)) return true;
    looked.doubts++;
    return asked.isBreach(rows);
  };
  const width = 2 ** exponent;
  const search = {
    levels: blocks.levels,
    width,
    from: 0,
    until: lastKnown,
    misses: 0,
    mayHold(level: number, block: number) {
      looked.blocks++;
      blocks.read(level, block, asked.held);
      return mayLeave(band, bounds);
    },
    open(first: number, last: number) {
      // In the first block the cursor is already at the beginning of the search.
      if (first * width >= search.from) cursor.enter(first);
      while (cursor.advance((last + 1) * width)) if (isBreachNow()) return cursor.at;
      return undefined;
    },
    resumesAt: () => cursor.nextAt(),
  };
  const next = (question: DriftQuestion): Instant | undefined => {
    asked = question;
    bounds.cash = question.cash;
    const from = Math.max(question.from, firstKnown);
    if (from === Infinity || assets === 0) return undefined;
    cursor.seek(from);
    if (isBreachNow()) return instant(from);
    search.from = from + 1;
    const found = walk(search);
    return found === undefined ? undefined : instant(found);
  };
  return { looked, next };
}

const NO_CLOSES = new Float64Array(0);
const NO_ASSET = { pair: -1, close: NO_CLOSES, onward: -1, onwardClose: undefined };
