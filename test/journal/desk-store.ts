import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Lease, LeasePort } from '../../src/engine/owner/lease-port.ts';
import type { JournalPort } from '../../src/engine/ports.ts';
import { oddityOf } from '../../src/journal/owned/oddity.ts';
import { ownedChain } from '../../src/journal/owned/owned-chain.ts';
import type { RecordStore, StoredLines } from '../../src/journal/owned/record-store.ts';
import { EMPTY, readLines } from '../../src/journal/proof/chain.ts';
import type { Head, Line } from '../../src/journal/proof/chain.ts';

/** A store that also holds the journals of its desks. */
export interface DeskStore<J extends JournalPort = JournalPort> extends LeasePort {
  /** Reads the journal of a desk that was acquired before. `undefined`: another owner has taken over since. */
  open(lease: Lease): Observable<J | undefined>;
}

/** A journal in a store that several owners reach. */
export interface OwnedJournal extends JournalPort {
  /** The newest durable record. */
  head(): Head;
}

/** A store of records in the form that the engine needs, with each desk's journal. */
export const deskStore = (store: RecordStore): DeskStore<OwnedJournal> => ({
  acquire: (request) => store.acquire(request),
  renew: (lease, leaseMs) => store.renew(lease, leaseMs),
  release: (lease) => store.release(lease),
  open: (lease) =>
    store
      .read(lease)
      .pipe(map((found) => (found === undefined ? undefined : ownedJournal(store, lease, found)))),
});

/** A journal whose existing records were read into memory when it was opened. */
function ownedJournal(store: RecordStore, lease: Lease, found: StoredLines): OwnedJournal {
  const where = `of desk ${lease.desk}`;
  const { durable, append, fence, close } = ownedChain(store, {
    lease,
    where,
    head: headAt(found.lines, found.lines.length),
  });
  return {
    append,
    fence,
    oddity: oddityOf(lease, found.timeline),
    read: (after = 0) => readLines(where, found.lines.slice(after), headAt(found.lines, after)),
    head: durable,
    close,
  };
}

const headAt = (lines: readonly Line[], seq: number): Head => lines[seq - 1] ?? EMPTY;
