import { Subscription } from 'rxjs';
import type { SchedulerAction, SchedulerLike } from 'rxjs';
import { BOOT_STEP_MS, instant, monotonic } from '../../../src/core/time.ts';
import type { BootTime, Instant, Monotonic } from '../../../src/core/time.ts';
import type { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import type { Clock } from '../../../src/engine/ports.ts';
import { EPOCH } from './draws.ts';

type Work<T> = (this: SchedulerAction<T>, state?: T) => void;

/** More timers at one moment are a loop that never ends. */
const STANDSTILL = 5_000;

/** The wall clock of a machine: off by something, drifting, and set at times. */
export interface WallClock {
  /** Ahead of true time, milliseconds. */
  offsetMs: number;
  /** Gains this much a millisecond. */
  drift: number;
}

/**
 * Time as one process sees it: its timers and what it is told come late while it is suspended, and not at all once it is
 * dead.
 */
export class ProcessClock implements Clock, SchedulerLike {
  readonly scheduler: SchedulerLike = this;
  /** Timers that fired. */
  fired = 0;
  /** Told of every timer that is about to fire: a place where a process can die. */
  onTimer: (() => void) | undefined;
  isDead = false;
  pending = 0;
  readonly #truth: VirtualClock;
  readonly #wall: WallClock;
  readonly #startedAt: number;
  /** The monotonic clock stood still for so long, or will have when the process runs again. */
  #frozenMs = 0;
  /** What it showed last: it never goes back. */
  #shownMs = 0;
  #resumesAt = 0;
  #firedAt = 0;
  #firedThen = 0;

  constructor(truth: VirtualClock, wall: WallClock) {
    this.#truth = truth;
    this.#wall = wall;
    this.#startedAt = truth.now();
  }

  now(): number {
    return this.monotonic();
  }

  /** Counts from the start of the process: two processes have no time base in common. */
  monotonic(): Monotonic {
    this.#shownMs = Math.max(this.#shownMs, this.#truth.now() - this.#startedAt - this.#frozenMs + 1_000);
    return monotonic(this.#shownMs);
  }

  /** One machine that never restarts. */
  boot(): BootTime {
    return { id: 'simulated', ms: Math.floor(this.#truth.now() / BOOT_STEP_MS) * BOOT_STEP_MS };
  }

  wall(): Instant {
    const truth = this.#truth.now();
    return instant(
      Math.floor(EPOCH + truth + this.#wall.offsetMs + this.#wall.drift * (truth - this.#startedAt)),
    );
  }

  /** Nothing runs for `ms`; `isFrozen`: and the monotonic clock does not notice. */
  suspend(ms: number, isFrozen: boolean): void {
    // What it shows now it shows until the process runs again.
    this.monotonic();
    this.#resumesAt = Math.max(this.#resumesAt, this.#truth.now() + ms);
    if (isFrozen) this.#frozenMs += ms;
  }

  get isSuspended(): boolean {
    return this.#truth.now() < this.#resumesAt;
  }

  /** Does `work` now, or once the process runs again; never when it is dead. */
  deliver(work: () => void): void {
    if (this.isDead) return;
    if (this.isSuspended)
      this.#truth.push(this.#resumesAt - this.#truth.now(), () => {
        this.deliver(work);
      });
    else work();
  }

  schedule<T>(work: Work<T>, delayMs = 0, state?: T): Subscription {
    return new Timer(this, work).schedule(state, delayMs);
  }

  /** Runs `run` once the monotonic clock of the process shows `due`; the returned function takes it back. */
  push(wantedMs: number, run: () => void): () => void {
    // A wait too short for the clock to show would never end.
    const delayMs = wantedMs <= 0 ? 0 : Math.max(wantedMs, 1e-3);
    const due = this.monotonic() + Math.max(0, delayMs);
    let isGone = false;
    let takeOff: () => void = () => undefined;
    this.pending++;
    const gone = (): void => {
      if (isGone) return;
      isGone = true;
      this.pending--;
    };
    const arm = (afterMs: number): void => {
      takeOff = this.#truth.push(afterMs, () => {
        if (isGone) return;
        if (this.isDead) return;
        if (this.isSuspended) arm(this.#resumesAt - this.#truth.now());
        // Not exact to the last bit: what is left must be enough to move the time on.
        else if (due - this.monotonic() > 1e-3) arm(due - this.monotonic());
        else {
          gone();
          this.fired++;
          if (this.#truth.now() > this.#firedAt) this.#firedThen = 0;
          this.#firedAt = this.#truth.now();
          if (++this.#firedThen > STANDSTILL) throw new Error('time stands still: timers fire without end');
          this.onTimer?.();
          if (!this.isDead && !this.isSuspended) run();
          // The process dies, or is suspended, at the very moment.
          else if (!this.isDead) this.deliver(run);
        }
      });
    };
    arm(delayMs);
    return () => {
      gone();
      takeOff();
    };
  }
}

/** One piece of scheduled work, which may schedule itself again, as RxJS's own operators do. */
class Timer<T> extends Subscription implements SchedulerAction<T> {
  readonly #clock: ProcessClock;
  readonly #work: Work<T>;
  #takeOff: (() => void) | undefined;

  constructor(clock: ProcessClock, work: Work<T>) {
    super(() => this.#takeOff?.());
    this.#clock = clock;
    this.#work = work;
  }

  schedule(state?: T, delayMs = 0): Subscription {
    if (this.closed) return this;
    this.#takeOff?.();
    this.#takeOff = this.#clock.push(delayMs, () => {
      if (this.closed) return;
      const before = this.#takeOff;
      this.#work.call(this, state); // oxlint-disable-line no-useless-call -- operators reschedule through `this`
      if (this.#takeOff === before) this.unsubscribe();
    });
    return this;
  }
}
