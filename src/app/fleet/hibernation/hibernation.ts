import { MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import type { StoredDesk } from '../fleet-store.ts';

/** How early a desk restarts before its next task: time for its start on a busy machine. */
export const RESUME_EARLY_MS = MINUTE_MS;
/** The shortest idle time that is worth an end and a start. */
export const HIBERNATE_MIN_MS = 2 * MINUTE_MS;
/** How long a desk stays idle before it hibernates: whoever woke it may have a further command. */
const IDLE_FOR_MS = 10 * SECOND_MS;
/** Most desks that start for the first time at once: they have nothing open, and each needs a processor. */
const FIRST_STARTS_MAX = 4;

/** What a daemon notes of a desk whose process runs, as far as it may hibernate. */
export interface Idleness {
  /** Since when its owner says that it is idle for long enough. */
  idleSince: number | undefined;
  /** Its process was told to end; until when it is idle, ISO 8601. */
  endsUntil: string | undefined;
}

export const notIdle = (): Idleness => ({ idleSince: undefined, endsUntil: undefined });

/**
 * Decides which desks of a daemon hibernate: the process of a desk with nothing to do for long enough ends, and restarts before its next task.
 * Without `forMs` none does, and all that do resume.
 */
export class Hibernation {
  readonly #forMs: number | undefined;

  constructor(forMs: number | undefined) {
    this.#forMs = forMs;
  }

  /** Whether the process of a desk is to stay away now. */
  isAsleep({ hibernatesS = 0, hasCommand }: Pick<StoredDesk, 'hibernatesS' | 'hasCommand'>): boolean {
    return this.#forMs !== undefined && hibernatesS > 0 && !hasCommand;
  }

  /** Whether a desk that runs has been idle for long enough to end. Called once a second. */
  isToEnd(
    { idle, hasCommand }: Pick<StoredDesk, 'idle' | 'hasCommand'>,
    noted: Idleness,
    now: number,
  ): boolean {
    const isIdle =
      this.#forMs !== undefined && idle !== undefined && idle.s * SECOND_MS >= this.#forMs && !hasCommand;
    noted.idleSince = isIdle ? (noted.idleSince ?? now) : undefined;
    return noted.idleSince !== undefined && now - noted.idleSince >= IDLE_FOR_MS;
  }

  /** Whether a desk may start now: one that never ran waits while too many others do the same. */
  mayStart({ head }: Pick<StoredDesk, 'head'>, starting: number): boolean {
    return this.#forMs === undefined || head.seq > 0 || starting < FIRST_STARTS_MAX;
  }
}
