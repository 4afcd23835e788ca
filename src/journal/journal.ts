import type { Observable } from 'rxjs';
import type { FencedOut } from '../core/errors.ts';
import type { OutboxPort } from '../core/outbox.ts';
import type { StoredRecord } from '../core/record.ts';
import type { Lease } from '../engine/owner/lease-port.ts';
import type { JournalPort } from '../engine/ports.ts';
import type { Head, Line, Verdict } from './proof/chain.ts';
import type { RecordQuery } from './record-query.ts';

/** A journal as its drivers implement it: the engine's port, plus proof and export. */
export interface Journal extends JournalPort {
  /** The newest record. Its hash covers the whole content. */
  head(): Head;

  /** All stored records, unchecked: for proof and export. */
  lines(): Iterable<Line>;

  /** Some of the records, unchecked: for lookups. */
  select(query: RecordQuery): Iterable<StoredRecord>;

  /** Checks the chain from the first record to the head. Never throws because of damage. */
  verify(): Verdict;

  /**
   * Emits once the renewal of the lease finds that another owner has taken over the desk. Omitted: there is only one
   * owner.
   */
  readonly lost$?: Observable<FencedOut> | undefined;

  /** The lease under which this process writes, in a store that several owners reach. */
  readonly lease?: Pick<Lease, 'desk' | 'epoch'> | undefined;

  /** What the store knows about the last requests of the former owner. Omitted: nothing. */
  readonly former?: Lease['former'];

  /** Leaves the last requests of this process to the next owner, with the release of the lease. Omitted: there is none. */
  handOver?(requests: string | undefined): void;

  /** Publishes the URL of this process's API for its standbys. A failure has no consequences. Omitted: there are none. */
  announce?(address: string): void;

  /**
   * Resolves once the disk reserve is held; rejects with an OperatorError `storage` if the disk has no space for it. No
   * order may leave before. Omitted: there is none.
   */
  readonly reserved?: Promise<void> | undefined;

  /** Notices that wait for delivery, stored beside the records. A backtest journal has none. */
  readonly outbox?: OutboxPort | undefined;
}
