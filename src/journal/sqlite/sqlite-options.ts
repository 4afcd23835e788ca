import type { StateOptions } from '../sidecar/snapshot-file.ts';

export interface SqliteOptions {
  /** Opens the journal for show, export and verify: takes no lock, checks only what it reads, and refuses to append. */
  readonly readOnly?: boolean | undefined;
  /** How long to wait for a lock of another connection before a call fails, milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Path of the journal anchor. Default: none. */
  readonly anchor?: string | undefined;
  /** Disk reserve in bytes, for the results of open orders when the disk is full; default: 0. */
  readonly reserveBytes?: number | undefined;
  /** Number of records from which a separate thread checks the chain while they are read; default: 50 000. */
  readonly apartFrom?: number | undefined;
  /**
   * Called before each step of an append, and before a change of the outbox, for drills and tests, where it throws
   * errors like those of a disk.
   */
  readonly onStep?: ((step: 'begin' | 'insert' | 'commit' | 'outbox') => void) | undefined;
  /** Stores snapshots in a file beside the journal; default: none. */
  readonly states?: StateOptions | undefined;
  /** Called with the duration of each commit, milliseconds of `now`. */
  readonly commits?: { now(): number; observe(ms: number): void } | undefined;
}
