import { Subject, merge, NEVER } from 'rxjs';
import type { Observable, Subscription } from 'rxjs';
import { instant } from '../../../src/core/time.ts';
import { Desk } from '../../../src/engine/desk.ts';
import type { StrategySource } from '../../../src/engine/desk.ts';
import { noObserver } from '../../../src/engine/observer.ts';
import { ownDesk } from '../../../src/engine/owner/own-desk.ts';
import type { DeskStore, Lease } from '../../../src/engine/owner/lease-port.ts';
import type { DeskSettings } from '../../../src/engine/desk-settings.ts';
import type { Command, VenuePort } from '../../../src/engine/ports.ts';
import { runDesk } from '../../../src/engine/run.ts';
import { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { deskStore } from '../../../src/journal/owned/owned-journal.ts';
import type { OwnedJournal } from '../../../src/journal/owned/owned-journal.ts';
import { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../../../src/simulator/options/options.ts';
import { inProcessVenue } from '../../../src/simulator/port.ts';
import { MemoryStore } from '../../journal/memory-store.ts';
import type { Commit } from '../../journal/memory-store.ts';
import { START, aPolicy, aTwap } from '../harness.ts';

export const LEASE_MS = 10_000;

export interface OwnerSeen {
  readonly leases: Lease[];
  readonly phases: string[];
  error: unknown;
}

/** Some owners of one desk, on one clock, over one store and one exchange. */
export class Owners {
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
