import type { VenueError } from '../../core/errors.ts';
import type { Reason } from '../../core/reasons.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Observer } from '../observer.ts';
import type { Clock } from '../ports.ts';

/** Consecutive failures without a success. */
export interface Outage {
  readonly since: Monotonic;
  readonly last: Monotonic;
  readonly count: number;
  readonly reason: Reason;
  readonly detail: string;
  /** Whether the outage was reported as critical. */
  readonly isGrave: boolean;
}

/** Why nothing can trade, if the venue is the cause. */
export type VenueFault = Pick<Outage, 'reason' | 'detail'>;

/** Consecutive failures after which the operator is alerted. */
const TOLD = 3;
/** An outage of this length is critical. With the first failure and its timeout, it is reported within a minute of its start. */
const GRAVE_MS = 30_000;
/** A failure this long after the previous one starts a new outage. */
const APART_MS = 5 * MINUTE_MS;

/** A failure explains why a slice ended within this time after it, because a slice that still wants to trade has retried by then. */
const RECENT_MS = MINUTE_MS;

/** Key of the outage in which the venue does not respond at all. All other keys are pairs. */
const VENUE = '';

/** Responses to a quote request that contain no quote, through a fault of the venue. */
const NO_QUOTE: ReadonlySet<string> = new Set<Reason>([
  'quotes_unavailable',
  'quote_invalid',
  'venue_refused',
  'unsupported_pair',
]);

/** Read errors that mean that the venue cannot be reached. A refused certificate has its own alert. */
const UNREACHABLE: ReadonlySet<string> = new Set<VenueError['code']>([
  'connect',
  'timeout',
  'broken',
  'unavailable',
]);

/**
 * Tracks whether the venue responds and quotes each pair, from all quotes and reads of the desk. Raises
 * `venue_unreachable` or `no_quotes` once consecutive failures have lasted.
 */
export class VenueHealth {
  readonly #outages = new Map<string, Outage>();
  readonly #clock: Clock;
  readonly #observer: Observer;

  constructor(clock: Clock, observer: Observer) {
    this.#clock = clock;
    this.#observer = observer;
  }

  /** Reports outages that have lasted. Called every second, and at each failure if no clock is watched. */
  look(): void {
    for (const key of this.#outages.keys()) this.#escalate(key);
  }

  /** A quote request of a pair ended. */
  quoted(pair: string, result: 'quote' | Reason, detail: string): void {
    if (result === 'venue_failed') {
      this.#failed(VENUE, { reason: result, detail });
      return;
    }
    this.answered();
    if (result === 'quote' || result === 'too_large') this.#outages.delete(pair);
    else if (NO_QUOTE.has(result)) this.#failed(pair, { reason: result, detail });
  }

  /** A read of the account or of the venue's lists failed. */
  readFailed({ code, message }: VenueError): void {
    if (UNREACHABLE.has(code)) this.#failed(VENUE, { reason: 'venue_failed', detail: message });
  }

  /** The venue responded. */
  answered(): void {
    this.#outages.delete(VENUE);
  }

  /** Why the pair has no quote now; `undefined` if no fault of the venue is known. */
  faultOf(pair: string): VenueFault | undefined {
    const isRecent = (outage: Outage | undefined): boolean =>
      outage !== undefined && this.#clock.monotonic() - outage.last <= RECENT_MS;
    return [VENUE, pair].map((key) => this.#outages.get(key)).find(isRecent);
  }

  /** The outage in which the venue does not respond at all, once it was reported. */
  get unreachable(): Outage | undefined {
    const outage = this.#outages.get(VENUE);
    return outage !== undefined && outage.count >= TOLD ? outage : undefined;
  }

  #failed(key: string, fault: VenueFault): void {
    const now = this.#clock.monotonic();
    const known = this.#outages.get(key);
    const isNew = known === undefined || now - known.last > APART_MS;
    const count = isNew ? 1 : known.count + 1;
    const { since, isGrave } = isNew ? { since: now, isGrave: false } : known;
    this.#outages.set(key, { ...fault, since, isGrave, count, last: now });
    if (count === TOLD && key === VENUE)
      this.#observer.warn('the venue does not respond; retrying', { error: fault.detail });
    if (count === TOLD && key !== VENUE)
      this.#observer.warn('the venue is not quoting; retrying', { pair: key, ...fault });
    this.#escalate(key);
  }

  /** Reports an outage that has lasted as critical, once. */
  #escalate(key: string): void {
    const outage = this.#outages.get(key);
    if (outage === undefined || outage.isGrave || outage.count < TOLD) return;
    const forMs = this.#clock.monotonic() - outage.since;
    if (forMs < GRAVE_MS) return;
    this.#outages.set(key, { ...outage, isGrave: true });
    const { reason, detail, count } = outage;
    const facts = { for_s: Math.round(forMs / 1000), failures: count };
    if (key === VENUE) this.#observer.alert('venue_unreachable', { ...facts, error: detail });
    else this.#observer.alert('no_quotes', { ...facts, pair: key, reason, detail });
  }
}
