import { HOUR_MS, MINUTE_MS, after, instant } from '../core/time.ts';
import type { Instant, Monotonic } from '../core/time.ts';
import type { Clock } from './ports.ts';

/** How much faster than the steady clock the wall clock may run before it is doubted. */
const AHEAD_MS = MINUTE_MS;
/** A wall clock that stays ahead for so long is right: the machine slept, or the time was wrong before. */
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

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = clock.wall() - clock.monotonic();
    this.#newest = clock.wall();
  }

  now(): Instant {
    const [wall, steady] = [this.#clock.wall(), this.#clock.monotonic()];
    const expected = steady + this.#offset;
    if (wall - expected <= AHEAD_MS) {
      this.#aheadSince = undefined;
      // A clock that was set back starts over from where it is now; the newest time stays.
      this.#offset = wall - steady;
    } else {
      this.#aheadSince ??= steady;
      if (steady >= after(this.#aheadSince, BELIEVED_MS)) this.#offset = wall - steady;
    }
    this.#newest = Math.max(this.#newest, Math.min(wall, steady + this.#offset));
    return instant(Math.floor(this.#newest));
  }
}
