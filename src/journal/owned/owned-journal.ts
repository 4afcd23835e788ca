import { Observable, map } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { FencedOut, OperatorError } from '../../core/errors.ts';
import type { RecordBody, StoredRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { DeskStore, Lease } from '../../engine/owner/lease-port.ts';
import type { JournalPort, Oddity } from '../../engine/ports.ts';
import { EMPTY, readLines, tie } from '../proof/chain.ts';
import type { Head, Line, Tied } from '../proof/chain.ts';
import type { RecordStore, StoredLines } from './record-store.ts';

/** A journal in a store that several owners reach. */
export interface OwnedJournal extends JournalPort {
  /** The newest record that is durable or on its way. */
  head(): Head;
}

/** A store of records as the engine needs it: with the journal of each desk. */
export const deskStore = (store: RecordStore): DeskStore<OwnedJournal> => ({
  acquire: (request) => store.acquire(request),
  renew: (lease, leaseMs) => store.renew(lease, leaseMs),
  release: (lease) => store.release(lease),
  open: (lease) =>
    store
      .read(lease)
      .pipe(map((found) => (found === undefined ? undefined : ownedJournal(store, lease, found)))),
});

interface Append {
  readonly tied: readonly Tied[];
  readonly subscriber: Subscriber<readonly StoredRecord[]>;
}

/**
 * Appends are durable in their order: those that come while one is on its way to the store go together after it. After an append
 * that failed or was refused nothing more is written: whether a lost answer hides a commit, the next owner reads.
 */
function ownedJournal(store: RecordStore, lease: Lease, found: StoredLines): OwnedJournal {
  const where = `of desk ${lease.desk}`;
  let head: Head = found.lines.at(-1) ?? EMPTY;
  let refusal: OperatorError | undefined;
  let isWriting = false;
  const waiting: Append[] = [];
  const refuse = (error: OperatorError, batch: readonly Append[]): void => {
    refusal ??= error;
    for (const { subscriber } of [...batch, ...waiting.splice(0)]) subscriber.error(refusal);
  };
  const write = (): void => {
    if (isWriting || waiting.length === 0) return;
    isWriting = true;
    const batch = waiting.splice(0);
    const lines = batch.flatMap(({ tied }) => tied.map(({ line }) => line));
    store.insert(lease, lines).subscribe({
      next: (isHeld) => {
        isWriting = false;
        if (!isHeld) {
          refuse(new FencedOut(lease.desk), batch);
          return;
        }
        for (const { tied, subscriber } of batch) {
          subscriber.next(tied.map(({ record }) => record));
          subscriber.complete();
        }
        write();
      },
      error: (cause: unknown) => {
        isWriting = false;
        const why = cause instanceof Error ? cause.message : String(cause);
        refuse(new OperatorError('storage', `journal ${where} failed: ${why}`, cause), batch);
      },
    });
  };
  return {
    append: (bodies: readonly RecordBody[], at: Instant) =>
      new Observable((subscriber) => {
        if (refusal !== undefined) {
          subscriber.error(refusal);
          return;
        }
        const tied = tie(head, bodies, at);
        head = tied.at(-1)?.line ?? head;
        waiting.push({ tied, subscriber });
        write();
      }),
    fence: {
      evidence: (bodies, at) => {
        // What cannot be kept is lost: the account shows what traded.
        store.keep(lease, { bodies, at }).subscribe({ error: () => undefined });
      },
    },
    oddity: oddityOf(lease, found),
    read: (after = 0) => readLines(where, found.lines.slice(after), headAt(found.lines, after)),
    head: () => head,
    close() {
      refusal ??= new OperatorError('storage', `journal ${where} is closed`);
    },
  };
}

const headAt = (lines: readonly Line[], seq: number): Head => lines[seq - 1] ?? EMPTY;

/** A server that was promoted may lack what its predecessor had confirmed. */
const oddityOf = ({ timeline, desk }: Lease, { timeline: before }: StoredLines): Oddity | undefined =>
  before === undefined || before === timeline
    ? undefined
    : {
        what: 'rolled_back',
        why: `the store of desk ${desk} went from timeline ${before} to ${timeline}: records may be missing`,
      };
