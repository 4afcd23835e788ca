import {
  EMPTY,
  catchError,
  concat,
  defer,
  forkJoin,
  ignoreElements,
  map,
  of,
  repeat,
  tap,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { VenueError } from '../core/errors.ts';
import { expectedCarryBps } from '../core/pts.ts';
import type { Ratio } from '../core/money.ts';
import type { FundingRate, RiskMode } from '../core/venue.ts';
import type { Monotonic } from '../core/time.ts';
import type { Observer } from './observer.ts';
import type { Pacer } from './pacer.ts';
import type { Policy } from './policy.ts';
import type { Ports } from './ports.ts';

/** Risk modes and funding rates, polled. What is older than `pts.maxAgeMs`, or was refused, is unknown. */
export class PtsWatch {
  readonly #ports: Ports;
  readonly #policy: Policy;
  readonly #pacer: Pacer;
  readonly #observer: Observer;
  #modes: { readonly value: ReadonlyMap<string, RiskMode>; readonly at: Monotonic } | undefined;
  #rates: { readonly value: ReadonlyMap<string, FundingRate>; readonly at: Monotonic } | undefined;

  constructor(ports: Ports, policy: Policy, pacer: Pacer, observer: Observer) {
    this.#ports = ports;
    this.#policy = policy;
    this.#pacer = pacer;
    this.#observer = observer;
  }

  mode(pair: string): RiskMode | undefined {
    return this.#isFresh(this.#modes) ? this.#modes?.value.get(pair) : undefined;
  }

  /** What borrowing `currency` costs, as it was told last, however long ago: terms change seldom, and debts go on. */
  rate(currency: string): FundingRate | undefined {
    return this.#rates?.value.get(currency);
  }

  /** Emits once both are fresh, or could not be read. */
  ready(): Observable<void> {
    const isFresh = this.#isFresh(this.#modes) && this.#isFresh(this.#rates);
    return isFresh ? of(undefined) : concat(this.poll(), of(undefined));
  }

  /** Expected carry of borrowing `currency`, basis points; `undefined` when the rate is unknown. */
  carryBps(currency: string): Ratio | undefined {
    const rate = this.#isFresh(this.#rates) ? this.#rates?.value.get(currency) : undefined;
    return rate === undefined ? undefined : expectedCarryBps(rate, this.#policy.pts.holdingMs);
  }

  /**
   * Polls for as long as it is subscribed, for credit or while a strategy needs the terms of it, which an edited one may
   * begin to. Emits after each poll.
   */
  run({ isNeeded }: { readonly isNeeded: () => boolean }): Observable<void> {
    const { clock } = this.#ports;
    const { use, pollMs } = this.#policy.pts;
    const polled = defer(() => (use === 'never' && !isNeeded() ? EMPTY : concat(this.poll(), of(undefined))));
    const wait = defer(() => timer(pollMs, clock.scheduler)).pipe(ignoreElements());
    return concat(polled, wait).pipe(repeat());
  }

  /** Reads both once; a failure leaves what is known to grow old. Completes. */
  poll(): Observable<never> {
    const { venue, clock } = this.#ports;
    const modes = this.#paced(venue.riskModes()).pipe(
      tap((value) => {
        for (const pair of new Set([...value.keys(), ...(this.#modes?.value.keys() ?? [])])) {
          this.#observer.riskMode(pair, value.get(pair));
        }
        this.#modes = { value, at: clock.monotonic() };
      }),
    );
    const rates = this.#paced(venue.fundingRates()).pipe(
      tap((list) => {
        this.#rates = { value: new Map(list.map((rate) => [rate.currency, rate])), at: clock.monotonic() };
      }),
    );
    return forkJoin([this.#tolerant('risk modes', modes), this.#tolerant('funding rates', rates)]).pipe(
      ignoreElements(),
    );
  }

  #paced<T>(read: Observable<T>): Observable<T> {
    return this.#pacer.through({ route: 'read', priority: 'valuation', key: 'pts' }, read);
  }

  #tolerant(what: string, read: Observable<unknown>): Observable<unknown> {
    return read.pipe(
      map(() => undefined),
      catchError((error: unknown) => {
        if (!(error instanceof VenueError)) throw error;
        this.#observer.warn(`${what} could not be read: no credit is used once they are stale`, {
          error: error.message,
        });
        return EMPTY;
      }),
    );
  }

  #isFresh(known: { readonly at: Monotonic } | undefined): boolean {
    return known !== undefined && this.#ports.clock.monotonic() - known.at <= this.#policy.pts.maxAgeMs;
  }
}
