import { SECOND_MS } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { VenueOptions } from './options.ts';

/** At most `count` admissions in any window of `windowMs`: a log of the last ones, not an average. */
export class SlidingWindow {
  private readonly log: number[];
  private readonly windowMs: number;
  private next = 0;

  constructor(count: number, windowMs: number) {
    this.log = Array.from({ length: count }, () => -Infinity);
    this.windowMs = windowMs;
  }

  /** Admits and notes the request, or gives the milliseconds until one would be admitted. A refusal is not noted. */
  admit(now: Instant): number | undefined {
    const free = (this.log[this.next] ?? -Infinity) + this.windowMs;
    if (now < free) return free - now;
    this.log[this.next] = now;
    this.next = (this.next + 1) % this.log.length;
    return undefined;
  }

  /** Whether the window holds nothing any more. */
  isIdle(now: Instant): boolean {
    return this.log.every((at) => at + this.windowMs <= now);
  }
}

export type LimitedRoute = 'quote' | 'order' | 'transactions' | 'balances';

/** Most windows kept at once; idle ones are dropped first. */
const KEYS_MAX = 10_000;
const TEN_SECONDS_MS = 10 * SECOND_MS;

/**
 * The request limits of the venue: of each route by account, and of all routes by network address.
 *
 * Source: the interface specification, "Limits"; orders, balances and the limit by address: its public documentation.
 */
export class Limits {
  private readonly options: VenueOptions['limits'];
  private readonly windows = new Map<string, SlidingWindow>();

  constructor(options: VenueOptions['limits']) {
    this.options = options;
  }

  /** Milliseconds to wait when the request is one too many. */
  route(route: LimitedRoute, account: string, now: Instant): number | undefined {
    return this.admit(`${route} ${account}`, now, () => this.windowOf(route));
  }

  /** As `route`, for all requests of one network address. */
  address(address: string, now: Instant): number | undefined {
    return this.admit(
      `address ${address}`,
      now,
      () => new SlidingWindow(this.options.addressPerTenSeconds, TEN_SECONDS_MS),
    );
  }

  private admit(key: string, now: Instant, open: () => SlidingWindow): number | undefined {
    if (!this.options.enforced) return undefined;
    let window = this.windows.get(key);
    if (window === undefined) {
      if (this.windows.size >= KEYS_MAX) this.dropIdle(now);
      window = open();
      this.windows.set(key, window);
    }
    return window.admit(now);
  }

  private windowOf(route: LimitedRoute): SlidingWindow {
    const { quotesPerSecond, ordersPerSecond, transactionsWindowMs, balancesPerTenSeconds } = this.options;
    const open = {
      quote: () => new SlidingWindow(quotesPerSecond, SECOND_MS),
      order: () => new SlidingWindow(ordersPerSecond, SECOND_MS),
      transactions: () => new SlidingWindow(1, transactionsWindowMs),
      balances: () => new SlidingWindow(balancesPerTenSeconds, TEN_SECONDS_MS),
    } satisfies Record<LimitedRoute, () => SlidingWindow>;
    return open[route]();
  }

  private dropIdle(now: Instant): void {
    for (const [key, window] of this.windows) if (window.isIdle(now)) this.windows.delete(key);
  }
}
