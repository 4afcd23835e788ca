import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 10;

/** Waits until it is so. @throws with the words of `otherwise` when it takes longer than `withinMs` (two minutes). */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  otherwise: () => string,
  withinMs = 120_000,
): Promise<void> {
  for (let waitedMs = 0; !(await isSo()); waitedMs += POLL_MS) {
    if (waitedMs > withinMs) throw new Error(`${otherwise()}: not within ${withinMs} ms`);
    await sleep(POLL_MS);
  }
}
