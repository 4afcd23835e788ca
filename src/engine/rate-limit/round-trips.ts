/**
 * Number of observed round trips before the limiter relies on them. With only twenty, the smallest observed round trip can
 * be too far above the smallest possible one: in one of 6 000 simulated networks, an eleventh request then reached the
 * venue within a window for ten.
 */
const ROUND_TRIPS_NEEDED = 100;
/** Weight of the newest round trip in their mean. */
const MEAN_WEIGHT = 1 / 32;

/** The round trips of one window, milliseconds. */
export class RoundTrips {
  #count = 0;
  #smallestMs = Number.POSITIVE_INFINITY;
  #meanMs = 0;

  add(ms: number): void {
    this.#count++;
    this.#smallestMs = Math.min(this.#smallestMs, ms);
    this.#meanMs += (ms - this.#meanMs) * Math.max(MEAN_WEIGHT, 1 / this.#count);
  }

  /** A lower bound of the round trip. Never reset: in a network that became slower, it only costs throughput. */
  certainMs(): number {
    if (this.#count < ROUND_TRIPS_NEEDED) return 0;
    return Math.max(0, 2 * this.#smallestMs - this.#meanMs);
  }
}
