import type { StateOptions } from '../sidecar/snapshot-file.ts';

export interface SqliteOptions {
  /** Opens for show, export and verify: takes no lock, checks nothing before it is read, refuses to append. */
  readonly readOnly?: boolean | undefined;
  /** How long another connection may hold the file before a call fails, milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Path of the journal anchor. Default: none. */
  readonly anchor?: string | undefined;
  /** Disk reserve in bytes, for the results of open orders when the disk is full; default: 0. */
  readonly reserveBytes?: number | undefined;
  /** Number of records from which on a separate thread checks the chain while they are read; default: 50 000. */
  readonly apartFrom?: number | undefined;
  /** Called before each step of an append, and before a change of the outbox, for drills and tests: throws what the disk would. */
  readonly onStep?: ((step: 'begin' | 'insert' | 'commit' | 'outbox') => void) | undefined;
  /** Stores snapshots in a file beside the journal; default: none. */
  readonly states?: StateOptions | undefined;
  /** Called with the duration of each commit, milliseconds of `now`. */
  readonly commits?: { now(): number; observe(ms: number): void } | undefined;
}
