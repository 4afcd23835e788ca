import { asyncScheduler } from 'rxjs';
import { instant, monotonic } from '../core/time.ts';
import type { Clock, Random } from '../engine/ports.ts';

/** The clock of this machine. */
export const systemClock: Clock = {
  scheduler: asyncScheduler,
  wall: () => instant(Date.now()),
  monotonic: () => monotonic(performance.now()),
};

/** Randomness for waits: nothing depends on its quality. */
export const systemRandom: Random = { next: () => Math.random() };
