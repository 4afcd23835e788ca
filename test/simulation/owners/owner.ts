import { Subject, concatMap, filter, interval, map, merge, of, startWith, NEVER } from 'rxjs';
import type { Subscription } from 'rxjs';
import { Desk } from '../../../src/engine/desk.ts';
import { noObserver } from '../../../src/engine/observer.ts';
import { ownDesk } from './own-desk.ts';
import type { Lease } from '../../../src/engine/owner/lease-port.ts';
import type { Clock, Command, MarketPort } from '../../../src/engine/ports.ts';
import { runDesk } from '../../../src/engine/run.ts';
import { deskStore } from '../../journal/desk-store.ts';
import type { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import { bookPrice } from '../../support/book-market.ts';
import type { OrderRequest } from '../../../src/core/venue.ts';
import type { Chance } from '../chance.ts';
import type { ProcessClock } from '../whole/process-clock.ts';
import type { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { Machine } from './machine.ts';
import type { Servers } from './servers.ts';
import type { Setting } from './setting.ts';
import { storeOver, venueOver } from './ways.ts';

export const DESK = 'main';

export interface OwnerOptions {
  readonly number: number;
  readonly truth: VirtualClock;
  readonly chance: Chance;
  readonly setting: Setting;
  readonly servers: Servers;
  readonly exchange: Exchange;
  readonly isOpen: (owner: number, to: 'venue' | 'store') => boolean;
  /** Whether a desk ends by itself once its strategy has. */
  readonly isUntilDone: () => boolean;
  readonly yieldAt: (owner: Owner, point: string) => void;
  readonly onLease: (lease: Lease) => void;
  /** An order of this lease has reached the venue. */
  readonly onOrder: (request: OrderRequest, lease: Lease) => void;
  readonly onEnd: (owner: Owner, error: unknown) => void;
}

/** One machine that runs the daemon of a desk, process after process: the real engine on simulated ports. */
export class Owner {
  readonly number: number;
  readonly machine: Machine;
  readonly operator$ = new Subject<Command>();
  /** Of the process that owns the desk, or owned it and has not noticed. */
  desk: Desk | undefined;
  lease: Lease | undefined;
  readonly #options: OwnerOptions;
  #boot = 0;
  #clock: ProcessClock | undefined;
  #running: Subscription | undefined;

  constructor(options: OwnerOptions) {
    this.#options = options;
    this.number = options.number;
    this.machine = new Machine(
      options.truth,
      options.setting.wallOffsetsMs[options.number] ?? 0,
      options.setting.hasBootClock,
    );
  }

  get isRunning(): boolean {
    return this.#clock?.isDead === false;
  }

  start(): void {
    const { truth, chance, setting, servers, exchange, isOpen, yieldAt, onOrder, onEnd } = this.#options;
    const boot = ++this.#boot;
    const process = this.machine.start();
    this.#clock = process;
    const clock = this.machine.clockOf(process);
    const way = {
      owner: this.number,
      boot,
      truth,
      chance,
      clock: process,
      isOpen,
      yieldAt: (point: string): number => {
        if (!process.isDead) yieldAt(this, point);
        return this.machine.stillMs;
      },
    };
    const store = deskStore(storeOver({ ...way, latencyMs: setting.storeLatencyMs }, servers));
    const request = {
      desk: DESK,
      owner: `${this.number}.${boot}`,
      leaseMs: setting.leaseMs,
      retryMs: setting.retryMs,
      clock,
    };
    let drawn = 0;
    this.#running = ownDesk(store, request, ({ lease, journal, lost$ }) => {
      this.lease = lease;
      this.#options.onLease(lease);
      const venue = venueOver({
        ...way,
        latencyMs: setting.venueLatencyMs,
        exchange,
        hasLookup: setting.hasLookup,
        onOrder: (order) => {
          onOrder(order, lease);
        },
      });
      const ports = {
        clock,
        random: { next: () => chance.draw('jitter', `${this.number}.${boot}.${drawn++}`) },
        venue,
        journal,
        market: marketOf(exchange, clock),
        operator$: merge(this.operator$, NEVER),
      };
      const desk = new Desk(ports, setting.policy, noObserver, [setting.strategy]);
      this.desk = desk;
      return runDesk(desk, { isUntilDone: this.#options.isUntilDone(), lost$ });
    }).subscribe({
      error: (error: unknown) => {
        this.#end(process, error, onEnd);
      },
      complete: () => {
        this.#end(process, undefined, onEnd);
      },
    });
    if (process.isDead) this.#running.unsubscribe();
  }

  /** The process is gone in the middle of whatever it did. */
  kill(): void {
    if (this.#clock === undefined) return;
    this.#clock.isDead = true;
    this.#running?.unsubscribe();
    this.desk = undefined;
    this.lease = undefined;
  }

  #end(process: ProcessClock, error: unknown, onEnd: OwnerOptions['onEnd']): void {
    if (process.isDead) return;
    process.isDead = true;
    this.desk = undefined;
    this.lease = undefined;
    onEnd(this, error);
  }
}

function marketOf(exchange: Exchange, clock: Clock): MarketPort {
  return {
    prices$: interval(15_000, clock.scheduler).pipe(
      startWith(-1),
      concatMap(() =>
        of(bookPrice(exchange, 'btcusd', exchange.at)).pipe(
          filter((book) => book !== undefined),
          map((book) => ({ ...book, at: clock.wall() })),
        ),
      ),
    ),
  };
}
