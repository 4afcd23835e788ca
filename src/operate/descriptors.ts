import { readFileSync, readdirSync } from 'node:fs';
import { distinctUntilChanged, filter, interval, map } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { SECOND_MS } from '../core/time.ts';

/** Number of open files and connections of this process, and its limit. */
export interface Descriptors {
  readonly open: number;
  readonly max: number;
}

/** Their path on Linux. */
interface Proc {
  readonly limits: () => string;
  readonly open: () => number;
}

const proc: Proc = {
  limits: () => readFileSync('/proc/self/limits', 'utf8'),
  open: () => readdirSync('/proc/self/fd').length,
};

/** Reads the limit once, and the open descriptors at every call. `undefined`: not available on this system. */
export function descriptorReader({ limits, open }: Proc = proc): () => Descriptors | undefined {
  let max: number | undefined;
  try {
    const soft = /^Max open files\s+(?<soft>\d+)/mu.exec(limits())?.groups?.['soft'];
    max = soft === undefined ? undefined : Number(soft);
  } catch {
    // Not Linux, so there is nothing to report.
  }
  return () => {
    if (max === undefined) return undefined;
    try {
      return { open: open(), max };
    } catch (error) {
      // No descriptor is free to read the count.
      return error instanceof Error && 'code' in error && error.code === 'EMFILE'
        ? { open: max, max }
        : undefined;
    }
  };
}

const LOOK_MS = 5 * SECOND_MS;
/** Share of the limit that triggers the alert. The rest is reserved for the journal, the venue and halts. */
const SHARE_MAX = 0.7;
const isLow = ({ open, max }: Descriptors): boolean => open > max * SHARE_MAX;

/** Emits when the process has used most of its descriptors; not again until it has used fewer. */
export const fewDescriptors = (
  scheduler: SchedulerLike,
  read: () => Descriptors | undefined = descriptorReader(),
): Observable<Descriptors> =>
  interval(LOOK_MS, scheduler).pipe(
    map(read),
    filter((now) => now !== undefined),
    distinctUntilChanged((before, now) => isLow(before) === isLow(now)),
    filter(isLow),
  );
