import { DAY_MS, HOUR_MS, MINUTE_MS, after, instant } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock } from '../ports.ts';

/** How much faster than the steady clock the wall clock may run before it is doubted. */
const AHEAD_MS = MINUTE_MS;
/** A wall clock that stays ahead for this long is right: the machine slept, or the time was wrong before. */
const BELIEVED_MS = HOUR_MS;

/**
 * The time by which days of limits are counted. It never goes back, so a clock that is set back opens no day again; and
 * it does not follow a jump forward until that has lasted, so that a wrong date does not open the next day early.
 */
export class DayClock {
  readonly #clock: Clock;
  /** Wall time less steady time, when they last agreed. */
  #offset: number;
  #aheadSince: Monotonic | undefined;
  #newest: number;
  readonly #skewMs: () => number | undefined;
  /** Only the journal says what day it is: the clock of this process is not proven yet. */
  #isInherited = false;

  /** `skewMs`: how far the venue's clock is ahead, from an answer in this process; `undefined` before the first. */
  constructor(clock: Clock, skewMs: () => number | undefined = () => undefined) {
    this.#clock = clock;
    this.#skewMs = skewMs;
    this.#offset = clock.wall() - clock.monotonic();
    this.#newest = clock.wall();
  }

  /**
   * Goes on from the last record of an earlier process when the clock says that another day has begun since: that may be a
   * wrong date. The venue's own clock proves it right, or an hour does.
   */
  inherit(last: Instant): void {
    const wall = this.#clock.wall();
    if (Math.floor(wall / DAY_MS) <= Math.floor(last / DAY_MS)) return;
    this.#isInherited = true;
    this.#newest = last;
    this.#offset = last - this.#clock.monotonic();
  }

  now(): Instant {
    const wall = this.#clock.wall();
    const steady = this.#clock.monotonic();
    if (this.#isInherited) {
      const skewMs = this.#skewMs();
      if (skewMs !== undefined && Math.abs(skewMs) <= AHEAD_MS) {
        this.#isInherited = false;
        this.#offset = wall - steady;
      }
    }
    const expected = steady + this.#offset;
    if (wall - expected <= AHEAD_MS) {
      this.#aheadSince = undefined;
      // A clock that was set back starts over from where it is now; the newest time stays.
      this.#offset = wall - steady;
    } else {
      this.#aheadSince ??= steady;
      if (steady >= after(this.#aheadSince, BELIEVED_MS)) {
        this.#isInherited = false;
        this.#offset = wall - steady;
      }
    }
    this.#newest = Math.max(this.#newest, Math.min(wall, steady + this.#offset));
    return instant(Math.floor(this.#newest));
  }
}
