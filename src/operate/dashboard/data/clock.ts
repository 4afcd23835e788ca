import { signal } from '@preact/signals';

/** Milliseconds on a clock that nobody sets. */
export const now = (): number => performance.now();
/** Time of day, Unix milliseconds. */
export const wall = (): number => Date.now();

/** Counts up once a second: what shows an age or a countdown reads it. */
export const second = signal(wall());
setInterval(() => {
  second.value = wall();
}, 1_000);
