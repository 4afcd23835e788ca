import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { bandRows } from './band-rows.ts';
import type { DriftQuestion, Looked } from './band-rows.ts';
import { mayLeave } from './band.ts';
import type { Band, Values } from './band.ts';
import { blockValues } from './blocks.ts';
import { bandBoxes } from './boxes.ts';
import { areEven } from './history.ts';
import type { History, Valuation } from './history.ts';
import { evenRows, mergedRows } from './rows.ts';
import { walk } from './walk.ts';

export type { DriftQuestion, History, Valuation };

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
  const exponent = Math.min(...histories.map(({ index }) => index.exponent));
  const tapes = histories.map(({ tape }) => tape);
  const indexes = histories.map(({ index }) => index);
  const cursor = areEven(tapes) ? evenRows(tapes, exponent) : mergedRows(tapes, { exponent, indexes });
  const rows = bandRows({ tapes, valuations, band, cursor });
  const { looked } = rows;
  const values: Values = { low: new Float64Array(assets), high: new Float64Array(assets), cash: 0 };
  const blocks = blockValues(histories, valuations, { exponent, values });
  let held: Float64Array = new Float64Array(0);
  const boxes = blocks.places === undefined ? undefined : bandBoxes(band);
  let isBoxed = false;
  const lowest = rows.isFast ? FAST_LEVEL : 0;
  const width = 2 ** exponent * 4 ** lowest;
  const search = {
    levels: blocks.levels,
    lowest,
    width,
    from: 0,
    until: 0,
    misses: 0,
    mayHold(level: number, block: number) {
      looked.blocks++;
      if (boxes !== undefined && isBoxed) return boxes.mayLeave(blocks.places?.[level] ?? NO_PLACES, block);
      blocks.read(level, block, held);
      return mayLeave(band, values);
    },
    open(first: number, last: number) {
      // The first one is where the cursor stands already.
      if (first * width >= search.from) cursor.enter(first * 4 ** lowest);
      const end = Math.min((last + 1) * width, search.until + 1);
      return rows.goOn(end) ? cursor.at : undefined;
    },
    resumesAt: () => cursor.coming(),
  };
  const next = (question: DriftQuestion): Instant | undefined => {
    held = question.held;
    values.cash = question.cash;
    isBoxed = boxes?.hold(held, question.cash) === true;
    const from = Math.max(question.from, rows.firstKnown);
    const end = question.until ?? Infinity;
    if (from > end || from === Infinity || assets === 0) return undefined;
    rows.ask(question);
    if (rows.isBreachAt(from)) return instant(from);
    search.from = from + 1;
    search.until = Math.min(end, rows.lastKnown);
    const found = walk(search);
    return found === undefined ? undefined : instant(found);
  };
  return { looked, next };
}

/** Where a loop goes through rows, asking about one of the narrowest blocks costs as much as going through it. */
const FAST_LEVEL = 1;

const NO_PLACES = { bounds: [], first: [] };
