/**
 * Number of observed round trips before the limiter relies on any of them. The smallest of only twenty can be too far
 * above the smallest possible round trip. In one of 6 000 simulated networks, an eleventh request then reached a window
 * that permits ten.
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

  /** A lower bound of the round trip. Never reset, because in a network that has become slower it only costs throughput. */
  certainMs(): number {
    if (this.#count < ROUND_TRIPS_NEEDED) return 0;
    return Math.max(0, 2 * this.#smallestMs - this.#meanMs);
  }
}
