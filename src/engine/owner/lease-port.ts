import type { Observable } from 'rxjs';
import type { Instant } from '../../core/time.ts';

/**
 * The right of one owner to run a desk, as recorded in the store. The length of a lease only determines how soon
 * another owner can take over. Safety comes from the journal's fence.
 */
export interface Lease {
  readonly desk: string;
  /** Rises with every takeover. Each record is written under the epoch of its owner. */
  readonly epoch: number;
  readonly owner: string;
  /** On the store's clock. Do not compare it with any other clock. */
  readonly until: Instant;
  /** The store's timeline. A failover starts another one, in which this lease is not valid. */
  readonly timeline: string;
  /** What the store knows about the last requests of the former owner. Omitted: nothing. */
  readonly former?: { readonly log?: string | undefined; readonly agoMs: number } | undefined;
}

export interface LeaseRequest {
  readonly desk: string;
  /** Name of one process. Another process on the same machine has another name. */
  readonly owner: string;
  readonly leaseMs: number;
}

/**
 * A store of desks that several owners reach. All Observables are cold, emit once and complete. They error if the store
 * cannot be reached or its response was lost; the call may then have taken effect or not.
 */
export interface LeasePort {
  /** Acquires a desk whose lease has ended on the store's clock, and raises its epoch. `undefined`: another owner has it. */
  acquire(request: LeaseRequest): Observable<Lease | undefined>;

  /** Extends the lease, even if it has ended, as long as nobody has taken over. `undefined`: another owner has taken over. */
  renew(lease: Lease, leaseMs: number): Observable<Lease | undefined>;

  /** Ends the lease now. Has no effect if another owner has taken over. */
  release(lease: Lease): Observable<undefined>;
}
