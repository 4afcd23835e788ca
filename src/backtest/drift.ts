import { invariant } from '../core/errors.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { ASSETS_MAX, hasLeft, mayLeave, mayLeaveAt } from './band.ts';
import type { Band, Values } from './band.ts';
import { blockValues } from './blocks.ts';
import { areAligned } from './history.ts';
import type { History, Valuation } from './history.ts';
import { alignedRows, mergedRows } from './rows.ts';
import { walk } from './walk.ts';

export type { History, Valuation };

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
  const cursor = areAligned(histories) ? alignedRows(histories, exponent) : mergedRows(histories, exponent);
  const closes = valuations.map(({ pair, onward = -1 }) => ({
    pair,
    close: histories[pair]?.tape.close ?? NO_CLOSES.close,
    onward,
    further: histories[onward]?.tape.close,
  }));
  const worth = new Float64Array(assets);
  const firstKnown = Math.max(...histories.map(({ tape }) => (tape.times[0] ?? Infinity) + tape.barMs));
  const lastKnown = Math.max(...histories.map(({ tape }) => (tape.times[tape.rows - 1] ?? 0) + tape.barMs));

  const next = (question: DriftQuestion): Instant | undefined => {
    const { held, ageMaxMs = Infinity } = question;
    values.cash = question.cash;
    const isBreachNow = (): boolean => {
      looked.rows++;
      const { rows, at } = cursor;
      for (let i = 0; i < assets; i++) {
        const { close, pair, further, onward } = closes[i] ?? NO_CLOSES;
        const each = (held[i] ?? 0) * (close[rows[pair] ?? 0] ?? 0);
        worth[i] = further === undefined ? each : each * (further[rows[onward] ?? 0] ?? 0);
      }
      if (!mayLeaveAt(band, worth, question.cash)) return false;
      if (at - cursor.oldest() > ageMaxMs) return false;
      if (hasLeft(band, worth, question.cash)) return true;
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
      levels: blocks.levels,
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

const NO_CLOSES = { pair: -1, close: new Float64Array(0), onward: -1, further: undefined };
