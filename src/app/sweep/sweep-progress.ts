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
export function progressLine({
  done,
  total,
  already,
  seconds,
}: {
  readonly done: number;
  readonly total: number;
  readonly already: number;
  readonly seconds: number;
}): string {
  const rate = (done - already) / Math.max(seconds, 0.001);
  const left = rate > 0 ? durationOf((total - done) / rate) : '?';
  const bar = '#'.repeat(Math.floor((20 * done) / total)).padEnd(20, '.');
  return `[${bar}] ${done}/${total}  ${rate >= 10 ? rate.toFixed(0) : rate.toFixed(1)} a second  ${left} left`;
}

function durationOf(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
