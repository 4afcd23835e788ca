import {
  approximate,
  fraction,
  least,
  ONE,
  ratioOf,
  roundDown,
  roundUp,
  scale,
  subtract,
} from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import { uniform } from '../../core/uniform.ts';

/** What a strategy trades piece by piece when it does not know beforehand how many there will be. */

/** A piece that did not trade doubles the time to the next, up to this many intervals: quotes that are not taken cost goodwill. */
const PAUSE_MAX = 16;

/** How many intervals to pause after that many consecutive pieces without a trade. */
export const pausesAfter = (misses: number): number =>
  misses === 0 ? 0 : Math.min(2 ** (misses - 1), PAUSE_MAX);

/** Why a strategy pauses, for people. */
export const missesNote = (misses: number, { reason }: { readonly reason?: Reason | undefined }): string =>
  `${misses === 1 ? '1 piece' : `${misses} pieces in a row`} did not trade: ${reason ?? 'no price'}`;

/** Into how many pieces `size` goes when none is larger than `largest`. */
export const piecesOf = <A extends Quantity | Money>(size: A, largest: A): number =>
  approximate(roundUp(fraction(size, largest), 0));

/**
 * Piece number `slice` of what is left: as many equal pieces as `largest` makes necessary, so that the last is no crumb;
 * jitter makes one smaller, never larger. What fits in one piece goes in one, whole: Σ pieces = total exactly.
 */
export function pieceOf<A extends Quantity | Money>(
  left: A,
  { largest, precision, slice, jitter }: PieceRule<A>,
): A {
  if (largest === undefined || left.lte(largest)) return left;
  const pieces = ratioOf(piecesOf(left, largest));
  const each = least(roundUp(scale(left, fraction(ONE, pieces)), precision), largest);
  if (jitter === undefined) return each;
  const less = scale(each, ratioOf((jitter.size_pct / 100) * uniform(jitter.seed, 2 * slice + 1)));
  return subtract(each, roundDown(less, precision));
}

interface PieceRule<A> {
  readonly largest: A | undefined;
  readonly precision: number;
  readonly slice: number;
  readonly jitter?: { readonly size_pct: number; readonly seed: number } | undefined;
}
