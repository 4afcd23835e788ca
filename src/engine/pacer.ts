import { Observable, Subscription, finalize, mergeMap, tap } from 'rxjs';
import { VenueError } from '../core/errors.ts';
import { HOUR_MS, SECOND_MS, monotonic } from '../core/time.ts';
import type { Monotonic } from '../core/time.ts';
import { guard, hear } from './flow.ts';
import type { Listening } from './flow.ts';
import { Log } from './pacer-log.ts';
import type { Place, Window } from './pacer-log.ts';
import type { Clock } from './ports.ts';

/** What is limited. Every request also counts towards `all`. */
export type Route = 'quote' | 'order' | 'transactions' | 'read';
/** Most urgent first. */
export const priorities = ['doubt', 'execute', 'quote', 'valuation', 'history', 'probe'] as const;
export type Priority = (typeof priorities)[number];

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

/** What becomes of a wish, told once. What it throws is an error of who asked. */
export interface Granting {
  granted(permit: Permit): void;
  /** The deadline came first, or what it was for is over. */
  refused(): void;
}

interface Pending {
  readonly wish: Wish;
  readonly since: Monotonic;
  readonly order: number;
  readonly by: Listening;
  readonly granting: Granting;
  /** Takes the wish back; it holds its deadline and its end as well. Only once it really waits. */
  waiting: Subscription | undefined;
  /** Whether its deadline and its end are listened for. */
  isArmed: boolean;
}

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
      this.ask(wish, subscriber, {
        granted: (permit) => {
          subscriber.next(permit);
          subscriber.complete();
        },
        refused: () => {
          subscriber.complete();
        },
      });
    });
  }

  /** The same for a stage that is written by hand: says what becomes of the wish, unless `by` is gone by then. */
  ask(wish: Wish, by: Listening, granting: Granting): void {
    const since = this.#clock.monotonic();
    if ((wish.deadline !== undefined && since >= wish.deadline) || wish.until?.isOver() === true) {
      granting.refused();
      return;
    }
    const pending: Pending = {
      wish,
      since,
      order: this.#order++,
      by,
      granting,
      waiting: undefined,
      isArmed: false,
    };
    this.#pending.add(pending);
    this.#grant();
    if (this.#pending.has(pending)) this.#hold(pending);
  }

  /** Of a wish that was not granted at once: gone when who asked is. */
  #hold(pending: Pending): Subscription {
    if (pending.waiting !== undefined) return pending.waiting;
    const waiting = new Subscription(() => {
      this.#pending.delete(pending);
    });
    pending.waiting = waiting;
    pending.by.add(waiting);
    return waiting;
  }

  /** A wish that was not granted at once ends with its deadline, or with what it is for. */
  #arm(pending: Pending): void {
    const { deadline, until } = pending.wish;
    const waiting = this.#hold(pending);
    pending.isArmed = true;
    if (deadline !== undefined) waiting.add(this.#expire(deadline, pending));
    if (until === undefined) return;
    const over = hear(until.over$, pending.by, {
      next: () => {
        this.#refuse(pending);
      },
      complete: () => undefined,
    });
    waiting.add(over);
  }

  #refuse(pending: Pending): void {
    if (!this.#pending.delete(pending)) return;
    pending.waiting?.unsubscribe();
    guard(pending.by, () => {
      pending.granting.refused();
    });
  }

  /** Ends a wish at its deadline. Node fires timers longer than 2³¹ ms at once: long waits go in hours. */
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
    const { wish, since, by, granting } = pending;
    const { route, until, key } = wish;
    if (until?.isOver() === true) {
      this.#refuse(pending);
      return;
    }
    this.#pending.delete(pending);
    pending.waiting?.unsubscribe();
    if (by.closed) return;
    const now = this.#clock.monotonic();
    const logs = this.#counted[route];
    const places = logs.map((log) => log.enter(now));
    this.#servedAt.set(key, this.#order++);
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
    const permit: Permit = {
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
    };
    guard(by, () => {
      granting.granted(permit);
    });
  }

  /** The most urgent wish that has room: by priority, then the key that was served longest ago, then by deadline. */
  #next(): Pending | undefined {
    if (this.#pending.size === 0) return undefined;
    const now = this.#clock.monotonic();
    const rooms = new Map<Route, boolean>();
    let best: Pending | undefined;
    for (const one of this.#pending) {
      const { route } = one.wish;
      // Mostly there is one wish alone.
      const hasRoom = rooms.get(route) ?? this.#hasRoom(route, now);
      if (this.#pending.size > 1) rooms.set(route, hasRoom);
      if (hasRoom && (best === undefined || this.#isBefore(one, best))) best = one;
    }
    return best;
  }

  #hasRoom(route: Route, now: Monotonic): boolean {
    for (const log of this.#counted[route]) if (log.freeAt(now) > now) return false;
    return true;
  }

  #isBefore(one: Pending, other: Pending): boolean {
    const [a, b] = [one.wish, other.wish];
    const byPriority = priorities.indexOf(a.priority) - priorities.indexOf(b.priority);
    if (byPriority !== 0) return byPriority < 0;
    if (a.key !== b.key) {
      const byTurn = (this.#servedAt.get(a.key) ?? -1) - (this.#servedAt.get(b.key) ?? -1);
      if (byTurn !== 0) return byTurn < 0;
    }
    const byDeadline = (a.deadline ?? Number.POSITIVE_INFINITY) - (b.deadline ?? Number.POSITIVE_INFINITY);
    return byDeadline === 0 || Number.isNaN(byDeadline) ? one.order < other.order : byDeadline < 0;
  }

  /** Sets the alarm for the next place that comes free. Places of unanswered requests have no time yet. */
  #sleep(): void {
    this.#wakeUp?.unsubscribe();
    this.#wakeUp = undefined;
    for (const pending of this.#pending) if (!pending.isArmed) this.#arm(pending);
    if (this.#pending.size === 0) return;
    const now = this.#clock.monotonic();
    let soonest = Number.POSITIVE_INFINITY;
    for (const route of new Set([...this.#pending].map(({ wish }) => wish.route))) {
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

/** `atWall` on the monotonic clock of now: for deadlines that people gave in wall time. */
export const deadlineOf = (clock: Clock, atWall: number): Monotonic =>
  monotonic(clock.monotonic() + Math.max(0, atWall - clock.wall()));
