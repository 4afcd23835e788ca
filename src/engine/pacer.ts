import { Observable, finalize, mergeMap, tap } from 'rxjs';
import type { Subscriber, Subscription } from 'rxjs';
import { VenueError } from '../core/errors.ts';
import { HOUR_MS, SECOND_MS, monotonic } from '../core/time.ts';
import type { Monotonic } from '../core/time.ts';
import { hear } from './flow.ts';
import type { Clock } from './ports.ts';

/** What is limited. Every request also counts towards `all`. */
export type Route = 'quote' | 'order' | 'transactions' | 'read';
/** Most urgent first. */
export const priorities = ['doubt', 'execute', 'quote', 'valuation', 'history', 'probe'] as const;
export type Priority = (typeof priorities)[number];

/** At most `max` requests in any `perMs`, wherever the window begins. */
export interface Window {
  readonly max: number;
  readonly perMs: number;
}

export interface PaceOptions {
  readonly windows: Readonly<Record<Route | 'all', Window | undefined>>;
  /** Added to every window against clock drift and what jitter the measurement misses, milliseconds. */
  readonly guardMs: number;
}

export interface Wish {
  readonly route: Route;
  readonly priority: Priority;
  /** Shares are even between keys of one priority: a strategy, or the keeper of reference prices. */
  readonly key: string;
  /** Not granted from then on. Wall and monotonic deadlines are the caller's to convert. */
  readonly deadline?: Monotonic | undefined;
  /** Not granted once it is over, as when the desk drains. `over$` tells whoever waits; it is not listened to by others. */
  readonly until?: { isOver(): boolean; readonly over$: Observable<unknown> } | undefined;
}

/** Leave to send one request now. */
export interface Permit {
  /** How long the wish waited, milliseconds. */
  readonly waitedMs: number;
  /** The part of it for which nothing but other requests stood in the way: no cool-down of the venue. Milliseconds. */
  readonly queuedMs: number;
  /** Says that the answer has come, or never will. Until then the request counts as still on its way to the venue. */
  settle(): void;
  /** Says that nothing was sent after all: the place is free at once. */
  giveBack(): void;
}

interface Pending extends Wish {
  readonly since: Monotonic;
  readonly order: number;
  readonly subscriber: Subscriber<Permit>;
  /** Whether its deadline and its end are listened for: only once it really waits. */
  isArmed: boolean;
}

/**
 * Round trips that must be known before any is counted on. Of twenty the smallest is now and then so far from the smallest
 * there is that an eleventh request met ten in a window of ten: once in 6 000 networks.
 */
const ROUND_TRIPS_NEEDED = 100;
/** Weight of the newest round trip in their mean. */
const MEAN_WEIGHT = 1 / 32;

/** After a 429 that does not say how long. Source: the venue's public documentation of its limits. */
const COOL_DOWN_MS = 10 * SECOND_MS;

/**
 * Sliding-log limiter. A window of the venue counts arrivals there, which we do not see. A request that left at `s` and
 * was answered at `r` arrived no later than `r` less the way back, and a later one needs at least the way there: so its
 * place is free again at `r − (smallest round trip there is) + window`. The smallest one seen is an estimate of that
 * which is too large by what the network has not shown yet, so the spread of the round trips is taken off it: exact when
 * the network does not jitter, late by the jitter when it does. An unanswered request keeps its place.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #logs = new Map<Route | 'all', Log>();
  /** The windows in which a request of each route counts. */
  readonly #counted: Readonly<Record<Route, readonly Log[]>>;
  readonly #pending = new Set<Pending>();
  readonly #servedAt = new Map<string, number>();
  #order = 0;
  #wakeUp: { unsubscribe(): void } | undefined;
  #isGranting = false;

  constructor(clock: Clock, options: PaceOptions) {
    this.#clock = clock;
    for (const route of ['quote', 'order', 'transactions', 'read', 'all'] as const) {
      const window = options.windows[route];
      if (window !== undefined) this.#logs.set(route, new Log(window, options.guardMs));
    }
    const of = (route: Route): readonly Log[] =>
      [this.#logs.get(route), this.#logs.get('all')].filter((log) => log !== undefined);
    this.#counted = {
      quote: of('quote'),
      order: of('order'),
      transactions: of('transactions'),
      read: of('read'),
    };
  }

  /**
   * Emits one permit when the wish may go, then completes; completes empty when the deadline comes first. Unsubscribing
   * takes the wish back. Grants in the tick of `subscribe` when there is room.
   */
  take(wish: Wish): Observable<Permit> {
    return new Observable((subscriber) => {
      const since = this.#clock.monotonic();
      if ((wish.deadline !== undefined && since >= wish.deadline) || wish.until?.isOver() === true) {
        subscriber.complete();
        return undefined;
      }
      const pending: Pending = { ...wish, since, order: this.#order++, subscriber, isArmed: false };
      this.#pending.add(pending);
      subscriber.add(() => {
        this.#pending.delete(pending);
      });
      this.#grant();
      return undefined;
    });
  }

  /** A wish that was not granted at once ends with its deadline, or with what it is for. */
  #arm(pending: Pending): void {
    const { deadline, until, subscriber } = pending;
    pending.isArmed = true;
    if (deadline !== undefined) subscriber.add(this.#expire(deadline, subscriber));
    if (until !== undefined)
      hear(until.over$, subscriber, {
        next: () => {
          subscriber.complete();
        },
        complete: () => undefined,
      });
  }

  /** Completes `subscriber` at the deadline. Node fires timers longer than 2³¹ ms at once: long waits go in hours. */
  #expire(deadline: Monotonic, subscriber: Subscriber<Permit>): Subscription {
    const clock = this.#clock;
    return clock.scheduler.schedule(
      function expire() {
        const leftMs = deadline - clock.monotonic();
        if (leftMs <= 0) subscriber.complete();
        else this.schedule(undefined, Math.min(leftMs, HOUR_MS));
      },
      Math.min(deadline - clock.monotonic(), HOUR_MS),
    );
  }

  /** `source` once it may go; the permit is settled when it ends, however it ends. */
  through<T>(wish: Wish, source: Observable<T>): Observable<T> {
    return this.take(wish).pipe(
      mergeMap((permit) =>
        source.pipe(
          tap({
            error: (error: unknown) => {
              if (error instanceof VenueError && error.code === 'rate_limited') {
                this.block(wish.route, error.retryAfterMs ?? COOL_DOWN_MS);
              }
            },
          }),
          finalize(() => {
            permit.settle();
          }),
        ),
      ),
    );
  }

  /** Nothing goes on `route` for `ms`: the venue said so, or another process may just have used the budget. */
  block(route: Route | 'all', ms: number): void {
    const log = this.#logs.get(route);
    if (log === undefined) return;
    log.blockedUntil = Math.max(log.blockedUntil, this.#clock.monotonic() + ms);
    this.#grant();
  }

  /** Share of the window of `route` that is in use now, 0 to 1. */
  utilisation(route: Route | 'all'): number {
    const log = this.#logs.get(route);
    return log === undefined ? 0 : log.used(this.#clock.monotonic()) / log.window.max;
  }

  /** Whether nobody waits for anything, and the window of `route` is empty: the next request delays no other. */
  isIdle(route: Route): boolean {
    return this.#pending.size === 0 && this.utilisation(route) === 0;
  }

  /** Wishes that wait. */
  get waiting(): number {
    return this.#pending.size;
  }

  #grant(): void {
    if (this.#isGranting) return;
    this.#isGranting = true;
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) this.#serve(next);
    } finally {
      this.#isGranting = false;
    }
    this.#sleep();
  }

  #serve(pending: Pending): void {
    const { route, subscriber, since, until } = pending;
    this.#pending.delete(pending);
    if (until?.isOver() === true) {
      subscriber.complete();
      return;
    }
    const now = this.#clock.monotonic();
    const logs = this.#counted[route];
    const places = logs.map((log) => log.enter(now));
    this.#servedAt.set(pending.key, this.#order++);
    if (this.#servedAt.size > 10_000) this.#servedAt.clear();
    let blockedUntil = since;
    for (const log of logs) if (log.blockedUntil > blockedUntil) blockedUntil = monotonic(log.blockedUntil);
    let isSettled = false;
    const end = (how: (log: Log, place: Place) => void): void => {
      if (isSettled) return;
      isSettled = true;
      logs.forEach((log, i) => {
        const place = places[i];
        if (place !== undefined) how(log, place);
      });
      this.#grant();
    };
    subscriber.next({
      waitedMs: now - since,
      queuedMs: now - blockedUntil,
      settle: () => {
        const at = this.#clock.monotonic();
        end((log, place) => {
          log.settle(place, at);
        });
      },
      giveBack: () => {
        end((log, place) => {
          log.leave(place);
        });
      },
    });
    subscriber.complete();
  }

  /** The most urgent wish that has room: by priority, then the key that was served longest ago, then by deadline. */
  #next(): Pending | undefined {
    if (this.#pending.size === 0) return undefined;
    const now = this.#clock.monotonic();
    const hasRoom = new Map<Route, boolean>();
    let best: Pending | undefined;
    for (const one of this.#pending) {
      let room = hasRoom.get(one.route);
      if (room === undefined) {
        room = this.#counted[one.route].every((log) => log.freeAt(now) <= now);
        hasRoom.set(one.route, room);
      }
      if (room && (best === undefined || this.#isBefore(one, best))) best = one;
    }
    return best;
  }

  #isBefore(a: Pending, b: Pending): boolean {
    const byPriority = priorities.indexOf(a.priority) - priorities.indexOf(b.priority);
    if (byPriority !== 0) return byPriority < 0;
    if (a.key !== b.key) {
      const byTurn = (this.#servedAt.get(a.key) ?? -1) - (this.#servedAt.get(b.key) ?? -1);
      if (byTurn !== 0) return byTurn < 0;
    }
    const byDeadline = (a.deadline ?? Number.POSITIVE_INFINITY) - (b.deadline ?? Number.POSITIVE_INFINITY);
    return byDeadline === 0 || Number.isNaN(byDeadline) ? a.order < b.order : byDeadline < 0;
  }

  /** Sets the alarm for the next place that comes free. Places of unanswered requests have no time yet. */
  #sleep(): void {
    this.#wakeUp?.unsubscribe();
    this.#wakeUp = undefined;
    for (const pending of this.#pending) if (!pending.isArmed) this.#arm(pending);
    if (this.#pending.size === 0) return;
    const now = this.#clock.monotonic();
    let soonest = Number.POSITIVE_INFINITY;
    for (const route of new Set([...this.#pending].map((one) => one.route))) {
      soonest = Math.min(soonest, Math.max(...this.#counted[route].map((log) => log.freeAt(now))));
    }
    if (!Number.isFinite(soonest)) return;
    this.#wakeUp = this.#clock.scheduler.schedule(
      () => {
        this.#grant();
      },
      Math.max(soonest - now, 0),
    );
  }
}

interface Place {
  readonly sentAt: number;
  /** When the place is free again; infinite while the request is unanswered. */
  freeAt: number;
}

/** One window and who stands in it. */
class Log {
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
    const place: Place = { sentAt: now, freeAt: Number.POSITIVE_INFINITY };
    this.#places.push(place);
    return place;
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
    this.#clean(now);
    if (this.#places.length < this.window.max) return this.blockedUntil;
    // All places are taken: one is free when enough of the soonest have left.
    const soonest = this.#places.map((place) => place.freeAt).toSorted((a, b) => a - b);
    return Math.max(soonest[this.#places.length - this.window.max] ?? now, this.blockedUntil);
  }

  #clean(now: Monotonic): void {
    for (let i = this.#places.length - 1; i >= 0; i--) {
      const place = this.#places[i];
      if (place !== undefined && place.freeAt <= now) this.#places.splice(i, 1);
    }
  }
}

/** `atWall` on the monotonic clock of now: for deadlines that people gave in wall time. */
export const deadlineOf = (clock: Clock, atWall: number): Monotonic =>
  monotonic(clock.monotonic() + Math.max(0, atWall - clock.wall()));
