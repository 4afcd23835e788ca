import { Subject, merge, NEVER, defer, mergeMap, timer } from 'rxjs';
import type { Observable, Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { instant, MINUTE_MS } from '../../../src/core/time.ts';
import { Desk } from '../../../src/engine/desk.ts';
import type { StrategySource } from '../../../src/engine/desk.ts';
import { noObserver } from '../../../src/engine/observer.ts';
import { ownDesk } from '../../simulation/owners/own-desk.ts';
import type { Lease } from '../../../src/engine/owner/lease-port.ts';
import type { DeskSettings } from '../../../src/engine/desk-settings.ts';
import type { Command, VenuePort } from '../../../src/engine/ports.ts';
import { runDesk } from '../../../src/engine/run.ts';
import { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { deskStore } from '../../journal/desk-store.ts';
import type { DeskStore, OwnedJournal } from '../../journal/desk-store.ts';
import { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../../../src/simulator/options/options.ts';
import { inProcessVenue } from '../../../src/simulator/port.ts';
import { MemoryStore } from '../../journal/memory-store.ts';
import type { Commit } from '../../journal/memory-store.ts';
import { START, aPolicy, aTwap } from '../harness.ts';
import { FencedOut } from '../../../src/core/errors.ts';
import { text } from '../../../src/core/money.ts';
import type { RecordBody } from '../../../src/core/record.ts';
import { toObservable } from '../../../src/engine/maybe-async.ts';
import { readLines } from '../../../src/journal/proof/chain.ts';
import { executedTotal } from '../oracle.ts';

const LEASE_MS = 10_000;

interface OwnerSeen {
  readonly leases: Lease[];
  readonly phases: string[];
  error: unknown;
}

/** Some owners of one desk, on one clock, over one store and one exchange. */
class Owners {
  readonly clock = new VirtualClock(START);
  readonly exchange = new Exchange({ options: venueOptions({}), startedAt: START });
  readonly commits: Commit[] = [];
  readonly operator$ = new Subject<Command>();
  readonly store = new MemoryStore({
    now: () => this.clock.wall(),
    onCommit: (commit) => this.commits.push(commit),
  });
  readonly desks: Desk[] = [];
  readonly strategies: readonly StrategySource[];
  readonly policy: DeskSettings;

  constructor(strategies: readonly StrategySource[] = [aTwap('twap', { slices: 3, duration: 'PT15M' })]) {
    this.strategies = strategies;
    this.policy = aPolicy({ inDoubt: { ...aPolicy().inDoubt, lifeMaxMs: 30_000 } });
  }

  /** Starts one; `wrap` puts something between it and the venue, `store` between it and the store. */
  start(
    owner: string,
    {
      wrap = (venue) => venue,
      store = deskStore(this.store),
    }: { wrap?: (venue: VenuePort) => VenuePort; store?: DeskStore<OwnedJournal> } = {},
  ): { readonly seen: OwnerSeen; readonly running: Subscription } {
    const { clock, exchange } = this;
    const seen: OwnerSeen = { leases: [], phases: [], error: undefined };
    const options = { desk: 'main', owner, leaseMs: LEASE_MS, retryMs: 1_000, clock };
    const running = ownDesk(store, options, ({ lease, journal, lost$ }): Observable<string> => {
      seen.leases.push(lease);
      const venue = wrap(
        inProcessVenue(exchange, { clock, capabilities: 'none', quoteLatencyMs: 20, orderLatencyMs: 20 }),
      );
      const ports = {
        clock,
        random: { next: () => 0.5 },
        venue,
        journal,
        operator$: merge(this.operator$, NEVER),
      };
      const desk = new Desk(ports, this.policy, noObserver, this.strategies);
      this.desks.push(desk);
      return runDesk(desk, { lost$ });
    }).subscribe({
      next: (phase) => seen.phases.push(phase),
      error: (error: unknown) => {
        seen.error = error;
      },
      complete: () => seen.phases.push('stopped'),
    });
    return { seen, running };
  }

  /** Runs the clock to `ms` after the start. */
  runTo(ms: number): void {
    this.clock.run(instant(START + ms));
  }
}

const bodiesOf = (owners: Owners): readonly RecordBody[] =>
  [...readLines('test', owners.store.linesOf('main'))].map(({ body }) => body);
const executed = (owners: Owners): string => text(executedTotal(owners.exchange));
/** Calls `onOrder` for each order that is sent. */
const watched = (venue: VenuePort, onOrder: () => void): VenuePort => ({
  ...venue,
  order: (request) =>
    defer(() => {
      onOrder();
      return toObservable(venue.order(request));
    }),
});

describe('a desk in a store with several owners', () => {
  it('stays with the owner that renews its lease, and passes to the next one after a drain', () => {
    const owners = new Owners();
    const first = owners.start('a');
    const second = owners.start('b');
    owners.runTo(6 * MINUTE_MS);
    expect(second.seen.leases).toEqual([]);
    owners.operator$.next({ do: 'drain', why: 'test' });
    owners.runTo(6 * MINUTE_MS + 2_000);
    expect(first.seen.phases).toEqual(['ready', 'stopped']);
    expect(second.seen.leases).toMatchObject([{ epoch: 2 }]);
    owners.runTo(30 * MINUTE_MS);
    expect(executed(owners)).toBe('1');
    expect(bodiesOf(owners).filter(({ kind }) => kind === 'fill')).toHaveLength(3);
  });

  it('sends no order on a quote from before a takeover that the owner does not know of', () => {
    const owners = new Owners();
    let orders = 0;
    let isPausing = true;
    const cutOff: DeskStore<OwnedJournal> = { ...deskStore(owners.store), renew: () => NEVER };
    const first = owners.start('a', {
      store: cutOff,
      wrap: (venue) => ({
        ...watched(venue, () => orders++),
        // A quote that is fresh on arrival, long after its request, as if the machine had been suspended.
        quote: (request) =>
          timer(isPausing ? LEASE_MS + 7_000 : 0, owners.clock).pipe(
            mergeMap(() => toObservable(venue.quote(request))),
          ),
      }),
    });
    owners.runTo(5_000);
    const second = owners.start('b');
    owners.runTo(3 * MINUTE_MS);
    isPausing = false;
    expect(second.seen.leases).toMatchObject([{ epoch: 2 }]);
    expect(first.seen.error).toBeInstanceOf(FencedOut);
    expect(orders).toBe(0);
  });

  it('waits after a takeover for the longest quote life and the booking margin before it proves an absence', () => {
    const owners = new Owners();
    const lost = owners.start('a', { wrap: (venue) => ({ ...venue, order: () => NEVER }) });
    owners.runTo(5_000);
    lost.running.unsubscribe();
    expect(bodiesOf(owners).at(-1)).toMatchObject({ kind: 'quote' });
    owners.start('b');
    owners.runTo(20 * MINUTE_MS);
    const taken = owners.commits.find((commit) => commit.did === 'acquire' && commit.lease.owner === 'b');
    const absent = [...readLines('test', owners.store.linesOf('main'))].find(
      ({ body }) => body.kind === 'attempt' && body.result === 'absent',
    );
    const waitedMs = (absent?.at ?? 0) - (taken?.did === 'acquire' ? taken.at : 0);
    expect(waitedMs).toBeGreaterThanOrEqual(30_000 + 10_000);
    expect(executed(owners)).toBe('1');
  });

  it('starts halted under every owner after the timeline of the store has changed', () => {
    const owners = new Owners();
    const first = owners.start('a');
    owners.runTo(MINUTE_MS);
    first.running.unsubscribe();
    const next = owners.store.promoted(owners.store.commits, 'memory/2');
    const second = owners.start('b', { store: deskStore(next) });
    owners.runTo(3 * MINUTE_MS);
    expect(second.seen.leases).toMatchObject([{ timeline: 'memory/2' }]);
    expect(owners.desks.at(-1)?.control).toBe('halted');
    second.running.unsubscribe();
    owners.start('c', { store: deskStore(next) });
    owners.runTo(5 * MINUTE_MS);
    expect(owners.desks.at(-1)?.control).toBe('halted');
    expect(executed(owners)).toBe('0.33333333');
  });
});
