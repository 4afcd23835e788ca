import type { StateOptions } from '../sidecar/snapshot-file.ts';

export interface SqliteOptions {
  /** Opens for show, export and verify: takes no lock, checks nothing before it is read, refuses to append. */
  readonly readOnly?: boolean | undefined;
  /** How long another connection may hold the file before a call fails, milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Where a second note of how far the journal has come is kept. Left out: nowhere. */
  readonly anchor?: string | undefined;
  /** Bytes to set aside beside the journal for the results of orders that are under way when the disk is full; 0 when left out. */
  readonly reserveBytes?: number | undefined;
  /** Number of records from which on the chain is checked on a thread of its own while they are read; 50 000 when left out. */
  readonly apartFrom?: number | undefined;
  /** Called before each step of an append, for drills and tests: throws what the disk would. */
  readonly onStep?: ((step: 'begin' | 'insert' | 'commit') => void) | undefined;
  /** Keeps states in a file beside the journal; left out: none. */
  readonly states?: StateOptions | undefined;
  /** Told how long each commit took, milliseconds of `now`. */
  readonly commits?: { now(): number; observe(ms: number): void } | undefined;
}
