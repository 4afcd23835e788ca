import {
  EMPTY,
  NEVER,
  Subject,
  concat,
  defer,
  distinctUntilChanged,
  filter,
  finalize,
  forkJoin,
  ignoreElements,
  map,
  merge,
  mergeMap,
  of,
  repeat,
  share,
  switchMap,
  take,
  tap,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { classifyQuote } from '../../core/cycle/answer.ts';
import type { Instrument } from '../../core/instrument.ts';
import { areApart, isFresh } from '../../core/reference-price.ts';
import type { ReferencePrice } from '../../core/reference-price.ts';
import { holding, middle, quantity, roundUp, size, slippageBps } from '../../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../../core/money.ts';
import { after } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { QuoteRequest, Side, Size } from '../../core/venue.ts';
import type { Footprint } from './footprint.ts';
import type { VenueHealth } from './venue-health.ts';
import type { Observer } from '../observer.ts';
import type { RateLimiter } from '../rate-limit/rate-limiter.ts';
import type { DeskSettings } from '../desk-settings.ts';
import type { Lookout, Ports } from '../ports.ts';
import { toObservable } from '../maybe-async.ts';

interface Wiring {
  readonly ports: Ports;
  readonly policy: DeskSettings;
  readonly rateLimiter: RateLimiter;
  readonly observer: Observer;
  readonly footprint: Footprint;
  readonly venueHealth: VenueHealth;
  instrument(pair: string): Instrument;
  /** Converts an amount; `undefined` while no rate is known. */
  convert(currency: string, amount: Quantity, into: string): Money | undefined;
  /** A halted desk requests no quotes. */
  isHalted(): boolean;
  /** Halts the desk because the venue refuses the token. */
  halt(why: string): Observable<never>;
}

/** Size of a probe if no rate converts the configured amount and no minimum is set. */
const PROBE_QUANTITY = quantity('0.001');
const RETRY_MS = 1_000;

/** Largest share of the quote limit that probes may use. */
export const PROBE_SHARE = 0.2;

/** Two prices count as simultaneous when they are at most this far apart, milliseconds. */
const SAME_TIME_MS = 500;

/**
 * Reference prices: the mid of the venue's order book if there is a feed of it, otherwise the mid of a small buy quote and
 * a small sell quote, otherwise the last trade of the ticker. The desk requests probes only while something waits for a
 * price or watches a pair, and within their share of the quote limit.
 */
export class References {
  readonly #wiring: Wiring;
  readonly #prices = new Map<string, { readonly price: ReferencePrice; readonly seenAt: Monotonic }>();
  /** The newest price of each source, by pair and source. */
  readonly #sources = new Map<string, { readonly price: ReferencePrice; readonly seenAt: Monotonic }>();
  /** Distance between two simultaneous prices of a pair from different sources. */
  readonly #gaps = new Map<string, { readonly gap: Ratio; readonly seenAt: Monotonic }>();
  readonly #probes = new Map<string, Observable<ReferencePrice>>();
  readonly #watches = new Map<string, Observable<never>>();
  /** Consecutive probes that brought no price. */
  readonly #failures = new Map<string, { readonly count: number; readonly last: Monotonic }>();
  readonly #changes = new Subject<ReferencePrice>();
  /** Every new reference price. */
  readonly changed$: Observable<ReferencePrice> = this.#changes.asObservable();

  constructor(wiring: Wiring) {
    this.#wiring = wiring;
  }

  /** Subscribes to the venue's feed, if there is one. Never emits. */
  listen(): Observable<never> {
    const { market } = this.#wiring.ports;
    return market === undefined
      ? EMPTY
      : market.prices$.pipe(
          tap((price) => this.#set(price)),
          ignoreElements(),
        );
  }

  /** Pairs, with the number of consecutive probes without a price (at most ten) and the end of the last one. */
  get failures(): Iterable<readonly [string, { readonly count: number; readonly last: Monotonic }]> {
    return this.#failures;
  }

  /** The newest price, if it is not stale. */
  get(pair: string): ReferencePrice | undefined {
    const { ports, policy } = this.#wiring;
    if (ports.market?.look !== undefined) return ports.market.look(pair);
    const known = this.#prices.get(pair);
    if (known === undefined) return undefined;
    // The wall clock may step back, so a price seen too long ago is stale regardless of its timestamp.
    const ageMs = ports.clock.monotonic() - known.seenAt;
    const { maxAgeMs } = policy.reference;
    return ageMs <= maxAgeMs && isFresh(known.price, ports.clock.wall(), maxAgeMs) ? known.price : undefined;
  }

  /** Like `get`, without the last trade, which does not replace a mid. */
  #mid(pair: string): ReferencePrice | undefined {
    const price = this.get(pair);
    return price?.source === 'ticker' ? undefined : price;
  }

  /**
   * Distance between feed and probe when both last had simultaneous prices, in basis points; `undefined` if they never
   * had any or had them too long ago. Prices of different instants are not comparable, because the market may have
   * moved.
   */
  gapBps(pair: string): Ratio | undefined {
    const { ports, policy } = this.#wiring;
    const known = this.#gaps.get(pair);
    if (known === undefined) return undefined;
    return ports.clock.monotonic() - known.seenAt <= policy.reference.maxAgeMs ? known.gap : undefined;
  }

  /**
   * A quote disagreed with the reference price of a pair. A price from probes is dropped, so that the feed replaces it
   * or the next use probes again. A feed price stays, because the feed updates independently of the quotes.
   */
  renew(pair: string): void {
    if (this.#prices.get(pair)?.price.source !== 'probe') return;
    const book = this.#sources.get(`${pair} book`);
    if (book === undefined) this.#prices.delete(pair);
    else this.#prices.set(pair, book);
  }

  /** Whether every pair has a fresh mid. */
  hasAll(pairs: readonly string[]): boolean {
    return pairs.every((pair) => this.#mid(pair) !== undefined);
  }

  /**
   * Emits once every pair has a fresh mid, or after `reference.waitMs` even if some have none. Emits in the same
   * tick when all are fresh.
   */
  ready(pairs: readonly string[]): Observable<void> {
    return defer(() => {
      const missing = pairs.filter((pair) => this.#mid(pair) === undefined);
      if (missing.length === 0) return of(undefined);
      const { ports, policy } = this.#wiring;
      const isAsked = ports.market?.look === undefined;
      const asking = isAsked
        ? merge(...missing.map((pair) => this.#insist(pair)))
        : (ports.market.expect?.({ pairs: missing }) ?? NEVER);
      const arrived = merge(this.changed$, asking).pipe(filter(() => this.hasAll(missing)));
      return merge(arrived, timer(policy.reference.waitMs, ports.clock.scheduler)).pipe(
        take(1),
        map(() => undefined),
      );
    });
  }

  /**
   * Keeps prices of these pairs fresh while subscribed. `lookout$` describes the awaited prices, and emits on each
   * change, so that a market that can look ahead skips all other prices. Never emits.
   */
  follow(pairs: readonly string[], lookout$: Observable<Lookout>): Observable<never> {
    const { market } = this.#wiring.ports;
    if (market?.look === undefined) return merge(...pairs.map((pair) => this.watch(pair)));
    return lookout$.pipe(switchMap((lookout) => market.expect?.(lookout) ?? NEVER));
  }

  /**
   * New prices of these pairs. A market that can be queried knows all prices of an instant simultaneously, so the first
   * price of an instant stands for all of them.
   */
  changesOf(pairs: readonly string[]): Observable<ReferencePrice> {
    const changes$ = this.changed$.pipe(filter(({ pair }) => pairs.includes(pair)));
    const isAsked = this.#wiring.ports.market?.look !== undefined;
    return isAsked ? changes$.pipe(distinctUntilChanged((one, next) => one.at === next.at)) : changes$;
  }

  /** Keeps the price of a pair fresh while anyone is subscribed. Never emits. */
  watch(pair: string): Observable<never> {
    const known = this.#watches.get(pair);
    if (known !== undefined) return known;
    const { ports } = this.#wiring;
    const wait = defer(() =>
      timer(this.#intervalMs() * this.#wiring.footprint.slowdown(pair), ports.clock.scheduler),
    );
    const watching = concat(this.#probe(pair), wait).pipe(
      ignoreElements(),
      repeat(),
      finalize(() => this.#watches.delete(pair)),
      share(),
    );
    this.#watches.set(pair, watching);
    return watching;
  }

  /** All watched pairs together stay within their share of the limit: two quotes per probe. */
  #intervalMs(): number {
    const { policy } = this.#wiring;
    const quotes = policy.pace.windows.quote;
    if (this.#wiring.ports.market !== undefined) return policy.reference.maxAgeMs / 2;
    if (quotes === undefined) return policy.reference.intervalMs;
    const perSecond = (quotes.max / quotes.perMs) * 1000 * PROBE_SHARE;
    return Math.max(policy.reference.intervalMs, (2 * this.#watches.size * 1000) / perSecond);
  }

  /** Probes until the pair has a fresh mid. Never emits. */
  #insist(pair: string): Observable<never> {
    const { ports, policy } = this.#wiring;
    // Full jitter, because pairs without a price must not probe in step and leave no quote requests to slices.
    const waitMs = (): number => {
      const failures = this.#failures.get(pair)?.count ?? 0;
      return RETRY_MS + ports.random.next() * Math.min(policy.retry.capMs, RETRY_MS * 2 ** failures);
    };
    const again = (): Observable<unknown> =>
      this.#mid(pair) === undefined ? timer(waitMs(), ports.clock.scheduler) : EMPTY;
    return this.#probe(pair).pipe(ignoreElements(), repeat({ delay: again }));
  }

  /** One probe; concurrent requests share it. A fresh mid of the feed makes it unnecessary. */
  #probe(pair: string): Observable<ReferencePrice> {
    return defer(() => {
      if (this.#wiring.ports.market !== undefined && this.#mid(pair) !== undefined) return EMPTY;
      const known = this.#probes.get(pair);
      if (known !== undefined) return known;
      const probe = forkJoin([this.#side(pair, 'buy'), this.#side(pair, 'sell')]).pipe(
        filter(([buy, sell]) => this.#agree(pair, buy, sell)),
        map(([buy, sell]): ReferencePrice => ({
          pair,
          mid: middle(buy, sell),
          at: this.#wiring.ports.clock.wall(),
          source: 'probe',
        })),
        tap((price) => {
          this.#set(price);
        }),
        finalize(() => {
          this.#probes.delete(pair);
          const isMissing = this.#mid(pair) === undefined;
          const count = isMissing ? Math.min((this.#failures.get(pair)?.count ?? 0) + 1, 10) : 0;
          this.#failures.set(pair, { count, last: this.#wiring.ports.clock.monotonic() });
        }),
        share(),
      );
      this.#probes.set(pair, probe);
      return probe;
    });
  }

  /** Whether both sides of a probe are credible. The mid of an absurd and a sound price would be absurd. */
  #agree(pair: string, buy: Price, sell: Price): boolean {
    if (!areApart(buy, sell)) return true;
    this.#wiring.observer.warn('the two sides of a small quote are too far apart for a reference price', {
      pair,
      buy: buy.toFixed(),
      sell: sell.toFixed(),
    });
    return false;
  }

  /** Requests the price of a small quote; empty without a quote. The quote is never executed, because it has no client id. */
  #side(pair: string, side: Side): Observable<Price> {
    const { ports, policy, rateLimiter, observer, footprint, venueHealth } = this.#wiring;
    if (this.#wiring.isHalted()) return EMPTY;
    const instrument = this.#wiring.instrument(pair);
    const request: QuoteRequest = { pair, side, size: this.#size(instrument) };
    const deadline = after(ports.clock.monotonic(), policy.reference.maxAgeMs);
    return rateLimiter.take({ route: 'quote', priority: 'quote', key: 'reference', deadline }).pipe(
      mergeMap((permit) => {
        if (this.#wiring.isHalted()) {
          permit.giveBack();
          return EMPTY;
        }
        observer.paced('quote', 'quote', permit.waitedMs);
        const askedAt = ports.clock.monotonic();
        return toObservable(ports.venue.quote(request)).pipe(
          finalize(() => {
            permit.settle();
          }),
          map((answer) => classifyQuote(request, answer, instrument)),
          tap((meaning) => {
            const result =
              meaning.means === 'quote'
                ? 'quote'
                : meaning.means === 'smaller'
                  ? 'too_large'
                  : meaning.reason;
            observer.quoted(pair, result, ports.clock.monotonic() - askedAt);
            venueHealth.quoted(pair, result, 'detail' in meaning ? meaning.detail : '');
            footprint.asked(pair, 'reference', meaning.means === 'quote');
            if (result === 'rate_limited')
              rateLimiter.block('quote', meaning.means === 'later' ? (meaning.waitMs ?? 2_000) : 2_000);
          }),
        );
      }),
      mergeMap((meaning) =>
        meaning.means === 'halt'
          ? this.#wiring.halt(`the venue refused the token: ${meaning.detail}`)
          : of(meaning),
      ),
      map((meaning) => (meaning.means === 'quote' ? meaning.quote.price : undefined)),
      filter((price) => price !== undefined),
    );
  }

  #size({ quote, quotePrecision, minimum }: Instrument): Size {
    const { amount, currency } = this.#wiring.policy.reference.probe;
    if (currency === quote) return { by: 'amount', amount };
    const worth = this.#wiring.convert(currency, holding(amount), quote);
    if (worth?.gt(0) === true) return { by: 'amount', amount: roundUp(worth, quotePrecision) };
    return { by: 'quantity', quantity: minimum.quantity ?? PROBE_QUANTITY };
  }

  #set(price: ReferencePrice): void {
    // A market that can be queried holds its own prices.
    if (this.#wiring.ports.market?.look !== undefined) {
      this.#wiring.observer.reference(price);
      this.#changes.next(price);
      return;
    }
    if (price.source === 'ticker' && this.#mid(price.pair) !== undefined) return;
    const seenAt = this.#wiring.ports.clock.monotonic();
    this.#prices.set(price.pair, { price, seenAt });
    this.#sources.set(`${price.pair} ${price.source}`, { price, seenAt });
    const other = this.#sources.get(`${price.pair} ${price.source === 'probe' ? 'book' : 'probe'}`);
    if (price.source !== 'ticker' && other !== undefined && seenAt - other.seenAt <= SAME_TIME_MS)
      this.#gaps.set(price.pair, { gap: size(slippageBps('buy', price.mid, other.price.mid)), seenAt });
    this.#wiring.observer.reference(price);
    this.#changes.next(price);
  }
}
