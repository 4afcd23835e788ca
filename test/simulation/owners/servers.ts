import { Observable } from 'rxjs';
import type { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { MemoryStore } from '../../journal/memory-store.ts';
import type { Commit, MemoryStoreOptions } from '../../journal/memory-store.ts';
import { site } from '../chance.ts';
import type { Chance } from '../chance.ts';
import { EPOCH, between } from '../whole/draws.ts';

const COMMIT = site('commit', { slow: 0.05 });

export interface ServersOptions {
  readonly truth: VirtualClock;
  readonly chance: Chance;
  readonly isSynchronous: boolean;
  readonly onCommit: (commit: Commit) => void;
}

interface Server {
  readonly store: MemoryStore;
  /** What it begins to commit never becomes durable, as of this moment. */
  isStuck: boolean;
}

/** The database: a primary, the standby that may take its place, and a primary that was cut off and does not know it. */
export class Servers {
  readonly #options: ServersOptions;
  #timeline = 1;
  #primary: Server;
  /** The primary of before, for owners that are on its side of the cut. */
  #old: { readonly server: Server; readonly until: number; readonly owners: ReadonlySet<number> } | undefined;
  #downUntil = 0;
  #commits = 0;
  /** No standby lacks the beginning of the strategy: a desk without any record would begin it again. */
  #least = Number.POSITIVE_INFINITY;
  /** From when on no other primary of before is reached by anybody. */
  soleSince = 0;

  constructor(options: ServersOptions) {
    this.#options = options;
    this.#primary = this.#server((on) => new MemoryStore(on, 'system/1'));
  }

  get current(): MemoryStore {
    return this.#primary.store;
  }

  get hasFailedOver(): boolean {
    return this.#timeline > 1;
  }

  /** The server that this owner is connected to; `undefined`: none answers. */
  reachedBy(owner: number): MemoryStore | undefined {
    const now = this.#options.truth.now();
    const old = this.#old;
    if (old?.owners.has(owner) === true && now < old.until) return old.server.store;
    return now < this.#downUntil ? undefined : this.#primary.store;
  }

  /** The server stops, and starts again with all that was committed. */
  restart(ms: number): void {
    this.#downUntil = Math.max(this.#downUntil, this.#options.truth.now() + ms);
    const before = this.#primary;
    before.isStuck = true;
    // What was under way is gone with its locks.
    if (Number.isFinite(this.#least)) this.#least = 1;
    this.#primary = this.#server((on) =>
      before.store.promoted(before.store.commits, before.store.timeline, on),
    );
  }

  /** The standby takes over. Without a synchronous one the last `lost` transactions are not there. */
  failOver(
    lost: number,
    wanted: { readonly owners: ReadonlySet<number>; readonly ms: number } | undefined,
  ): void {
    const { truth, isSynchronous } = this.#options;
    const before = this.#primary;
    const hasBegun = Number.isFinite(this.#least);
    // Without a standby a strategy that begins on a lost primary begins again on the next one, and nothing can tell.
    const cutOff = isSynchronous || hasBegun ? wanted : undefined;
    // Alone it confirms nothing that waits for a standby; without one it goes on as if nothing had happened.
    before.isStuck = isSynchronous || cutOff === undefined;
    const kept = isSynchronous
      ? before.store.commits
      : Math.max(Math.min(this.#least, before.store.commits), before.store.commits - lost);
    this.#timeline++;
    // What a promoted server has from its predecessor is one transaction for each desk.
    if (hasBegun) this.#least = 1;
    this.#primary = this.#server((on) => before.store.promoted(kept, `system/${this.#timeline}`, on));
    this.#old =
      cutOff === undefined
        ? undefined
        : { server: before, until: truth.now() + cutOff.ms, owners: cutOff.owners };
    this.soleSince = this.#old?.until ?? truth.now();
  }

  heal(): void {
    if (this.#old !== undefined) this.#old.server.isStuck = true;
    this.#old = undefined;
    this.#downUntil = 0;
    this.soleSince = Math.min(this.soleSince, this.#options.truth.now());
  }

  #server(make: (options: MemoryStoreOptions) => MemoryStore): Server {
    const { truth, chance, onCommit } = this.#options;
    const durable$ = new Observable<undefined>((subscriber) => {
      const fault = chance.at(COMMIT, ++this.#commits);
      const ms = fault === undefined ? 0.3 : between(fault.value, 5, 20_000, 2);
      truth.push(ms, () => {
        if (server.isStuck) return;
        subscriber.next(undefined);
        subscriber.complete();
      });
    });
    const store: MemoryStore = make({
      now: () => EPOCH + Math.floor(truth.now()),
      durable$,
      onCommit: (commit) => {
        const hasBegun = commit.did === 'insert' && commit.lines.some(({ kind }) => kind === 'strategy');
        if (hasBegun && this.#primary.store === store) this.#least = Math.min(this.#least, store.commits);
        onCommit(commit);
      },
    });
    const server: Server = { store, isStuck: false };
    return server;
  }
}
