import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { StrategyRun } from '../state/engine-state.ts';
import type { Clock } from '../ports.ts';

/** A wait that is over so soon after it was armed has waited for nothing. */
export const AT_ONCE_MS = 100;
/** A strategy may wake at once and do nothing so often within a second. */
export const IDLE_WAKES_MAX = 10;
/** Interval between wakes after that. */
const HOLD_MS = MINUTE_MS;

/** What is known of a strategy that woke at once and did nothing. */
interface Idle {
  count: number;
  /** When the count began. */
  since: Monotonic;
  /** When it last woke at once and did nothing. */
  last: Monotonic;
  steppedAt: Monotonic;
  isSpinning: boolean;
}

/** What a step came to. */
export interface Stepped {
  /** Whether its wake waited for nothing. */
  readonly isAtOnce: boolean;
  /** Whether it decided nothing: no intent, no missed slice, no end, and no outcome taken in. */
  readonly isIdle: boolean;
}

/**
 * Notices strategies that spin: each step decides nothing, and waits for what is true already. Wakes by news, however many,
 * are none of these, nor are steps that trade, pass over a slot or take an outcome in: a strategy that gets on does not spin.
 * Counts on the monotonic clock, and begins anew with the process.
 */
export class SpinGuard {
  readonly #clock: Clock;
  readonly #idle = new WeakMap<StrategyRun, Idle>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long the strategy is not to be woken yet but by an outcome, ms. */
  holdMs(life: StrategyRun): number {
    const known = this.#idle.get(life);
    if (known?.isSpinning !== true) return 0;
    return Math.max(0, known.steppedAt + HOLD_MS - this.#clock.monotonic());
  }

  /** Counts a step; says whether the strategy spins, and whether that is new. */
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

  /** One slow wake between many fast ones ends nothing; one after a time without any does. */
  #noteSlow(life: StrategyRun, now: Monotonic): 'spins' | undefined {
    const known = this.#idle.get(life);
    if (known?.isSpinning !== true) return undefined;
    known.steppedAt = now;
    if (now - known.last < 2 * HOLD_MS) return 'spins';
    this.#idle.delete(life);
    return undefined;
  }
}
