import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Time between two checks for an idle desk. By the first check, the objects of the first wakes are garbage. */
const SETTLE_MS = 2_000;

/**
 * Frees, once, the memory that loading the program left behind: about 35 MB that V8 would keep while the daemon idles. The collection
 * blocks the process for some 50 ms, so it waits until `isIdle`. Returns the function that cancels it.
 */
export function freeHeapOnceIdle(isIdle: () => boolean): () => void {
  const timer = setInterval(() => {
    if (!isIdle()) return;
    clearInterval(timer);
    freeHeap();
  }, SETTLE_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}

/** Collects garbage through the `gc` function of V8. The alternative, an inspector session, would keep the process from exiting. */
function freeHeap(): void {
  setFlagsFromString('--expose-gc');
  // `last-resort` also returns the freed pages to the system; a plain collection keeps them.
  runInNewContext(
    "typeof gc === 'function' && gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })",
  );
  setFlagsFromString('--no-expose-gc');
}
