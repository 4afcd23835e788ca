import { invariant } from '../core/errors.ts';
import { ASSETS_MAX, hasLeft, mayLeaveAt } from './band.ts';
import type { Band } from './band.ts';
import { areEven } from './history.ts';
import type { Prices, Valuation } from './history.ts';
import type { RowCursor } from './rows.ts';
import { bandScan } from './scan.ts';

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

/** Goes through the rows of the tapes of a portfolio, an instant at a time. */
export interface BandRows {
  readonly looked: Looked;
  /** From when on each tape has a price, and when the last one comes. */
  readonly firstKnown: number;
  readonly lastKnown: number;
  /** Whether a loop in doubles may go through rows that stand abreast. */
  readonly isFast: boolean;
  ask(question: Asked): void;
  isBreachAt(at: number): boolean;
  /** Goes on to the next instant before `end` at which there is a breach; `false`, and at the last one before `end`, when there is none. */
  goOn(end: number): boolean;
}

type Asked = Pick<DriftQuestion, 'held' | 'cash' | 'ageMaxMs' | 'isBreach'>;

interface Rows {
  readonly tapes: readonly Prices[];
  readonly valuations: readonly Valuation[];
  readonly band: Band;
  readonly cursor: RowCursor;
}

/** So many instants are gone through one by one before it is asked again whether rows stand abreast. */
const ONE_BY_ONE = 32;

export function bandRows({ tapes, valuations, band, cursor }: Rows): BandRows {
  const assets = valuations.length;
  invariant(assets <= ASSETS_MAX, `a band holds for at most ${ASSETS_MAX} assets`);
  invariant(band.upper.length === assets + 1, 'a band has bounds for each asset and for cash');
  const looked: Looked = { blocks: 0, rows: 0, doubts: 0 };
  const closes = valuations.map(({ pair, onward = -1 }) => ({
    pair,
    close: tapes[pair]?.close ?? NO_CLOSES.close,
    onward,
    further: tapes[onward]?.close,
  }));
  const worth = new Float64Array(assets);
  const isPlain = closes.every(({ further }) => further === undefined);
  const scan = isPlain ? bandScan(band) : undefined;
  const columns = closes.map(({ close }) => close);
  const isEven = areEven(tapes);
  let asked: Asked = { held: NO_CLOSES.close, cash: 0, isBreach: () => false };
  let isHeld = false;

  const isBreachNow = (): boolean => {
    const { held, cash, ageMaxMs = Infinity } = asked;
    const { rows, at } = cursor;
    for (let i = 0; i < assets; i++) {
      const { close, pair, further, onward } = closes[i] ?? NO_CLOSES;
      const each = (held[i] ?? 0) * (close[rows[pair] ?? 0] ?? 0);
      worth[i] = further === undefined ? each : each * (further[rows[onward] ?? 0] ?? 0);
    }
    if (ageMaxMs < Infinity && at - cursor.oldest() > ageMaxMs) return false;
    if (hasLeft(band, worth, cash)) return true;
    if (!mayLeaveAt(band, worth, cash)) return false;
    looked.doubts++;
    return asked.isBreach(rows);
  };
  /** Passes rows that hold no breach for certain, and goes to the one after them if there is one. How many it went on by. */
  const pass = (count: number): number => {
    const { rows } = cursor;
    const first = (rows[0] ?? 0) + 1;
    const here = isEven ? columns : closes.map(({ close, pair }) => close.subarray((rows[pair] ?? 0) + 1));
    const from = isEven ? first : 0;
    const passed = scan?.pass(here, from, from + count) ?? 0;
    const by = Math.min(passed + 1, count);
    cursor.skip(by);
    looked.rows += by;
    return passed < count ? by : 0;
  };
  return {
    looked,
    firstKnown: Math.max(...tapes.map(({ times, barMs }) => (times[0] ?? Infinity) + barMs)),
    lastKnown: Math.max(...tapes.map(({ times, rows, barMs }) => (times[rows - 1] ?? 0) + barMs)),
    isFast: scan !== undefined && (isEven || new Set(tapes.map(({ barMs }) => barMs)).size === 1),
    ask(question) {
      asked = question;
      isHeld = scan?.hold(question.held, question.cash) === true;
    },
    isBreachAt(at) {
      cursor.seek(at);
      looked.rows++;
      if (isEven && isHeld && scan !== undefined) {
        const row = cursor.rows[0] ?? 0;
        if (scan.pass(columns, row, row + 1) === 1) return false;
      }
      return isBreachNow();
    },
    goOn(end) {
      for (;;) {
        const count = isHeld ? cursor.abreast(end) : 0;
        if (count > 0) {
          if (pass(count) > 0 && isBreachNow()) return true;
          continue;
        }
        for (let i = 0; i < ONE_BY_ONE; i++) {
          if (!cursor.advance(end)) return false;
          looked.rows++;
          if (isBreachNow()) return true;
        }
      }
    },
  };
}

const NO_CLOSES = { pair: -1, close: new Float64Array(0), onward: -1, further: undefined };
