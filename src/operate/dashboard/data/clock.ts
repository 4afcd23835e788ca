import { signal } from '@preact/signals';

/** Milliseconds on a monotonic clock. */
export const now = (): number => performance.now();
/** Time of day, Unix milliseconds. */
export const wall = (): number => Date.now();

/** Ticks once a second, for ages and countdowns. */
export const second = signal(wall());
setInterval(() => {
  second.value = wall();
}, 1_000);
