import { DAY_MS, HOUR_MS, MINUTE_MS, after, instant } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock } from '../ports.ts';

/** How much faster than the monotonic clock the wall clock may run before the desk distrusts it. */
const AHEAD_MS = MINUTE_MS;
/** After being ahead for this long, the wall clock counts as right: the machine slept, or the time was wrong before. */
const BELIEVED_MS = HOUR_MS;

/**
 * The clock that counts the days of limits. It never goes back, so setting the clock back reopens no day; and it
 * follows a jump forward only after a while, so that a wrong date does not start the next day early.
 */
export class DayClock {
  readonly #clock: Clock;
  /** Wall time minus monotonic time, when they last agreed. */
  #offset: number;
  #aheadSince: Monotonic | undefined;
  #newest: number;
  readonly #skewMs: () => number | undefined;
  /** The day comes only from the journal, because the clock of this process is not verified yet. */
  #isInherited = false;

  /** `skewMs`: how far the venue's clock is ahead, from an answer in this process; `undefined` before the first. */
  constructor(clock: Clock, skewMs: () => number | undefined = () => undefined) {
    this.#clock = clock;
    this.#skewMs = skewMs;
    this.#offset = clock.wall() - clock.monotonic();
    this.#newest = clock.wall();
  }

  /**
   * Continues from the last record of an earlier process if, by the clock, another day has started since: the date
   * may be wrong. The venue's clock, or an hour of agreement, confirms it.
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
      // After the clock was set back, the new time counts from there; the newest time seen does not change.
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
