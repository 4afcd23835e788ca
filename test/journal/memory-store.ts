import { Observable, defer, map, mergeMap, of, tap } from 'rxjs';
import { instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Lease, LeaseRequest } from '../../src/engine/owner/lease-port.ts';
import type { Line } from '../../src/journal/proof/chain.ts';
import type { Evidence, RecordStore, StoredLines } from '../../src/journal/owned/record-store.ts';

export interface MemoryStoreOptions {
  /** The clock of the server. */
  readonly now: () => number;
  /** Emits once when a transaction is durable; if it never emits, the transaction hangs with its locks. Default: at once. */
  readonly durable$?: Observable<unknown> | undefined;
  /** Called with each transaction when it is committed. */
  readonly onCommit?: ((commit: Commit) => void) | undefined;
}

/** One committed transaction, beside the state of the desk that it found. */
export type Commit =
  | { readonly did: 'acquire'; readonly lease: Lease; readonly before: Ownership; readonly at: Instant }
  | {
      readonly did: 'insert';
      readonly lease: Lease;
      readonly before: Ownership;
      readonly lines: readonly Line[];
      /** That the desk was in. */
      readonly timeline: string | undefined;
    };

export interface Ownership {
  readonly epoch: number;
  readonly owner: string;
  readonly until: Instant;
}

interface DeskRow {
  readonly ownership: Ownership;
  /** How many lines there are. */
  readonly count: number;
  /** The timeline in which the last of them was added, or without any the desk first acquired. */
  readonly timeline: string | undefined;
}

const NOBODY: DeskRow = {
  ownership: { epoch: 0, owner: '', until: instant(0) },
  count: 0,
  timeline: undefined,
};

/**
 * A server with desks in memory, for tests: transactions with row locks that are held until the commit, as PostgreSQL has them, and
 * failovers to a standby that may lack the newest of them.
 */
export class MemoryStore implements RecordStore {
  readonly timeline: string;
  /** By desk. Never cut short: a standby that lacks the last lines has its own list. */
  readonly #lines = new Map<string, Line[]>();
  readonly evidence: Evidence[] = [];
  readonly #options: MemoryStoreOptions;
  readonly #desks = new Map<string, DeskRow>();
  readonly #locks = new Map<string, RowLock>();
  /** The rows after each transaction. */
  readonly #history: { readonly desk: string; readonly row: DeskRow }[] = [];

  constructor(options: MemoryStoreOptions, timeline = 'memory/1') {
    this.#options = options;
    this.timeline = timeline;
  }

  /** Transactions so far. */
  get commits(): number {
    return this.#history.length;
  }

  linesOf(desk: string): readonly Line[] {
    return this.#lines.get(desk)?.slice(0, this.#row(desk).count) ?? [];
  }

  ownershipOf(desk: string): Ownership {
    return this.#row(desk).ownership;
  }

  /** The standby that takes this server's place, with its first `commits` transactions and a timeline of its own. */
  promoted(commits: number, timeline: string, options = this.#options): MemoryStore {
    const next = new MemoryStore(options, timeline);
    for (const { desk, row } of this.#history.slice(0, commits)) next.#desks.set(desk, row);
    for (const [desk, row] of next.#desks) {
      next.#history.push({ desk, row });
      next.#lines.set(desk, (this.#lines.get(desk) ?? []).slice(0, row.count));
    }
    next.evidence.push(...this.evidence);
    return next;
  }

  acquire({ desk, owner, leaseMs }: LeaseRequest): Observable<Lease | undefined> {
    return this.#locked(desk, 'update', () => {
      const before = this.#row(desk).ownership;
      const now = this.#options.now();
      if (before.until >= now) return of(undefined);
      const lease = {
        desk,
        epoch: before.epoch + 1,
        owner,
        until: instant(now + leaseMs),
        timeline: this.timeline,
      };
      return this.#commit(() => {
        this.#set(desk, { ownership: lease, timeline: this.#row(desk).timeline ?? this.timeline });
        this.#options.onCommit?.({ did: 'acquire', lease, before, at: instant(now) });
        return lease;
      });
    });
  }

  renew(lease: Lease, leaseMs: number): Observable<Lease | undefined> {
    return this.#locked(lease.desk, 'update', () => {
      if (!this.#holds(lease)) return of(undefined);
      const renewed = { ...lease, until: instant(this.#options.now() + leaseMs) };
      return this.#commit(() => {
        this.#set(lease.desk, { ownership: renewed });
        return renewed;
      });
    });
  }

  release(lease: Lease): Observable<undefined> {
    return this.#locked(lease.desk, 'update', () => {
      if (!this.#holds(lease)) return of(undefined);
      return this.#commit(() => {
        this.#set(lease.desk, { ownership: { ...lease, until: instant(0) } });
        return undefined;
      });
    });
  }

  read(lease: Lease): Observable<StoredLines | undefined> {
    return defer(() => {
      if (!this.#holds(lease)) return of(undefined);
      return of({ lines: this.linesOf(lease.desk), timeline: this.#row(lease.desk).timeline });
    });
  }

  insert(lease: Lease, lines: readonly Line[]): Observable<boolean> {
    return this.#locked(lease.desk, 'share', () => {
      if (!this.#holds(lease)) return of(false);
      return this.#commit(() => {
        this.#add(lease, lines);
        return true;
      });
    });
  }

  keep(_: Lease, evidence: Evidence): Observable<undefined> {
    return defer(() =>
      this.#commit(() => {
        this.evidence.push(evidence);
        return undefined;
      }),
    );
  }

  #row(desk: string): DeskRow {
    return this.#desks.get(desk) ?? NOBODY;
  }

  #set(desk: string, change: Partial<DeskRow>): void {
    const row = { ...this.#row(desk), ...change };
    this.#desks.set(desk, row);
    this.#history.push({ desk, row });
  }

  #holds({ desk, epoch, timeline }: Lease): boolean {
    return this.#row(desk).ownership.epoch === epoch && this.timeline === timeline;
  }

  /** The primary key is desk and number; and a line names the hash of the one before. */
  #add(lease: Lease, lines: readonly Line[]): void {
    const { desk } = lease;
    const { count, ownership, timeline } = this.#row(desk);
    const [first] = lines;
    if (first !== undefined && first.seq !== count + 1)
      throw new Error(`record ${first.seq} of desk ${desk} does not follow record ${count}`);
    const all = this.#lines.get(desk) ?? [];
    this.#lines.set(desk, [...all.slice(0, count), ...lines]);
    this.#set(desk, { count: count + lines.length, timeline: this.timeline });
    this.#options.onCommit?.({ did: 'insert', lease, before: ownership, lines, timeline });
  }

  #commit<T>(work: () => T): Observable<T> {
    return (this.#options.durable$ ?? of(undefined)).pipe(map(work));
  }

  /** Runs `work` with a lock on the row of the desk; the lock ends with the transaction. */
  #locked<T>(desk: string, mode: LockMode, work: () => Observable<T>): Observable<T> {
    const lock = this.#locks.get(desk) ?? new RowLock();
    this.#locks.set(desk, lock);
    return lock.acquire(mode).pipe(mergeMap((release) => work().pipe(tap({ finalize: release }))));
  }
}

type LockMode = 'share' | 'update';

/** In the order in which they were asked for: any number of `share` at a time, or one `update`. */
class RowLock {
  #sharers = 0;
  #isUpdating = false;
  readonly #waiting: { readonly mode: LockMode; readonly run: () => void }[] = [];

  acquire(mode: LockMode): Observable<() => void> {
    return new Observable((subscriber) => {
      this.#waiting.push({
        mode,
        run: () => {
          let isHeld = true;
          subscriber.next(() => {
            if (!isHeld) return;
            isHeld = false;
            if (mode === 'share') this.#sharers--;
            else this.#isUpdating = false;
            this.#next();
          });
          subscriber.complete();
        },
      });
      this.#next();
    });
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#isUpdating || (first.mode === 'update' && this.#sharers > 0)) return;
      this.#waiting.shift();
      if (first.mode === 'share') this.#sharers++;
      else this.#isUpdating = true;
      first.run();
    }
  }
}
