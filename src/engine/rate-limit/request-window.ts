import type { Monotonic } from '../../core/time.ts';

/** At most `max` requests in any `perMs`, wherever the window begins. */
export interface Window {
  readonly max: number;
  readonly perMs: number;
}

/** A request in a window. */
export interface Place {
  readonly log: RequestWindow;
  readonly sentAt: number;
  /** When the place is free again; infinite while the request is unanswered. */
  freeAt: number;
}

/**
 * Round trips that must be known before any is counted on. Of twenty the smallest is now and then so far from the smallest
 * there is that an eleventh request met ten in a window of ten: once in 6 000 networks.
 */
const ROUND_TRIPS_NEEDED = 100;
/** Weight of the newest round trip in their mean. */
const MEAN_WEIGHT = 1 / 32;

/** One window and who stands in it. */
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

  /** Another process sent a request, which reaches the venue no later than `ms` after `now`; before it where that is below zero. */
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

  /** What every round trip takes at least, as far as can be told. Never forgotten: a slower network only costs pace. */
  #certainMs(): number {
    if (this.#roundTrips < ROUND_TRIPS_NEEDED) return 0;
    return Math.max(0, 2 * this.#smallestMs - this.#meanMs);
  }

  used(now: Monotonic): number {
    this.#clean(now);
    return this.#places.length;
  }

  /** When the next place is free: `now` or before when one is. */
  freeAt(now: Monotonic): number {
    // Who has left does not matter while there is room.
    if (this.#places.length >= this.window.max) this.#clean(now);
    if (this.#places.length < this.window.max) return this.blockedUntil;
    // All places are taken: one is free when enough of the soonest have left.
    const soonest = this.#places.map((place) => place.freeAt).toSorted((a, b) => a - b);
    return Math.max(soonest[this.#places.length - this.window.max] ?? now, this.blockedUntil);
  }

  #clean(now: Monotonic): void {
    let kept = 0;
    for (const place of this.#places) if (place.freeAt > now) this.#places[kept++] = place;
    this.#places.length = kept;
  }
}
