import type { Monotonic } from '../../core/time.ts';

/** At most `max` requests in any period of `perMs`, wherever it begins. */
export interface Window {
  readonly max: number;
  readonly perMs: number;
}

/** A request in a window. */
export interface Place {
  readonly log: RequestWindow;
  readonly sentAt: number;
  /** When the place becomes free; Infinity while the request is unanswered. */
  freeAt: number;
}

/**
 * Number of observed round trips before any is relied on. With twenty, the smallest observed was rarely so far above the
 * smallest possible that an eleventh request met ten in a window of ten: in one of 6 000 simulated networks.
 */
const ROUND_TRIPS_NEEDED = 100;
/** Weight of the newest round trip in their mean. */
const MEAN_WEIGHT = 1 / 32;

/** One window and the requests in it. */
export class RequestWindow {
  readonly window: Window;
  blockedUntil = 0;
  readonly #guardMs: number;
  readonly #places: Place[] = [];
  #roundTrips = 0;
  #smallestMs = Number.POSITIVE_INFINITY;
  #meanMs = 0;

  constructor(window: Window, guardMs: number) {
    this.window = window;
    this.#guardMs = guardMs;
  }

  enter(now: Monotonic): Place {
    const place: Place = { log: this, sentAt: now, freeAt: Number.POSITIVE_INFINITY };
    this.#places.push(place);
    return place;
  }

  /** Counts a request of another process that reaches the venue within `ms` after `now`; negative: before it. */
  recall(now: Monotonic, ms: number): void {
    const freeAt = now + ms + this.window.perMs + this.#guardMs;
    if (freeAt > now) this.#places.push({ log: this, sentAt: now, freeAt });
  }

  settle(place: Place, now: Monotonic): void {
    const roundTripMs = now - place.sentAt;
    place.freeAt = Math.max(place.sentAt, now - this.#certainMs()) + this.window.perMs + this.#guardMs;
    this.#roundTrips++;
    this.#smallestMs = Math.min(this.#smallestMs, roundTripMs);
    this.#meanMs += (roundTripMs - this.#meanMs) * Math.max(MEAN_WEIGHT, 1 / this.#roundTrips);
  }

  leave(place: Place): void {
    const at = this.#places.indexOf(place);
    if (at >= 0) this.#places.splice(at, 1);
  }

  /** A lower bound of the round trip. Never forgotten: in a network that became slower it only costs throughput. */
  #certainMs(): number {
    if (this.#roundTrips < ROUND_TRIPS_NEEDED) return 0;
    return Math.max(0, 2 * this.#smallestMs - this.#meanMs);
  }

  used(now: Monotonic): number {
    this.#clean(now);
    return this.#places.length;
  }

  /** When the next place is free: `now` or earlier if one is. */
  freeAt(now: Monotonic): number {
    // While there is room, requests that have left do not matter.
    if (this.#places.length >= this.window.max) this.#clean(now);
    if (this.#places.length < this.window.max) return this.blockedUntil;
    // All places are taken: one becomes free when enough of the earliest have left.
    const soonest = this.#places.map((place) => place.freeAt).toSorted((a, b) => a - b);
    return Math.max(soonest[this.#places.length - this.window.max] ?? now, this.blockedUntil);
  }

  #clean(now: Monotonic): void {
    let kept = 0;
    for (const place of this.#places) if (place.freeAt > now) this.#places[kept++] = place;
    this.#places.length = kept;
  }
}
