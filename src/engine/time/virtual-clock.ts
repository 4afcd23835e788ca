import { EMPTY, Subscription, defer, mergeMap, of, timer } from 'rxjs';
import type { Observable, SchedulerAction, SchedulerLike } from 'rxjs';
import { HOUR_MS, instant, monotonic } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock } from '../ports.ts';

type Work<T> = (this: SchedulerAction<T>, state?: T) => void;

interface Entry {
  readonly due: number;
  readonly order: number;
  readonly run: () => void;
  isGone: boolean;
}

/**
 * Time that advances only on request, for backtests and simulation. A binary heap, so that cost does not grow with
 * pending timers. Work due at the same instant runs in the order in which it was scheduled.
 */
export class VirtualClock implements Clock, SchedulerLike {
  readonly scheduler: SchedulerLike = this;
  readonly pieceMs: number | undefined;
  readonly #heap: Entry[] = [];
  #now: number;
  #wallAheadMs = 0;
  #order = 0;

  /**
   * @param startsAt Unix ms; the monotonic clock shows the same figure, until the wall clock is stepped.
   * @param options `pieceMs`: longest wait in one piece; Infinity where nobody steps a clock, so that years cost one timer.
   */
  constructor(startsAt: Instant, { pieceMs }: Pick<Clock, 'pieceMs'> = {}) {
    this.#now = startsAt;
    this.pieceMs = pieceMs;
  }

  now(): number {
    return this.#now;
  }

  /** Whole milliseconds, as on a wall clock, because waits with jitter have fractions, which no record may contain. */
  wall(): Instant {
    return instant(Math.floor(this.#now + this.#wallAheadMs));
  }

  /**
   * Steps the wall clock forward or back while nothing else moves, as when somebody sets the time, or the machine and
   * its monotonic clock sleep.
   */
  stepWall(ms: number): void {
    this.#wallAheadMs += ms;
  }

  /** Advances both clocks while nothing runs, as in a long stall, or in a sleep during which the monotonic clock continues. */
  stall(ms: number): void {
    this.#now += ms;
  }

  monotonic(): Monotonic {
    return monotonic(this.#now);
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#heap.filter((entry) => !entry.isGone).length;
  }

  schedule<T>(work: Work<T>, delayMs = 0, state?: T): Subscription {
    return new HeapAction(this, work).schedule(state, delayMs);
  }

  /**
   * Runs everything due until nothing is left, or until `end`; the clock then shows `end`. Stops early once `isEnough`.
   * Returns the number of actions.
   */
  run(end: Instant = instant(Number.POSITIVE_INFINITY), isEnough?: () => boolean): number {
    let ran = 0;
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.due > end) break;
      this.#pop();
      if (next.isGone) continue;
      this.#now = Math.max(this.#now, next.due);
      next.run();
      ran++;
      if (isEnough?.() === true) return ran;
    }
    if (Number.isFinite(end)) this.#now = Math.max(this.#now, end);
    return ran;
  }

  /** Schedules `run`; the returned function cancels it. Work at Infinity is never scheduled. */
  push(delayMs: number, run: () => void): () => void {
    if (delayMs === Number.POSITIVE_INFINITY) return () => undefined;
    return this.#put({ due: this.#now + Math.max(0, delayMs), order: this.#order++, run, isGone: false });
  }

  /**
   * Runs `run` at `at`, before all other work due then, regardless of the order of scheduling. The market thus moves
   * first, and the desk sees the prices of that instant. The returned function cancels it.
   */
  pushFirst(at: Instant, run: () => void): () => void {
    return this.#put({ due: Math.max(this.#now, at), order: -1, run, isGone: false });
  }

  #put(entry: Entry): () => void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = heap[up];
      if (above === undefined || !isBefore(entry, above)) break;
      heap[at] = above;
      at = up;
    }
    heap[at] = entry;
    return () => {
      entry.isGone = true;
    };
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      if (a === undefined) break;
      const [child, down] = b !== undefined && isBefore(b, a) ? [b, left + 1] : [a, left];
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = down;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Entry, b: Entry): boolean => a.due < b.due || (a.due === b.due && a.order < b.order);

/** One unit of scheduled work, which may reschedule itself, as RxJS operators do. */
class HeapAction<T> extends Subscription implements SchedulerAction<T> {
  readonly #clock: VirtualClock;
  readonly #work: Work<T>;
  #takeOff: (() => void) | undefined;

  constructor(clock: VirtualClock, work: Work<T>) {
    super(() => this.#takeOff?.());
    this.#clock = clock;
    this.#work = work;
  }

  schedule(state?: T, delayMs = 0): Subscription {
    if (this.closed) return this;
    this.#takeOff?.();
    let isAgain = false;
    this.#takeOff = this.#clock.push(delayMs, () => {
      const before = this.#takeOff;
      this.#work.call(this, state); // oxlint-disable-line no-useless-call -- operators reschedule through `this`
      isAgain = this.#takeOff !== before;
      if (!isAgain) this.unsubscribe();
    });
    return this;
  }
}

/** Node fires timers longer than 2³¹ ms immediately, and a suspended machine wakes late, so long waits run in steps of an hour. */
export function waitUntil(clock: Clock, at: Instant): Observable<void> {
  return defer(() => {
    const delayMs = at - clock.wall();
    if (delayMs <= 0) return of(undefined);
    const pieceMs = Math.min(delayMs, clock.pieceMs ?? HOUR_MS);
    return timer(pieceMs, clock.scheduler).pipe(mergeMap(() => waitUntil(clock, at)));
  });
}

/** Completes after `ms` without a value. */
export const pause = (clock: Clock, ms: number): Observable<never> =>
  timer(ms, clock.scheduler).pipe(mergeMap(() => EMPTY));
