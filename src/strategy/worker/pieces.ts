import { z } from 'zod';
import {
  approximate,
  fraction,
  least,
  ONE,
  quantity,
  ratioOf,
  roundDown,
  roundUp,
  scale,
  subtract,
  text,
} from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { after, instant, parseDuration } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { uniform } from '../../core/uniform.ts';
import type { Size } from '../../core/venue.ts';
import type { SliceOutcome } from '../../core/wake.ts';
import { durationText } from '../fields.ts';
import type { Step } from '../kernel.ts';
import { tradedOf } from './total.ts';

/** A size that trades in pieces, one after another, by a strategy that does not know their number in advance. */

/** The field of the time between two pieces. */
export const intervalField = durationText
  .default('PT15S')
  .describe('Minimum time between two pieces, and maximum time to try a piece, ISO 8601');

/** The most pieces that the controls allow a parent without a plan; the remainder becomes another parent. */
export const PIECES_MAX = 40;

/** Every piece that does not trade doubles the pause, up to this many intervals, because unused quotes cost goodwill. */
const PAUSE_MAX = 16;

/** Returns how many intervals to pause after that many consecutive pieces without a trade. */
export const pausesAfter = (misses: number): number =>
  misses === 0 ? 0 : Math.min(2 ** (misses - 1), PAUSE_MAX);

/** Returns the number of pieces of `size` if none is larger than `largest`. */
export const piecesOf = (size: Quantity, largest: Quantity): number =>
  approximate(roundUp(fraction(size, largest), 0));

/** How a size is cut into pieces. Amounts are in its unit. */
interface Cut {
  /** Largest piece; `undefined` if the size is one piece. */
  readonly largest: Quantity | undefined;
  /** Decimals of a piece. */
  readonly precision: number;
  readonly jitter?:
    { readonly size_pct: number; readonly time_pct: number; readonly seed: number } | undefined;
}

/**
 * Returns piece number `slice` of the remainder `left`: one of as few equal pieces as `largest` allows, so that the
 * last piece is not tiny. Jitter only makes a piece smaller. A remainder that fits in one piece stays whole, so that Σ
 * pieces = total exactly.
 */
export function pieceOf(left: Quantity, { largest, precision, jitter }: Cut, slice = 0): Quantity {
  if (largest === undefined || left.lte(largest)) return left;
  const pieces = ratioOf(piecesOf(left, largest));
  const each = least(roundUp(scale(left, fraction(ONE, pieces)), precision), largest);
  if (jitter === undefined) return each;
  const less = scale(each, ratioOf((jitter.size_pct / 100) * uniform(jitter.seed, 2 * slice + 1)));
  return subtract(each, roundDown(less, precision));
}

/** The state of a size that trades in pieces. */
export const piecesShape = {
  /** Not yet traded, in the unit of the size; a piece in progress counts as not traded. */
  left: z.string(),
  /** Number of the next piece. */
  slice: z.int().min(0),
  /** Time before which no piece begins, Unix ms. */
  until: z.number(),
  /** Consecutive pieces that did not trade. */
  misses: z.int().min(0),
};
interface Pieces {
  readonly left: string;
  readonly slice: number;
  readonly until: number;
  readonly misses: number;
}

interface Pace extends Cut {
  /** ISO 8601. */
  readonly interval: string;
  /** Nothing is tried from this instant on. */
  readonly end: Instant | undefined;
}

/** Returns the next piece, which is tried for an interval, and the state while it is tried. */
export function nextPiece<State extends Pieces>(
  was: State,
  at: Instant,
  { interval, end, ...cut }: Pace,
): { readonly now: State; readonly amount: Quantity; readonly deadline: Instant } {
  const { jitter } = cut;
  const longer = jitter === undefined ? 0 : (jitter.time_pct / 100) * uniform(jitter.seed, 2 * was.slice);
  const until = after(at, Math.floor(parseDuration(interval) * (1 + longer)));
  return {
    now: { ...was, slice: was.slice + 1, until },
    amount: pieceOf(quantity(was.left), cut, was.slice),
    deadline: end !== undefined && end < until ? end : until,
  };
}

/** Books the end of a piece. The next one may begin when the interval is over, or later if nothing traded. */
export function bookPiece<State extends Pieces>(
  was: State,
  { at, outcome }: { readonly at: Instant; readonly outcome: SliceOutcome },
  { by, interval }: { readonly by: Size['by']; readonly interval: string },
): { readonly now: State; readonly report: Pick<Step<unknown>, 'reason' | 'note'> } {
  const traded = tradedOf(by, outcome);
  const now = { ...was, left: text(subtract(quantity(was.left), traded)) };
  if (traded.gt(0)) return { now: { ...now, misses: 0 }, report: {} };
  const misses = was.misses + 1;
  const many = misses === 1 ? '1 piece' : `${misses} pieces in a row`;
  return {
    now: { ...now, misses, until: pausedUntil(was.until, at, { misses, interval }) },
    report: { reason: 'waiting', note: `${many} did not trade: ${outcome.reason ?? 'no price'}` },
  };
}

/** Returns the end of the pause after `misses` pieces without a trade. */
export const pausedUntil = (
  until: number,
  at: Instant,
  { misses, interval }: { readonly misses: number; readonly interval: string },
): Instant => instant(Math.max(until, at) + pausesAfter(misses) * Math.floor(parseDuration(interval)));
