import type { Instant } from '../../core/time.ts';
import { text } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';

/** Largest number of points of one pair, and of pairs. */
const POINTS_MAX = 2_000;
const PAIRS_MAX = 200;

interface Point {
  readonly at: Instant;
  readonly mid: Price;
}

/**
 * The reference prices of this process, for a chart. When a pair has too many points, the ring drops every second point
 * of the older half. The newest points thus keep their resolution, and the oldest point stays.
 */
export class PriceRing {
  readonly #points = new Map<string, Point[]>();

  add(pair: string, { at, mid }: Point): void {
    let points = this.#points.get(pair);
    if (points === undefined) {
      if (this.#points.size >= PAIRS_MAX) return;
      this.#points.set(pair, (points = []));
    }
    if (points.at(-1)?.at === at) return;
    points.push({ at, mid });
    if (points.length <= POINTS_MAX) return;
    const half = POINTS_MAX / 2;
    this.#points.set(pair, [...points.slice(0, half).filter((_, n) => n % 2 === 0), ...points.slice(half)]);
  }

  /** Returns the points, oldest first; those of all pairs if `pair` is `undefined`. */
  list(
    pair: string | undefined,
    since: Instant | undefined,
  ): readonly { pair: string; at: string; mid: string }[] {
    const pairs = pair === undefined ? [...this.#points.keys()] : [pair];
    return pairs.flatMap((each) =>
      (this.#points.get(each) ?? [])
        .filter(({ at }) => since === undefined || at >= since)
        .map(({ at, mid }) => ({ pair: each, at: isoOf(at), mid: text(mid) })),
    );
  }
}
