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

/** Pieces, for strategies that do not know the number of pieces in advance. */

/** Every piece that does not trade doubles the pause, up to this many intervals, because unused quotes cost goodwill. */
const PAUSE_MAX = 16;

/** Returns how many intervals to pause after that many consecutive pieces without a trade. */
export const pausesAfter = (misses: number): number =>
  misses === 0 ? 0 : Math.min(2 ** (misses - 1), PAUSE_MAX);

/** Returns why a strategy pauses, for people. */
export const missesNote = (misses: number, { reason }: { readonly reason?: Reason | undefined }): string =>
  `${misses === 1 ? '1 piece' : `${misses} pieces in a row`} did not trade: ${reason ?? 'no price'}`;

/** Returns the number of pieces of `size` if none is larger than `largest`. */
export const piecesOf = <A extends Quantity | Money>(size: A, largest: A): number =>
  approximate(roundUp(fraction(size, largest), 0));

/**
 * Returns piece number `slice` of the remainder `left`: one of as few equal pieces as `largest` allows, so that the
 * last piece is not tiny. Jitter only makes a piece smaller. A remainder that fits in one piece stays whole, so that Σ
 * pieces = total exactly.
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
