import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { StrategyRun } from '../state/engine-state.ts';
import type { Clock } from '../ports.ts';

/** A wait that ends this soon after it was armed was already true. */
export const AT_ONCE_MS = 100;
/** Number of idle wakes within a second that a strategy may have. */
export const IDLE_WAKES_MAX = 10;
/** Interval between wakes after that. */
const HOLD_MS = MINUTE_MS;

/** Counts of a strategy that woke immediately and did nothing. */
interface Idle {
  count: number;
  /** When the count started. */
  since: Monotonic;
  /** When it last woke immediately and did nothing. */
  last: Monotonic;
  steppedAt: Monotonic;
  isSpinning: boolean;
}

/** The result of a step. */
export interface Stepped {
  /** Whether the wait was already true when it was armed. */
  readonly isAtOnce: boolean;
  /** Whether the step decided nothing: no intent, missed slice, end or consumed outcome. */
  readonly isIdle: boolean;
}

/**
 * Detects strategies that spin: each step decides nothing, and waits for a condition that is already true. Wakes by
 * new data do not count, however many, nor do steps that trade, pass a slot or consume an outcome, because such a
 * strategy progresses. Counts on the monotonic clock, and starts over with each process.
 */
export class SpinGuard {
  readonly #clock: Clock;
  readonly #idle = new WeakMap<StrategyRun, Idle>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long the strategy must not be woken, except by an outcome, ms. */
  holdMs(life: StrategyRun): number {
    const known = this.#idle.get(life);
    if (known?.isSpinning !== true) return 0;
    return Math.max(0, known.steppedAt + HOLD_MS - this.#clock.monotonic());
  }

  /** Counts a step; returns whether the strategy spins, and whether that is new. */
  stepped(life: StrategyRun, { isAtOnce, isIdle }: Stepped): 'began' | 'spins' | undefined {
    if (!isIdle) {
      this.#idle.delete(life);
      return undefined;
    }
    const now = this.#clock.monotonic();
    const known = this.#idle.get(life);
    if (!isAtOnce) return this.#noteSlow(life, now);
    const isOver =
      known !== undefined &&
      (known.isSpinning ? now - known.steppedAt >= 2 * HOLD_MS : now - known.since >= SECOND_MS);
    if (known === undefined || isOver) {
      this.#idle.set(life, { count: 1, since: now, last: now, steppedAt: now, isSpinning: false });
      return undefined;
    }
    known.count++;
    known.last = now;
    known.steppedAt = now;
    if (known.isSpinning) return 'spins';
    known.isSpinning = known.count > IDLE_WAKES_MAX;
    return known.isSpinning ? 'began' : undefined;
  }

  /** One slow wake among many fast ones does not reset the count; a wake after a quiet period does. */
  #noteSlow(life: StrategyRun, now: Monotonic): 'spins' | undefined {
    const known = this.#idle.get(life);
    if (known?.isSpinning !== true) return undefined;
    known.steppedAt = now;
    if (now - known.last < 2 * HOLD_MS) return 'spins';
    this.#idle.delete(life);
    return undefined;
  }
}
