import { map } from 'rxjs';
import type { DeskStore, Lease } from '../../engine/owner/lease-port.ts';
import type { JournalPort, Oddity } from '../../engine/ports.ts';
import { EMPTY, readLines } from '../proof/chain.ts';
import type { Head, Line } from '../proof/chain.ts';
import { ownedChain } from './owned-chain.ts';
import type { RecordStore, StoredLines } from './record-store.ts';

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

/**
 * A promoted server may lack records that its predecessor had confirmed. `before`: the timeline in which the newest
 * record was added.
 */
export const oddityOf = ({ timeline, desk }: Lease, before: string | undefined): Oddity | undefined =>
  before === undefined || before === timeline
    ? undefined
    : {
        what: 'rolled_back',
        why:
          systemOf(before) === systemOf(timeline)
            ? `the store of desk ${desk} went from timeline ${before} to ${timeline} (a standby was promoted, or a backup restored): records may be missing`
            : `the journal of desk ${desk} was moved to another database server (${before} to ${timeline}): records may be missing`,
      };

const systemOf = (timeline: string): string => timeline.replace(/\/\d+$/u, '');
