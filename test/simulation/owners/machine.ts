import { BOOT_STEP_MS } from '../../../src/core/time.ts';
import type { Clock } from '../../../src/engine/ports.ts';
import type { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { ProcessClock } from '../whole/process-clock.ts';
import type { WallClock } from '../whole/process-clock.ts';

/**
 * How a machine stands still. `stopped`: all its clocks count. `suspended`: the monotonic clock does not. `paused`: none does, as on a
 * virtual machine that its host has paused.
 */
export type Stillness = 'stopped' | 'suspended' | 'paused';

/** One machine of an owner: its clocks outlive its processes. */
export class Machine {
  readonly wall: WallClock;
  readonly #truth: VirtualClock;
  readonly #hasBootClock: boolean;
  #bootLostMs = 0;
  #process: ProcessClock | undefined;
  #goesOnAt = 0;

  constructor(truth: VirtualClock, wallOffsetMs: number, hasBootClock: boolean) {
    this.#truth = truth;
    this.#hasBootClock = hasBootClock;
    this.wall = { offsetMs: wallOffsetMs, drift: 0 };
  }

  /** The clock of the process that starts now. */
  start(): ProcessClock {
    this.#process = new ProcessClock(this.#truth, this.wall);
    if (this.stillMs > 0) this.#process.suspend(this.stillMs, false);
    return this.#process;
  }

  /** How long it still stands still. */
  get stillMs(): number {
    return Math.max(0, this.#goesOnAt - this.#truth.now());
  }

  /** The clocks as the engine reads them. All machines have one boot id: two owners may run on one of them. */
  clockOf(process: ProcessClock): Clock {
    const clock: Clock = {
      scheduler: process,
      wall: () => process.wall(),
      monotonic: () => process.monotonic(),
    };
    if (!this.#hasBootClock) return clock;
    const boot = (): number => this.#truth.now() - this.#bootLostMs;
    return {
      ...clock,
      boot: () => ({ id: 'simulated', ms: Math.floor(boot() / BOOT_STEP_MS) * BOOT_STEP_MS }),
    };
  }

  /** Nothing runs here for `ms`. */
  standStill(ms: number, how: Stillness): void {
    if (this.#process === undefined || this.stillMs > 0) return;
    this.#goesOnAt = this.#truth.now() + ms;
    if (how === 'paused') {
      // As it goes on, and before anything else does.
      this.#truth.push(ms, () => {
        this.wall.offsetMs -= ms;
        this.#bootLostMs += ms;
      });
    }
    this.#process.suspend(ms, how !== 'stopped');
  }
}
