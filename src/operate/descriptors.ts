import { readFileSync, readdirSync } from 'node:fs';

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
