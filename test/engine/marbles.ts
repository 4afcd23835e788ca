import { isDeepStrictEqual } from 'node:util';
import type { SchedulerLike } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/internal/testing/TestScheduler';
import { instant, monotonic } from '../../src/core/time.ts';
import type { Instant, Monotonic } from '../../src/core/time.ts';
import type { Clock } from '../../src/engine/ports.ts';
import type { VirtualClock } from '../../src/engine/time/virtual-clock.ts';

/** Sources with values, ends and errors at every place that matters to a stage. */
export const SOURCES = [
  'a',
  'ab|',
  '-a--b--|',
  '--a-#',
  '#',
  '|',
  '--|',
  '(a|)',
  '(ab|)',
  '(a#)',
  '---a---(b|)',
  '-',
];

/** Draws `run` in marbles, one frame a millisecond; returns what differs from its expectations. */
export function differences(
  run: (helpers: RunHelpers, scheduler: TestScheduler) => void,
): readonly unknown[] {
  const found: unknown[] = [];
  const scheduler = new TestScheduler((actual: unknown, expected: unknown) => {
    if (!isDeepStrictEqual(actual, expected)) found.push({ actual, expected });
  });
  scheduler.run((helpers) => {
    run(helpers, scheduler);
  });
  return found;
}

/** The clock of a desk that is prepared on virtual time and then drawn in marbles: their first frame is the present. */
export class MarbleClock implements Clock {
  readonly #virtual: VirtualClock;
  #marbles: TestScheduler | undefined;

  constructor(virtual: VirtualClock) {
    this.#virtual = virtual;
  }

  /** Switches the clock to marble time. Timers set before this never fire. */
  draw(scheduler: TestScheduler): void {
    this.#marbles = scheduler;
  }

  get scheduler(): SchedulerLike {
    return this.#marbles ?? this.#virtual;
  }

  wall(): Instant {
    return instant(this.#virtual.wall() + this.#frame());
  }

  monotonic(): Monotonic {
    return monotonic(this.#virtual.monotonic() + this.#frame());
  }

  #frame(): number {
    return this.#marbles?.now() ?? 0;
  }
}
