import { MINUTE_MS } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { ContinuityOptions } from '../desk-settings.ts';
import type { Clock } from '../ports.ts';

/** A discontinuity of time, in figures. */
export interface Break {
  /** How far the wall clock ran ahead of the monotonic clock, or behind it. */
  readonly wallMs: number;
  /** Delay of the check. */
  readonly lateMs: number;
}

/** Interval at which the reference between the clocks is renewed, because they drift slowly. */
const RENEW_MS = MINUTE_MS;

/**
 * Detects discontinuous time: the clock was set, the machine slept, or the process was suspended. Node's monotonic
 * clock may stop during a sleep, so that an old quote looks young. Code with a quote therefore compares `count` from
 * before the request with `count` now.
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

  /** Number of breaks so far, checking now. */
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
      // Reported once, so the next check starts from here.
      if (this.#lookedAt !== undefined) this.#lookedAt = now;
      this.#count++;
      this.#onBreak({ wallMs: Math.round(wallMs), lateMs: Math.max(0, Math.round(late)) });
    }
    return this.#count;
  }

  /** A periodic check: from now on, a late check counts as a break. */
  look(): number {
    const { count } = this;
    this.#lookedAt = this.#clock.monotonic();
    return count;
  }
}

/**
 * The wall clock shows an earlier time than before, in this process or in the newest record. Every wait for a time of
 * day becomes that much longer, and the desk reports that. The desk recomputes no time, because only a person knows
 * which time was right.
 */
export interface ClockBack {
  /** The time that the clock had shown before. Once it shows it again, nothing waits longer than planned. */
  readonly until: Instant;
  /** When it went back, in the time that it has shown since. */
  readonly at: Instant;
  readonly backMs: number;
}
