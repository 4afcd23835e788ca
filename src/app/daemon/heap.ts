import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Time after the start at which the heap is checked: what the first wakes left is garbage by then. */
const SETTLE_MS = 2_000;

/**
 * Frees, once, what loading the program left behind: about 35 MB that V8 would keep for as long as the daemon idles. It
 * takes some 50 ms in which nothing else runs, so it waits until `isIdle`. Returns the function that cancels it.
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

/** V8 collects on request only through this door; an inspector session does too, but then keeps the process from ending. */
function freeHeap(): void {
  setFlagsFromString('--expose-gc');
  // `last-resort` also gives the emptied pages back to the system, which a plain collection keeps.
  runInNewContext(
    "typeof gc === 'function' && gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })",
  );
  setFlagsFromString('--no-expose-gc');
}
