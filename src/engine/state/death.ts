import type { Instant } from '../../core/time.ts';

/** A process without a record this long after its start died soon after the start. */
export const SOON_AFTER_START_MS = 5_000;

/** The death of the process that ran since `startedAt`, as a list; empty if it stopped cleanly. */
export const deathOf = (
  startedAt: Instant | undefined,
  lastAt: Instant | undefined,
  error: string | undefined,
): readonly Death[] =>
  startedAt === undefined
    ? []
    : [{ startedAt, error, isSoon: (lastAt ?? startedAt) - startedAt < SOON_AFTER_START_MS }];

/** The end of a process that recorded no stop. */
export interface Death {
  readonly startedAt: Instant;
  /** Its last sign of life came soon after its start. */
  readonly isSoon: boolean;
  /** The internal error that ended it; `undefined`: it was killed, or the cause is unknown. */
  readonly error: string | undefined;
}
