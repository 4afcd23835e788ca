import { Observable, throwError } from 'rxjs';
import { VenueError } from '../../../src/core/errors.ts';
import { instant, monotonic } from '../../../src/core/time.ts';
import type { OrderAnswer, OrderRequest, QuoteAnswer, QuoteRequest } from '../../../src/core/venue.ts';
import { toObservable } from '../../../src/engine/maybe-async.ts';
import type { Clock, VenuePort } from '../../../src/engine/ports.ts';
import type { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import type { Line } from '../../../src/journal/proof/chain.ts';
import type { RecordStore } from '../../../src/journal/owned/record-store.ts';
import type { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import { inProcessVenue } from '../../../src/simulator/port.ts';
import { site } from '../chance.ts';
import type { Chance, Site } from '../chance.ts';
import { EPOCH, between } from '../whole/draws.ts';
import type { ProcessClock } from '../whole/process-clock.ts';
import type { Servers } from './servers.ts';

/** `late`: it arrives all the same, however long after. */
const VENUE_WAY = site('venue.way', {
  'request lost': 0.1,
  'request late': 0.25,
  'answer lost': 0.2,
  'answer late': 0.1,
});
const STORE_WAY = site('store.way', {
  'request lost': 0.05,
  'request late': 0.1,
  'answer lost': 0.1,
  'answer late': 0.05,
});

const ANSWER_WAIT_MS = 9_000;
const STORE_WAIT_MS = 15_000;
const LATE_MS = { venue: 58_000, store: 60_000 } as const;

export interface WayOptions {
  readonly owner: number;
  /** Counts the processes of this owner. */
  readonly boot: number;
  readonly truth: VirtualClock;
  readonly chance: Chance;
  readonly clock: ProcessClock;
  readonly latencyMs: number;
  readonly isOpen: (owner: number, to: 'venue' | 'store') => boolean;
  /** A point at which the process may die or its machine stand still. Milliseconds until it goes on. */
  readonly yieldAt: (point: string) => number;
}

interface Trip<T> {
  readonly to: 'venue' | 'store';
  readonly name: string;
  readonly way: Site;
  readonly waitMs: number;
  /** What the other end does with it; `undefined`: nobody is there. */
  readonly work: () => Observable<T> | undefined;
  /** How long it takes to connect, where half of the requests have to. */
  readonly connectMs?: number | undefined;
  /** What the caller gets when nothing comes back. */
  readonly lost: () => Observable<T>;
}

/** One connection of one process. What has left arrives, whatever becomes of who sent it. */
export class Way {
  readonly #options: WayOptions;
  #count = 0;

  constructor(options: WayOptions) {
    this.#options = options;
  }

  send<T>({ to, name, way, waitMs, work, lost, connectMs = 0 }: Trip<T>): Observable<T> {
    const { owner, boot, truth, chance, clock, latencyMs, isOpen, yieldAt } = this.#options;
    return new Observable((subscriber) => {
      if (clock.isDead) return;
      const point = `${name} ${owner}.${boot}.${++this.#count}`;
      // Between the decision to send and the first byte anything may happen.
      const stillMs = yieldAt(`${point} leaves`);
      if (clock.isDead) return;
      const fault = chance.at(way, point);
      const lateMs = (kind: string): number =>
        fault?.kind === kind ? between(fault.value, 50, LATE_MS[to], 2) : 0;
      const oneWayMs = latencyMs * (0.3 + 0.4 * chance.draw('way', point));
      const takeBack = clock.push(waitMs, () => {
        lost().subscribe(subscriber);
      });
      subscriber.add(takeBack);
      const arrives = (): void => {
        if (fault?.kind === 'request lost' || !isOpen(owner, to)) return;
        work()?.subscribe({
          next: (answer) => {
            truth.push(oneWayMs + lateMs('answer late'), () => {
              if (fault?.kind === 'answer lost' || !isOpen(owner, to)) return;
              clock.deliver(() => {
                if (subscriber.closed) return;
                yieldAt(`${point} answered`);
                clock.deliver(() => {
                  subscriber.next(answer);
                  subscriber.complete();
                });
              });
            });
          },
          error: (error: unknown) => {
            truth.push(oneWayMs, () => {
              clock.deliver(() => {
                subscriber.error(error);
              });
            });
          },
        });
      };
      const travels = (afterMs: number): void => {
        truth.push(afterMs + oneWayMs + lateMs('request late'), arrives);
      };
      if (connectMs === 0 || chance.draw('connects', point) < 0.5) {
        travels(stillMs);
        return;
      }
      // A new connection: the bytes leave once it stands, and by then what was written beside it may be durable.
      truth.push(stillMs + connectMs, () => {
        clock.deliver(() => {
          if (!subscriber.closed) travels(yieldAt(`${point} connected`));
        });
      });
    });
  }
}

const nothingCame = (attempt: string): Observable<never> =>
  throwError(() => new VenueError({ code: 'timeout', applied: 'no', attempt }));

export interface VenueWayOptions extends WayOptions {
  readonly exchange: Exchange;
  readonly hasLookup: boolean;
  /** An order has reached the venue. */
  readonly onOrder: (request: OrderRequest) => void;
}

/** The exchange over a network that loses, delays and cuts off. */
export function venueOver(options: VenueWayOptions): VenuePort {
  const { truth, exchange, onOrder } = options;
  const way = new Way(options);
  const trueTime: Clock = {
    scheduler: truth,
    wall: () => instant(EPOCH + Math.floor(truth.now())),
    monotonic: () => monotonic(truth.now()),
  };
  const venue = inProcessVenue(exchange, { clock: trueTime, capabilities: 'all' });
  const read = <T>(name: string, work: () => Observable<T>): Observable<T> =>
    way.send<T>({
      to: 'venue',
      name,
      way: VENUE_WAY,
      waitMs: ANSWER_WAIT_MS,
      work,
      lost: () => nothingCame(name),
    });
  const lost = new Observable<{ kind: 'lost'; sent: true; why: string }>((subscriber) => {
    subscriber.next({ kind: 'lost', sent: true, why: 'no answer' });
    subscriber.complete();
  });
  const port: VenuePort = {
    quote: (request: QuoteRequest) =>
      way.send<QuoteAnswer>({
        to: 'venue',
        name: `quote ${request.clientId ?? ''}`,
        way: VENUE_WAY,
        connectMs: 200,
        waitMs: ANSWER_WAIT_MS,
        work: () => toObservable(venue.quote(request)),
        lost: () => lost,
      }),
    order: (request: OrderRequest) =>
      way.send<OrderAnswer>({
        to: 'venue',
        name: `order ${request.clientId}`,
        way: VENUE_WAY,
        waitMs: ANSWER_WAIT_MS,
        work: () => {
          onOrder(request);
          return toObservable(venue.order(request));
        },
        lost: () => lost,
      }),
    transactions: (query) => read('transactions', () => venue.transactions(query)),
    currencies: () => read('currencies', () => venue.currencies()),
    fundingRates: () => read('funding', () => venue.fundingRates()),
    riskModes: () => read('modes', () => venue.riskModes()),
    creditMetrics: () => read('metrics', () => venue.creditMetrics()),
    valuation: (from) => read('valuation', () => venue.valuation(from)),
  };
  const { lookup } = venue;
  return options.hasLookup && lookup !== undefined
    ? { ...port, lookup: (id) => read('look-up', () => lookup(id)) }
    : port;
}

/** The database over a network of its own. */
export function storeOver(options: WayOptions, servers: Servers): RecordStore {
  const way = new Way(options);
  const lost = (): Observable<never> => throwError(() => new Error('no answer of the store'));
  const ask = <T>(name: string, work: (store: RecordStore) => Observable<T>): Observable<T> =>
    way.send<T>({
      to: 'store',
      name,
      way: STORE_WAY,
      waitMs: STORE_WAIT_MS,
      work: () => {
        const store = servers.reachedBy(options.owner);
        return store === undefined ? undefined : work(store);
      },
      lost,
    });
  return {
    acquire: (request) => ask('acquire', (store) => store.acquire(request)),
    renew: (lease, leaseMs) => ask('renew', (store) => store.renew(lease, leaseMs)),
    release: (lease) => ask('release', (store) => store.release(lease)),
    read: (lease) => ask('read', (store) => store.read(lease)),
    insert: (lease, lines: readonly Line[]) =>
      ask(`insert ${kindsOf(lines)}`, (store) => store.insert(lease, lines)),
    keep: (lease, evidence) => ask('keep', (store) => store.keep(lease, evidence)),
  };
}

const kindsOf = (lines: readonly Line[]): string => lines.map(({ kind }) => kind).join('+');
