import type { Observable } from 'rxjs';
import type { RecordBody } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { Lease, LeasePort } from '../../engine/owner/lease-port.ts';
import type { Line } from '../proof/chain.ts';

/**
 * What a database of desks must do, one statement each; `ownedJournal` makes a journal of it. A lease holds while its desk has its
 * epoch and the store its timeline. A statement that needs it takes a lock on the row of the desk that ends with its transaction,
 * so that no takeover comes between the check and the commit.
 */
export interface RecordStore extends LeasePort {
  /** All records of the desk; `undefined`: the lease does not hold. */
  read(lease: Lease): Observable<StoredLines | undefined>;

  /**
   * Adds `lines` behind the last one of the desk, all or none. `false`: the lease does not hold, and nothing was added. Errors when they
   * do not follow the last line: somebody else has written.
   */
  insert(lease: Lease, lines: readonly Line[]): Observable<boolean>;

  /**
   * Why a limit of the firm refuses the intent of this order, once `insert` has emitted; `undefined`: it is reserved. The same
   * transaction decided it. Omitted: the store has no such limits.
   */
  refusalOf?(clientOrderId: string): string | undefined;

  /** Adds to the evidence, which is beside the chain and needs no lease. */
  keep(lease: Lease, evidence: Evidence): Observable<undefined>;
}

export interface StoredLines {
  readonly lines: readonly Line[];
  /** The timeline in which the last line was added, or without any the desk was first acquired. */
  readonly timeline?: string | undefined;
}

/** What an owner learnt after it had lost its desk: the records that it would have written. */
export interface Evidence {
  readonly bodies: readonly RecordBody[];
  readonly at: Instant;
}
