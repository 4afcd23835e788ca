import { Observable, Subscription, finalize, mergeMap, tap } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { VenueError } from '../../core/errors.ts';
import { HOUR_MS, SECOND_MS, monotonic } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import { RequestWindow } from './request-window.ts';
import type { Place, Window } from './request-window.ts';
import type { Clock, RequestLogPort } from '../ports.ts';

/** The limited routes. Every request also counts towards `all`. */
export type Route = 'quote' | 'order' | 'transactions' | 'read';
/** Most urgent first. */
export const priorities = ['doubt', 'execute', 'quote', 'valuation', 'history', 'probe'] as const;
export type Priority = (typeof priorities)[number];

export interface PaceOptions {
  readonly windows: Readonly<Record<Route | 'all', Window | undefined>>;
  /** Added to every window, against clock drift and jitter that the measurement misses, milliseconds. */
  readonly guardMs: number;
}

export interface PermitRequest {
  readonly route: Route;
  readonly priority: Priority;
  /** Requests of one priority share the limit evenly by key: a strategy, or the reference prices. */
  readonly key: string;
  /** The request is not granted after this instant. The caller converts wall-clock deadlines. */
  readonly deadline?: Monotonic | undefined;
  /**
   * The request is not granted once this scope has ended, for example when the desk drains. `over$` notifies waiting
   * requests.
   */
  readonly until?: { isOver(): boolean; readonly over$: Observable<unknown> } | undefined;
}

/** Permission to send one request now. */
export interface Permit {
  /** How long the request waited, milliseconds. */
  readonly waitedMs: number;
  /** The part of that time spent behind other requests, excluding the venue's cool-downs, in milliseconds. */
  readonly queuedMs: number;
  /** Reports that the response has arrived, or never will. Until then the request counts as on its way to the venue. */
  settle(): void;
  /** Reports that nobody waits for the response any longer, although the request may still be on its way. */
  abandon(): void;
  /** Reports that nothing was sent after all, so the place is free immediately. */
  giveBack(): void;
}

interface Pending {
  readonly request: PermitRequest;
  readonly since: Monotonic;
  readonly order: number;
  readonly subscriber: Subscriber<Permit>;
  /** Withdraws the request, and releases its timers. Only set once it waits. */
  waiting: Subscription | undefined;
}

/** State shared by all permits of a rate limiter. */
interface Giving {
  readonly clock: Clock;
  /** Called when a permit is settled or returned. */
  readonly onEnd: () => void;
}

/** A granted request, with its place in each window in which it counts. */
class Granted implements Permit {
  readonly waitedMs: number;
  readonly queuedMs: number;
  readonly #clock: Clock;
  readonly #places: readonly Place[];
  readonly #onEnd: () => void;
  #isOver = false;

  constructor(
    { waitedMs, queuedMs }: Pick<Permit, 'waitedMs' | 'queuedMs'>,
    places: readonly Place[],
    { clock, onEnd }: Giving,
  ) {
    this.waitedMs = waitedMs;
    this.queuedMs = queuedMs;
    this.#clock = clock;
    this.#places = places;
    this.#onEnd = onEnd;
  }

  settle(): void {
    const at = this.#clock.monotonic();
    this.#end((place) => {
      place.log.settle(place, at);
    });
  }

  abandon(): void {
    const at = this.#clock.monotonic();
    this.#end((place) => {
      place.log.leave(place);
      place.log.recall(at, LAST_REQUEST_MS);
    });
  }

  giveBack(): void {
    this.#end((place) => {
      place.log.leave(place);
    });
  }

  #end(how: (place: Place) => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const place of this.#places) how(place);
    this.#onEnd();
  }
}

/** Longest time that a request of which no response is awaited takes to reach the venue. */
export const LAST_REQUEST_MS = 1_000;

/** Cool-down after a 429 without a stated time. Source: the venue's public documentation of its limits. */
const COOL_DOWN_MS = 10 * SECOND_MS;

/**
 * A sliding-log limiter. The venue's window counts arrivals, which we cannot see. A request sent at `s` whose response
 * arrives at `r` reached the venue no later than `r` minus the way back, and a later request needs at least the way
 * there, so its place is free at `r − (smallest possible round trip) + window`. The smallest observed round trip
 * overestimates the smallest possible one, so the spread of the round trips is subtracted. The result is exact without
 * jitter, and otherwise late by the jitter. A request without a response keeps its place.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #logs = new Map<Route | 'all', RequestWindow>();
  /** The windows in which a request of each route counts. */
  readonly #counted: Readonly<Record<Route, readonly RequestWindow[]>>;
  readonly #pending: Pending[] = [];
  readonly #servedAt = new Map<string, number>();
  #order = 0;
  #wakeUp: { unsubscribe(): void } | undefined;
  #isGranting = false;
  readonly #giving: Giving;
  readonly #requestLog: Pick<RequestLogPort, 'note'> | undefined;

  /** `requestLog` receives every request before it leaves. */
  constructor(clock: Clock, options: PaceOptions, requestLog?: Pick<RequestLogPort, 'note'>) {
    this.#clock = clock;
    this.#requestLog = requestLog;
    const onEnd = (): void => {
      this.#grant();
    };
    this.#giving = { clock, onEnd };
    for (const route of ['quote', 'order', 'transactions', 'read', 'all'] as const) {
      const window = options.windows[route];
      if (window !== undefined) this.#logs.set(route, new RequestWindow(window, options.guardMs));
    }
    const of = (route: Route): readonly RequestWindow[] =>
      [this.#logs.get(route), this.#logs.get('all')].filter((log) => log !== undefined);
    this.#counted = {
      quote: of('quote'),
      order: of('order'),
      transactions: of('transactions'),
      read: of('read'),
    };
  }

  /**
   * Emits one permit when the request may leave, then completes; completes empty if the deadline comes first.
   * Unsubscribing withdraws the request. Grants in the tick of `subscribe` if there is room.
   */
  take(request: PermitRequest): Observable<Permit> {
    return new Observable((subscriber) => {
      const since = this.#clock.monotonic();
      if ((request.deadline !== undefined && since >= request.deadline) || request.until?.isOver() === true) {
        subscriber.complete();
        return;
      }
      const pending: Pending = { request, since, order: this.#order++, subscriber, waiting: undefined };
      // Common case: nothing else waits and there is room, so the request is granted without queueing.
      const isAlone = this.#pending.length === 0 && !this.#isGranting;
      if (isAlone && this.#hasRoom(request.route, since)) {
        this.#isGranting = true;
        try {
          this.#give(pending);
        } finally {
          this.#isGranting = false;
        }
      } else this.#pending.push(pending);
      this.#grant();
    });
  }

  /**
   * Returns a permit if the request may leave now and is next. The consequences of the permit follow the grant, and may
   * include further requests.
   */
  takeAtOnce(request: PermitRequest): Permit | undefined {
    const now = this.#clock.monotonic();
    if (!this.#isNext(request) || !this.#hasRoom(request.route, now)) return undefined;
    if ((request.deadline !== undefined && now >= request.deadline) || request.until?.isOver() === true)
      return undefined;
    return this.#admit(request, now);
  }

  /** A waiting request ends when its subscriber leaves, at its deadline, or with its scope. */
  #arm(pending: Pending): void {
    // Arming another request may have served or armed this one.
    if (pending.waiting !== undefined || !this.#pending.includes(pending)) return;
    const { deadline, until } = pending.request;
    const waiting = new Subscription(() => {
      this.#drop(pending);
    });
    pending.waiting = waiting;
    pending.subscriber.add(waiting);
    if (waiting.closed) return;
    if (deadline !== undefined) waiting.add(this.#expire(deadline, pending));
    if (until === undefined) return;
    const over = until.over$.subscribe({
      next: () => {
        this.#refuse(pending);
      },
      error: (error: unknown) => {
        pending.subscriber.error(error);
      },
    });
    waiting.add(over);
  }

  /** Removes a waiting request; returns whether it was still waiting. */
  #drop(pending: Pending): boolean {
    const at = this.#pending.indexOf(pending);
    if (at >= 0) this.#pending.splice(at, 1);
    // A timer for nobody would keep a process that has ended.
    if (this.#pending.length === 0) {
      this.#wakeUp?.unsubscribe();
      this.#wakeUp = undefined;
    }
    return at >= 0;
  }

  #refuse(pending: Pending): void {
    if (!this.#drop(pending)) return;
    pending.waiting?.unsubscribe();
    pending.subscriber.complete();
  }

  /** Ends a request at its deadline. Node fires timers longer than 2³¹ ms immediately, so long waits run in steps of an hour. */
  #expire(deadline: Monotonic, pending: Pending): Subscription {
    const clock = this.#clock;
    const refuse = (): void => {
      this.#refuse(pending);
    };
    return clock.scheduler.schedule(
      function expire() {
        const leftMs = deadline - clock.monotonic();
        if (leftMs <= 0) refuse();
        else this.schedule(undefined, Math.min(leftMs, HOUR_MS));
      },
      Math.min(deadline - clock.monotonic(), HOUR_MS),
    );
  }

  /** Subscribes to `source` once permitted. The permit ends with `source`, however that ends. */
  through<T>(request: PermitRequest, source: Observable<T>): Observable<T> {
    return this.take(request).pipe(
      mergeMap((permit) => {
        let isOver = false;
        return source.pipe(
          tap({
            complete: () => {
              isOver = true;
            },
            error: (error: unknown) => {
              isOver = true;
              if (error instanceof VenueError && error.code === 'rate_limited') {
                this.block(request.route, error.retryAfterMs ?? COOL_DOWN_MS);
              }
            },
          }),
          finalize(() => {
            if (isOver) permit.settle();
            else permit.abandon();
          }),
        );
      }),
    );
  }

  /** Blocks `route` for `ms`, because the venue demanded it, or because another process may just have used the budget. */
  block(route: Route | 'all', ms: number): void {
    const log = this.#logs.get(route);
    if (log === undefined) return;
    this.#note(route, ms);
    log.blockedUntil = Math.max(log.blockedUntil, this.#clock.monotonic() + ms);
    this.#grant();
  }

  /** Counts a request of an earlier process, which reaches the venue within `ms`. */
  recall(route: Route, ms: number): void {
    const now = this.#clock.monotonic();
    for (const log of this.#counted[route]) log.recall(now, ms);
  }

  #note(route: Route | 'all', blockMs?: number): void {
    const boot = this.#requestLog && this.#clock.boot?.();
    if (boot === undefined) return;
    this.#requestLog?.note({
      route,
      boot: { id: boot.id, ms: boot.ms + (blockMs ?? 0) },
      isBlock: blockMs !== undefined,
    });
  }

  /** Used share of the window of `route` now, 0 to 1. */
  utilisation(route: Route | 'all'): number {
    const log = this.#logs.get(route);
    return log === undefined ? 0 : log.used(this.#clock.monotonic()) / log.window.max;
  }

  /** Whether nothing waits and the window of `route` is empty, so that the next request delays no other request. */
  isIdle(route: Route): boolean {
    return this.waiting === 0 && this.utilisation(route) === 0;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#pending.length;
  }

  #grant(): void {
    if (this.#isGranting || (this.#pending.length === 0 && this.#wakeUp === undefined)) return;
    this.#isGranting = true;
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) this.#serve(next);
    } finally {
      this.#isGranting = false;
    }
    this.#sleep();
  }

  #serve(pending: Pending): void {
    if (!pending.subscriber.closed && pending.request.until?.isOver() === true) {
      this.#refuse(pending);
      return;
    }
    this.#drop(pending);
    pending.waiting?.unsubscribe();
    this.#give(pending);
  }

  #give({ request, since, subscriber }: Pending): void {
    if (subscriber.closed) return;
    subscriber.next(this.#admit(request, since));
    subscriber.complete();
  }

  #admit({ route, key }: PermitRequest, since: Monotonic): Permit {
    const now = this.#clock.monotonic();
    const logs = this.#counted[route];
    this.#servedAt.set(key, this.#order++);
    if (this.#servedAt.size > 10_000) this.#servedAt.clear();
    let blockedUntil = since;
    for (const log of logs) if (log.blockedUntil > blockedUntil) blockedUntil = monotonic(log.blockedUntil);
    const waits = { waitedMs: now - since, queuedMs: now - blockedUntil };
    this.#note(route);
    return new Granted(waits, placesIn(logs, now), this.#giving);
  }

  /** The most urgent request that has room: by priority, then by the key served longest ago, then by deadline. */
  #next(): Pending | undefined {
    const [first, second] = this.#pending;
    if (first === undefined) return undefined;
    const now = this.#clock.monotonic();
    // Common case: a single request.
    if (second === undefined) return this.#hasRoom(first.request.route, now) ? first : undefined;
    const rooms = new Map<Route, boolean>();
    let best: Pending | undefined;
    for (const one of this.#pending) {
      const { route } = one.request;
      const hasRoom = rooms.get(route) ?? this.#hasRoom(route, now);
      rooms.set(route, hasRoom);
      if (hasRoom && (best === undefined || this.#isBefore(one, best))) best = one;
    }
    return best;
  }

  #hasRoom(route: Route, now: Monotonic): boolean {
    for (const log of this.#counted[route]) if (log.freeAt(now) > now) return false;
    return true;
  }

  /** Whether no other request goes first. An order also goes next while a request before it, such as its quote, is being granted. */
  #isNext({ priority }: PermitRequest): boolean {
    if (priority !== 'execute') return this.#pending.length === 0 && !this.#isGranting;
    return this.#pending.every(
      ({ request: other }) => other.priority !== 'execute' && other.priority !== 'doubt',
    );
  }

  #isBefore(one: Pending, other: Pending): boolean {
    const [a, b] = [one.request, other.request];
    const byPriority = priorities.indexOf(a.priority) - priorities.indexOf(b.priority);
    if (byPriority !== 0) return byPriority < 0;
    if (a.key !== b.key) {
      const byTurn = (this.#servedAt.get(a.key) ?? -1) - (this.#servedAt.get(b.key) ?? -1);
      if (byTurn !== 0) return byTurn < 0;
    }
    const byDeadline = (a.deadline ?? Number.POSITIVE_INFINITY) - (b.deadline ?? Number.POSITIVE_INFINITY);
    return byDeadline === 0 || Number.isNaN(byDeadline) ? one.order < other.order : byDeadline < 0;
  }

  /** When to check a request of `route` again; Infinity: after a response. */
  #soonest(route: Route, now: Monotonic): number {
    return Math.max(now, ...this.#counted[route].map((log) => log.freeAt(now)));
  }

  /** Schedules the next grant. Places of requests without a response have no time yet. */
  #sleep(): void {
    this.#wakeUp?.unsubscribe();
    this.#wakeUp = undefined;
    if (this.#pending.length === 0) return;
    // The requester may have unsubscribed, in which case arming its request drops it.
    for (const pending of this.#pending.filter(({ waiting }) => waiting === undefined)) this.#arm(pending);
    if (this.#pending.length === 0) return;
    const now = this.#clock.monotonic();
    let soonest = Number.POSITIVE_INFINITY;
    for (const route of new Set(this.#pending.map(({ request }) => request.route))) {
      soonest = Math.min(soonest, this.#soonest(route, now));
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

const placesIn = (logs: readonly RequestWindow[], now: Monotonic): readonly Place[] =>
  logs.map((log) => log.enter(now));

/** Converts wall time to the current monotonic clock, for deadlines that people gave in wall time. */
export const deadlineOf = (clock: Clock, atWall: number): Monotonic =>
  monotonic(clock.monotonic() + Math.max(0, atWall - clock.wall()));
