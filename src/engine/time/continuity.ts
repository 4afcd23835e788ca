import {
  defer,
  distinctUntilChanged,
  ignoreElements,
  of,
  repeat,
  startWith,
  switchMap,
  take,
  tap,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Desk } from '../desk.ts';
import type { Clock } from '../ports.ts';
import { skewTeller } from './clock-skew.ts';

/** When time counts as broken. All in milliseconds. */
export interface ContinuityOptions {
  /** Between two looks. */
  readonly everyMs: number;
  /** The wall clock may gain or lose so much against the monotonic one. */
  readonly divergenceMs: number;
  /** A look may come late by so much. */
  readonly lateMs: number;
}

/** What is wrong with time, in figures. */
export interface Break {
  /** How far the wall clock went ahead of the monotonic one, or fell behind it. */
  readonly wallMs: number;
  /** How late the look came. */
  readonly lateMs: number;
}

/** The clocks drift by a little all the time; what they agreed on is renewed after so long. */
const RENEW_MS = MINUTE_MS;

/**
 * Notices that time was not continuous: somebody set the clock, the machine slept, or the process stood still. In a sleep
 * the monotonic clock of Node may stand still too, so that an old quote looks young: whoever holds one compares `count`
 * from before it was asked for with `count` now.
 */
export class Continuity {
  readonly #clock: Clock;
  readonly #options: ContinuityOptions;
  readonly #onBreak: (what: Break) => void;
  #count = 0;
  #aheadMs: number;
  #renewedAt: Monotonic;
  #lookedAt: Monotonic | undefined;

  constructor(clock: Clock, options: ContinuityOptions, onBreak: (what: Break) => void) {
    this.#clock = clock;
    this.#options = options;
    this.#onBreak = onBreak;
    this.#aheadMs = clock.wall() - clock.monotonic();
    this.#renewedAt = clock.monotonic();
  }

  /** Breaks so far, looking now. */
  get count(): number {
    const { divergenceMs, everyMs, lateMs } = this.#options;
    const now = this.#clock.monotonic();
    const aheadMs = this.#clock.wall() - now;
    const wallMs = aheadMs - this.#aheadMs;
    const late = this.#lookedAt === undefined ? 0 : now - this.#lookedAt - everyMs;
    const isBroken = Math.abs(wallMs) > divergenceMs || late > lateMs;
    if (isBroken || now - this.#renewedAt > RENEW_MS) {
      this.#aheadMs = aheadMs;
      this.#renewedAt = now;
    }
    if (isBroken) {
      // Told once: the next look starts from here.
      if (this.#lookedAt !== undefined) this.#lookedAt = now;
      this.#count++;
      this.#onBreak({ wallMs: Math.round(wallMs), lateMs: Math.max(0, Math.round(late)) });
    }
    return this.#count;
  }

  /** A look of the watch itself: from now on one that comes late is a break. */
  look(): number {
    const { count } = this;
    this.#lookedAt = this.#clock.monotonic();
    return count;
  }
}

/**
 * Looks at the clocks for as long as it is subscribed. After a break the account is read soon, and everybody who waits for
 * a time of the wall clock reckons anew. Never emits.
 */
export function watchClocks(desk: Desk): Observable<never> {
  return defer(() => {
    let known = desk.continuity.look();
    const tellSkew = skewTeller(desk);
    return timer(desk.policy.continuity.everyMs, desk.ports.clock.scheduler).pipe(
      tap(() => {
        tellSkew();
        const count = desk.continuity.look();
        if (count === known) return;
        known = count;
        desk.account.isHinted = true;
        desk.changed$.next();
      }),
      repeat(),
      ignoreElements(),
    );
  });
}

/** Emits once it is `at` on the wall clock, also when that is set, or sleeps past it. Long waits go in pieces, as in `waitUntil`. */
export function untilTime(desk: Desk, at: Instant): Observable<void> {
  const { clock } = desk.ports;
  const isPast = (): boolean => at <= clock.wall();
  const wait$ = defer(() =>
    isPast()
      ? of(undefined)
      : timer(Math.min(at - clock.wall(), clock.pieceMs ?? HOUR_MS), clock.scheduler).pipe(ignoreElements()),
  ).pipe(repeat(), take(1));
  if (desk.breaks$ === undefined) return wait$;
  const breaks$ = desk.breaks$;
  return defer(() => breaks$.pipe(startWith(desk.continuity.count))).pipe(
    distinctUntilChanged(),
    switchMap(() => wait$),
    take(1),
  );
}
