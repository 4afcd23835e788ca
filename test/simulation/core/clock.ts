import { asapScheduler } from 'rxjs';
import { instant, monotonic } from '../../../src/core/time.ts';
import type { Instant, Monotonic } from '../../../src/core/time.ts';
import type { Clock } from '../../../src/engine/ports.ts';
import type { World } from './world.ts';

/** The clocks of one machine. They outlive its processes. */
export class MachineClock implements Clock {
  /** Nothing here waits on it. */
  readonly scheduler = asapScheduler;
  readonly #world: World;
  /** How fast both clocks run: 1 is right. */
  readonly rate: number;
  #wallOffset: number;
  #asleepMs = 0;
  readonly #startsAt: number;

  constructor(world: World, startsAt: number) {
    this.#world = world;
    this.rate = 1 + world.chance.setting('driftPpm', -500, 500) / 1_000_000;
    this.#wallOffset = startsAt;
    this.#startsAt = startsAt;
  }

  wall(): Instant {
    return instant(Math.floor(this.#world.now * this.rate + this.#wallOffset));
  }

  monotonic(): Monotonic {
    return monotonic(this.#world.now * this.rate - this.#asleepMs);
  }

  get hasSlept(): boolean {
    return this.#asleepMs > 0;
  }

  /** Whether the wall clock is wrong by about a day or more, ahead. */
  get isDayAhead(): boolean {
    return this.#wallOffset - this.#startsAt > 43_200_000;
  }

  /** Whether the wall clock is wrong by about a day or more, either way. */
  get isDayOff(): boolean {
    return Math.abs(this.#wallOffset - this.#startsAt) > 43_200_000;
  }

  /** The day that it is in truth. */
  get trueDay(): number {
    return Math.floor((this.#startsAt + this.#world.now) / 86_400_000);
  }

  /** Somebody sets the wall clock. */
  step(ms: number): void {
    this.#wallOffset += ms;
  }

  /** The monotonic clock stood still for so long. */
  sleep(ms: number): void {
    this.#asleepMs += ms;
  }

  /** True time until the monotonic clock has gone on by `ms`. */
  trueMs(ms: number): number {
    return Math.ceil(Math.max(0, ms) / this.rate);
  }

  /** The time service sets the wall clock right, or ahead to a time that was told already: never back. */
  mend(startsAt: number, told: number): void {
    this.#wallOffset = Math.max(this.#wallOffset, startsAt, told - this.#world.now * this.rate);
  }
}
