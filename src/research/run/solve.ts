import { isBeyond } from '../../core/reference-price.ts';
import { approximate, NO_QUANTITY, NOTHING, price, quantity, subtract } from '../../core/money.ts';
import type { Price, Quantity } from '../../core/money.ts';
import { hasDrifted, targetsOf, tradedPair } from '../../core/risk/portfolio.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Beyond, Wait } from '../../core/wake.ts';
import { bandOf } from './band.ts';
import type { Band } from './band.ts';
import { driftSearch } from './drift.ts';
import type { History, Valuation } from './history.ts';
import { boundsAt, LEVELS } from '../tape/index.ts';
import { lastKnownRow, priceAt } from '../tape/tape.ts';
import { walk } from './walk.ts';

/** Market histories by pair. Of several prices at one instant, the last counts. */
export type Market = ReadonlyMap<string, History>;

/** Returns the next instant after `at` at which a price becomes known; `undefined` if there is none. */
export function nextPriceAt(tapes: Iterable<History['tape']>, at: Instant): Instant | undefined {
  let first = Infinity;
  for (const tape of tapes) {
    const row = lastKnownRow(tape, at) + 1;
    if (row < tape.rows) first = Math.min(first, (tape.times[row] ?? Infinity) + tape.barMs);
  }
  return first === Infinity ? undefined : instant(first);
}

/** Returns the first instant from `from` on at which the price is on the wanted side of the level; `undefined` if there is none. */
export function nextCrossing(
  { tape, index }: History,
  { is, level }: Pick<Wait & { on: 'price' }, 'is' | 'level'>,
  from: Instant,
): Instant | undefined {
  const { times, close, barMs, rows } = tape;
  const isWanted = beyond(is, level);
  const side = is === 'at_or_below' ? 0 : 1;
  const known = lastKnownRow(tape, from);
  if (known >= 0 && isWanted(close[known] ?? 0)) return from;
  const width = 2 ** index.exponent;
  let row = known + 1;
  const search = {
    levels: LEVELS,
    width,
    from: (times[row] ?? 0) + barMs,
    until: (times[rows - 1] ?? 0) + barMs,
    misses: 0,
    mayHold(height: number, block: number) {
      const bounds = index.bounds[height];
      if (bounds === undefined) return true;
      return isWanted(bounds[boundsAt(bounds, index.first[height] ?? 0, block) + side] ?? 0);
    },
    open(first: number, last: number) {
      const end = (last + 1) * width - barMs;
      const start = index.starts[first - (index.first[0] ?? 0)] ?? rows;
      for (row = Math.max(start, known + 1); row < rows; row++) {
        const time = times[row] ?? 0;
        if (time >= end) return undefined;
        if (isWanted(close[row] ?? 0) && time !== times[row + 1]) return time + barMs;
      }
      return undefined;
    },
    resumesAt: () => (times[row] ?? Infinity) + barMs,
  };
  if (row >= rows) return undefined;
  const found = walk(search);
  return found === undefined ? undefined : instant(found);
}

/**
 * Returns a check of whether the decimal of a double is on this side of a level. Conversion to the nearest double keeps
 * the order, so a double below the level's double is below the level, and a double above it is above the level. The
 * decimals are compared only once, for the level's double itself.
 */
function beyond(is: Beyond, text: string): (value: number) => boolean {
  const level = price(text);
  const nearest = approximate(level);
  const isNearest = isBeyond(price(String(nearest)), is, level);
  if (is === 'at_or_below') return isNearest ? (value) => value <= nearest : (value) => value < nearest;
  return isNearest ? (value) => value >= nearest : (value) => value > nearest;
}

/** Holdings of a portfolio, by currency. */
export type Holdings = ReadonlyMap<string, Quantity>;

type DriftWait = Wait & { on: 'drift' };

/** A drift wait in doubles. */
interface DriftProblem {
  /** Pairs whose prices are needed. */
  readonly pairs: readonly string[];
  /** Valuation of each asset, by these pairs. */
  readonly valuations: readonly Valuation[];
  readonly band: Band;
  /** Returns the units of each asset, and of cash. The array is reused. */
  readonly heldIn: (holdings: Holdings) => { readonly held: Float64Array; readonly cash: number };
}

function driftProblem(wait: DriftWait): DriftProblem {
  const targets = targetsOf(wait);
  const { cash, aside } = wait;
  const currencies = [...targets.keys()].filter((currency) => currency !== cash);
  const legs = currencies.map((currency) => pairsOf(currency, wait));
  const pairs = [...new Set(legs.flat())];
  const valuations = legs.map(([pair = '', onward]) => ({
    pair: pairs.indexOf(pair),
    onward: onward === undefined ? undefined : pairs.indexOf(onward),
  }));
  const weights = [...currencies, cash].map((currency) => targets.get(currency) ?? NOTHING);
  const held = new Float64Array(currencies.length);
  return {
    pairs,
    valuations,
    band: bandOf(weights, wait),
    heldIn(holdings) {
      currencies.forEach((currency, i) => (held[i] = approximate(holdings.get(currency) ?? NO_QUANTITY)));
      const own = subtract(holdings.get(cash) ?? NO_QUANTITY, quantity(aside ?? '0'));
      return { held, cash: approximate(own) };
    },
  };
}

/**
 * Returns a function that finds the first instant from `from` on at which the portfolio has drifted beyond the threshold with constant
 * holdings, which is exactly when a desk that evaluates every price would wake; `undefined` if there is no such instant, or if a price is
 * permanently missing. Computes only once everything that does not depend on the holdings.
 */
export function driftSolver(
  market: Market,
  wait: DriftWait,
): (question: { readonly from: Instant; readonly holdings: Holdings }) => Instant | undefined {
  const { pairs, valuations, band, heldIn } = driftProblem(wait);
  const histories = pairs.map((pair) => market.get(pair)).filter((history) => history !== undefined);
  if (histories.length < pairs.length) return () => undefined;
  const search = driftSearch(histories, valuations, band);
  return ({ holdings, from }) => {
    const isBreach = (rows: Int32Array): boolean => {
      const midOf = (pair: string): Price | undefined => {
        const place = pairs.indexOf(pair);
        const history = histories[place];
        return history === undefined ? undefined : priceAt(history.tape.close, rows[place] ?? 0);
      };
      return hasDrifted(wait, { holdings, midOf });
    };
    const { held, cash } = heldIn(holdings);
    return search.next({ from, held, cash, isBreach });
  };
}

/** Returns the pair that prices a currency, followed by a pair against cash if the first pair is not against cash. */
function pairsOf(currency: string, wait: DriftWait): readonly string[] {
  const bridge = wait.via?.[currency];
  return [tradedPair(currency, wait), ...(bridge === undefined ? [] : [bridge + wait.cash])];
}
