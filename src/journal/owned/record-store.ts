import type { Observable } from 'rxjs';
import type { RecordBody } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { Lease, LeasePort } from '../../engine/owner/lease-port.ts';
import type { Line } from '../proof/chain.ts';

/**
 * The operations of a database of desks, one statement each; `ownedJournal` builds a journal on them. A lease is valid
 * while its desk still has its epoch and the store still has its timeline. A statement that checks the lease locks the
 * desk's row until the end of its transaction, so that no takeover happens between the check and the commit.
 */
export interface RecordStore extends LeasePort {
  /** All records of the desk; `undefined`: the lease is not valid. */
  read(lease: Lease): Observable<StoredLines | undefined>;

  /**
   * Adds `lines` after the last one of the desk, all or none. `false`: the lease is not valid, and nothing was added.
   * Errors if they do not follow the last line, because another process has written.
   */
  insert(lease: Lease, lines: readonly Line[]): Observable<boolean>;

  /** Adds to the evidence, which is outside the chain and needs no lock. */
  keep(lease: Lease, evidence: Evidence): Observable<undefined>;
}

export interface StoredLines {
  readonly lines: readonly Line[];
  /** The timeline in which the last line was added, or, without lines, in which the desk was first acquired. */
  readonly timeline?: string | undefined;
}

/** Results that an owner received after it had lost its desk, as the records that it would have written. */
export interface Evidence {
  readonly bodies: readonly RecordBody[];
  readonly at: Instant;
}
