import { spanText } from '../../core/time.ts';
import type { Screen } from '../cli/progress.ts';

/** Progress line of a sweep on a terminal; prints nothing elsewhere. */
export interface SweepProgress {
  ended(): void;
  clear(): void;
}

const REDRAW_MS = 100;

/** Creates a progress line. @param now monotonic clock, ms. */
export function sweepProgress(
  screen: Screen,
  { total, already, now }: { readonly total: number; readonly already: number; readonly now: () => number },
): SweepProgress {
  const began = now();
  let [done, shownAt] = [already, Number.NEGATIVE_INFINITY];
  return {
    ended() {
      done++;
      const at = now();
      if (screen.isTTY !== true || (at - shownAt < REDRAW_MS && done < total)) return;
      shownAt = at;
      screen.write(`\r\u001B[K${progressLine({ done, total, already, seconds: (at - began) / 1_000 })}`);
    },
    clear() {
      if (screen.isTTY === true) screen.write('\r\u001B[K');
    },
  };
}

/** Returns the progress line. The rate does not count settings that ended before this run. */
export function progressLine({ done, total, already, seconds }: Readonly<Record<'done' | 'total' | 'already' | 'seconds', number>>): string {
  const rate = (done - already) / Math.max(seconds, 0.001);
  const left = rate > 0 ? spanText((1_000 * (total - done)) / rate) : '?';
  const bar = '#'.repeat(Math.floor((20 * done) / total)).padEnd(20, '.');
  return `[${bar}] ${done}/${total}  ${rate >= 10 ? rate.toFixed(0) : rate.toFixed(1)} a second  ${left} left`;
} // prettier-ignore
