import { MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import type { StoredDesk } from '../fleet-store.ts';

/** Time from the restart of a desk to its next task: enough for a start on a busy machine. */
export const RESUME_EARLY_MS = MINUTE_MS;
/** Shortest idle time that is worth a stop and a start. */
export const HIBERNATE_MIN_MS = 2 * MINUTE_MS;
/** Time for which a desk stays idle before it hibernates: the person who woke it may send another command. */
const IDLE_FOR_MS = 10 * SECOND_MS;
/** Maximum number of desks that may start for the first time simultaneously, because each start needs a processor. They have nothing open. */
const FIRST_STARTS_MAX = 4;

/** Idle state of a desk whose process runs. */
export interface Idleness {
  /** Time since which its owner has reported a long enough idle time. */
  idleSince: number | undefined;
  /** Time until which the desk is idle, ISO 8601, once the daemon has asked its process to end. */
  endsUntil: string | undefined;
}

export const notIdle = (): Idleness => ({ idleSince: undefined, endsUntil: undefined });

/**
 * Decides which desks of a daemon hibernate: the process of a desk with nothing to do for at least `forMs` ends, and restarts before its
 * next task. Without `forMs` no desk hibernates, and all hibernating desks resume.
 */
export class Hibernation {
  readonly #forMs: number | undefined;

  constructor(forMs: number | undefined) {
    this.#forMs = forMs;
  }

  /** Returns whether a desk must not start now because it hibernates. */
  isAsleep({ hibernatesS = 0, hasCommand }: Pick<StoredDesk, 'hibernatesS' | 'hasCommand'>): boolean {
    return this.#forMs !== undefined && hibernatesS > 0 && !hasCommand;
  }

  /** Returns whether a running desk has been idle for long enough to end. Called once a second. */
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

  /** Returns whether a desk may start now: a first start waits while too many desks are starting. */
  mayStart({ head }: Pick<StoredDesk, 'head'>, starting: number): boolean {
    return this.#forMs === undefined || head.seq > 0 || starting < FIRST_STARTS_MAX;
  }
}
