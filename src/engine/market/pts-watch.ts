import {
  EMPTY,
  catchError,
  concat,
  defer,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  of,
  repeat,
  switchMap,
  take,
  tap,
  throttleTime,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { VenueError } from '../../core/errors.ts';
import { expectedCarryBps } from '../../core/risk/pts.ts';
import type { Quantity, Ratio } from '../../core/money.ts';
import type { CreditMetrics, FundingRate, RiskMode } from '../../core/venue.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { EngineState, OpenSlice } from '../state/engine-state.ts';
import type { Observer } from '../observer.ts';
import type { RateLimiter } from '../rate-limit/rate-limiter.ts';
import type { DeskSettings } from '../desk-settings.ts';
import type { Ports } from '../ports.ts';

type Terms = 'risk modes' | 'funding rates' | 'risk metrics';

/** First wait after a failed first read; doubles each time, up to the poll interval. */
const FIRST_RETRY_MS = 1_000;
/** Shortest time between two reads that messages of the feed cause. */
const SOON_MS = 1_000;

type PtsContext = Readonly<{ ports: Ports; policy: DeskSettings; rateLimiter: RateLimiter; observer: Observer; state: EngineState }>; // prettier-ignore

interface Waiting {
  readonly mostMs: number;
  readonly pending$: Observable<boolean>;
}

/** The metrics that the venue stated, and what the desk knew when it asked for them. */
interface StatedCredit {
  readonly metrics: CreditMetrics;
  readonly at: Monotonic;
  /** The balances that the desk knew then. */
  readonly balances: ReadonlyMap<string, Quantity>;
  /** The highest that each balance has been since: the metrics may include what the desk learnt later, such as a settlement. */
  readonly highest: Map<string, Quantity>;
}

/**
 * Polls risk modes, funding rates and risk metrics. Values older than `pts.maxAgeMs`, or refused by the venue, count as
 * unknown.
 */
export class PtsWatch {
  readonly #ports: Ports;
  readonly #policy: DeskSettings;
  readonly #rateLimiter: RateLimiter;
  readonly #observer: Observer;
  readonly #state: EngineState;
  /** The newest rate of each currency. An unreadable row leaves the previous value. */
  readonly #told = new Map<string, FundingRate>();
  readonly #refused = new Set<Terms>();
  readonly #waiting = new Map<OpenSlice, Instant>();
  /** Number of consecutive failures of the first read. */
  #failures = 0;
  #modes: { readonly value: ReadonlyMap<string, RiskMode>; readonly at: Monotonic } | undefined;
  #rates: { readonly value: ReadonlyMap<string, FundingRate>; readonly at: Monotonic } | undefined;

  #credit: StatedCredit | undefined;
  /** Whether the venue has no route for risk metrics, which its interface specification does not contain. */
  #hasNoMetrics = false;
  /** However old, because it is a term of the account that seldom changes. */
  #level: Ratio | undefined;

  constructor({ ports, policy, rateLimiter, observer, state }: PtsContext) {
    this.#ports = ports;
    this.#policy = policy;
    this.#rateLimiter = rateLimiter;
    this.#observer = observer;
    this.#state = state;
  }

  /** Whether the first read is pending, because the venue has neither reported the credit terms nor refused to. */
  isPending(): boolean {
    const { use, carryBpsMax } = this.#policy.pts;
    if (use === 'never') return false;
    const isMissing = (what: Terms, known: unknown): boolean =>
      known === undefined && !this.#refused.has(what);
    return (
      isMissing('risk modes', this.#modes) ||
      isMissing('risk metrics', this.#credit) ||
      (carryBpsMax !== undefined && isMissing('funding rates', this.#rates))
    );
  }

  /**
   * Emits once the first read is over, or after `mostMs`. `pending$` emits whether the read is still pending.
   */
  known(slice: OpenSlice, { mostMs, pending$ }: Waiting): Observable<void> {
    const { clock } = this.#ports;
    return defer(() => {
      if (!this.isPending()) return of(undefined);
      this.#waiting.set(slice, instant(clock.wall() + mostMs));
      return merge(pending$.pipe(filter((isPending) => !isPending)), timer(mostMs, clock.scheduler)).pipe(
        take(1),
        map(() => undefined),
        finalize(() => this.#waiting.delete(slice)),
      );
    });
  }

  /** Slices that wait for the first read, each with the end of its wait. */
  get waiting(): ReadonlyMap<OpenSlice, Instant> {
    return this.#waiting;
  }

  mode(pair: string): RiskMode | undefined {
    return this.#isFresh(this.#modes) ? this.#modes?.value.get(pair) : undefined;
  }

  /** The last known cost of borrowing `currency`, however old, because terms seldom change and debts continue. */
  rate(currency: string): FundingRate | undefined {
    return this.#told.get(currency);
  }

  /** The credit that the venue stated; `undefined` if it is unknown or stale. */
  stated(): StatedCredit | undefined {
    return this.#isFresh(this.#credit) ? this.#credit : undefined;
  }

  /** Whether the venue never states how much credit is left, so that only the desk's own settings limit it. */
  get hasNoMetrics(): boolean {
    return this.#hasNoMetrics;
  }

  /** Equity divided by exposure below which the venue settles positions; `undefined` if the venue has not stated it. */
  get level(): Ratio | undefined {
    return this.#level;
  }

  /** Emits once both values are fresh or could not be read. */
  ready(): Observable<void> {
    const isFresh = this.#isFresh(this.#modes) && this.#isFresh(this.#rates);
    return isFresh ? of(undefined) : concat(this.poll(), of(undefined));
  }

  /** Expected carry of borrowing `currency`, basis points; `undefined` when the rate is unknown. */
  carryBps(currency: string): Ratio | undefined {
    const rate = this.#isFresh(this.#rates) ? this.#rates?.value.get(currency) : undefined;
    return rate === undefined ? undefined : expectedCarryBps(rate, this.#policy.pts.holdingMs);
  }

  /** Polls while subscribed, for credit or while a strategy needs the credit terms. Emits after each poll. */
  run({ isNeeded }: { readonly isNeeded: () => boolean }): Observable<void> {
    const { clock } = this.#ports;
    const { use } = this.#policy.pts;
    const polled = defer(() => (use === 'never' && !isNeeded() ? EMPTY : concat(this.poll(), of(undefined))));
    const wait = defer(() => timer(this.#waitMs(), clock.scheduler)).pipe(ignoreElements());
    const told = (use === 'never' ? undefined : this.#ports.accountFeed?.credit$)?.pipe(
      tap(({ liquidationLevel }) => {
        this.#level = liquidationLevel ?? this.#level;
      }),
      throttleTime(SOON_MS, clock.scheduler, { leading: true, trailing: true }),
      switchMap(() => concat(this.#tolerant('risk metrics', this.#readMetrics()), of(undefined))),
      map(() => undefined),
    );
    return merge(concat(polled, wait).pipe(repeat()), told ?? EMPTY);
  }

  /** Shorter interval until the first successful read, because slices may wait for it. */
  #waitMs(): number {
    const { pollMs } = this.#policy.pts;
    this.#failures = this.isPending() ? this.#failures + 1 : 0;
    return this.#failures === 0
      ? pollMs
      : Math.min(pollMs, FIRST_RETRY_MS * 2 ** Math.min(10, this.#failures - 1));
  }

  /** Reads both values once. After a failure, the known values stay and grow older. Completes. */
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
        for (const rate of list) this.#told.set(rate.currency, rate);
        this.#rates = { value: new Map(list.map((rate) => [rate.currency, rate])), at: clock.monotonic() };
      }),
    );
    const { use } = this.#policy.pts;
    return merge(
      this.#tolerant('risk modes', modes),
      this.#tolerant('funding rates', rates),
      use === 'never' ? EMPTY : this.#tolerant('risk metrics', this.#readMetrics()),
    ).pipe(ignoreElements());
  }

  #readMetrics(): Observable<unknown> {
    return defer(() => {
      // Known before the request, so that no order counts as part of metrics that do not include it.
      const balances = new Map(this.#state.balances);
      const known = { balances, highest: new Map(balances), at: this.#ports.clock.monotonic() };
      return this.#paced(this.#ports.venue.creditMetrics()).pipe(
        tap((metrics) => {
          this.#level = metrics.liquidationLevel ?? this.#level;
          this.#credit = { metrics, ...known };
          this.#hasNoMetrics = false;
        }),
      );
    });
  }

  #paced<T>(read: Observable<T>): Observable<T> {
    return this.#rateLimiter.through({ route: 'read', priority: 'valuation', key: 'pts' }, read);
  }

  #tolerant(what: Terms, read: Observable<unknown>): Observable<unknown> {
    return read.pipe(
      map(() => undefined),
      catchError((error: unknown) => {
        if (!(error instanceof VenueError)) throw error;
        const { status = 0 } = error;
        const isOffered =
          what !== 'risk metrics' || (status !== 404 && status !== 405) || this.#credit !== undefined;
        const follows = isOffered
          ? 'once they are stale, the desk uses no credit'
          : 'the venue does not offer them, so only the settings of the desk limit its credit';
        if (isOffered || !this.#hasNoMetrics)
          this.#observer.warn(`${what} could not be read: ${follows}`, { error: error.message });
        this.#hasNoMetrics ||= !isOffered;
        if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
          this.#refused.add(what);
        }
        return EMPTY;
      }),
    );
  }

  #isFresh(known: { readonly at: Monotonic } | undefined): boolean {
    return known !== undefined && this.#ports.clock.monotonic() - known.at <= this.#policy.pts.maxAgeMs;
  }
}

/** Describes, one line each, slices that wait for the first read of the risk modes. */
export const termsWords = ({ pts }: { readonly pts: Pick<PtsWatch, 'waiting'> }): readonly string[] =>
  [...pts.waiting].map(
    ([{ intent }, until]) =>
      `slice ${intent.slice} of ${intent.parent} waits for the first read of the risk modes, until ${isoOf(until)} at most: it needs credit`,
  );
