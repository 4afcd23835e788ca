import type { Monotonic } from '../../core/time.ts';
import { RoundTrips } from './round-trips.ts';

/** At most `max` requests in any period of `perMs`, wherever it begins. */
export interface Window {
  readonly max: number;
  readonly perMs: number;
}

/** A request in a window. */
export interface Place {
  readonly log: RequestWindow;
  readonly sentAt: number;
  /** When the place becomes free; Infinity while the request has no response. */
  freeAt: number;
}

/** One window and the requests in it. */
export class RequestWindow {
  readonly window: Window;
  /** No request before this instant. */
  blockedUntil = 0;
  readonly #guardMs: number;
  readonly #places: Place[] = [];
  readonly #roundTrips = new RoundTrips();

  constructor(window: Window, guardMs: number) {
    this.window = window;
    this.#guardMs = guardMs;
  }

  enter(now: Monotonic): Place {
    const place: Place = { log: this, sentAt: now, freeAt: Number.POSITIVE_INFINITY };
    this.#places.push(place);
    return place;
  }

  /** Counts a request of another process that reaches the venue within `ms` after `now`, or before it if `ms` is negative. */
  recall(now: Monotonic, ms: number): void {
    const freeAt = now + ms + this.window.perMs + this.#guardMs;
    if (freeAt > now) this.#places.push({ log: this, sentAt: now, freeAt });
  }

  /** The response has come, or never will. */
  settle(place: Place, now: Monotonic): void {
    const arrivedAt = Math.max(place.sentAt, now - this.#roundTrips.certainMs());
    place.freeAt = arrivedAt + this.window.perMs + this.#guardMs;
    this.#roundTrips.add(now - place.sentAt);
  }

  /** Nothing was sent after all. */
  leave(place: Place): void {
    const at = this.#places.indexOf(place);
    if (at >= 0) this.#places.splice(at, 1);
  }

  used(now: Monotonic): number {
    this.#clean(now);
    return this.#places.length;
  }

  /** When the next place becomes free: `now` or earlier if one is free, Infinity if the time is unknown. */
  freeAt(now: Monotonic): number {
    // While there is room, requests whose places have become free need not be removed.
    if (this.#places.length >= this.window.max) this.#clean(now);
    if (this.#places.length < this.window.max) return this.blockedUntil;
    // All places are taken. A place becomes free once enough of the earliest requests have left the window.
    const soonest = this.#places.map((place) => place.freeAt).toSorted((a, b) => a - b);
    return Math.max(soonest[this.#places.length - this.window.max] ?? now, this.blockedUntil);
  }

  #clean(now: Monotonic): void {
    let kept = 0;
    for (const place of this.#places) if (place.freeAt > now) this.#places[kept++] = place;
    this.#places.length = kept;
  }
}
