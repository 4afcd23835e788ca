import { SECOND_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { ROUTE_COOL_DOWN_MS } from '../../wire/constants.ts';
import type { LimitedRoute } from '../../wire/routes.ts';
import type { VenueOptions } from '../options/options.ts';

/** At most `count` admissions in any window of `windowMs`. Stores each of the last admissions, instead of an average. */
export class SlidingWindow {
  private readonly log: Float64Array;
  private readonly windowMs: number;
  private next = 0;

  constructor(count: number, windowMs: number) {
    this.log = new Float64Array(count).fill(-Infinity);
    this.windowMs = windowMs;
  }

  /** Admits and records the request, or returns the milliseconds until the next admission. Does not record a refusal. */
  admit(now: Instant): number | undefined {
    const free = (this.log[this.next] ?? -Infinity) + this.windowMs;
    if (now < free) return free - now;
    this.log[this.next] = now;
    this.next = (this.next + 1) % this.log.length;
    return undefined;
  }

  /** Whether the window is empty. */
  isIdle(now: Instant): boolean {
    return this.log.every((at) => at + this.windowMs <= now);
  }
}

/** A window that closes for a time after a request that exceeds the limit. */
class Gate {
  private readonly window: SlidingWindow;
  private readonly cooldownMs: number;
  private shutUntil = -Infinity;

  constructor(window: SlidingWindow, cooldownMs: number) {
    this.window = window;
    this.cooldownMs = cooldownMs;
  }

  /** Like `Window.admit`. A request during the closure does not extend it, because no document specifies that. */
  admit(now: Instant): number | undefined {
    if (now < this.shutUntil) return this.shutUntil - now;
    const waitMs = this.window.admit(now);
    if (waitMs === undefined || this.cooldownMs === 0) return waitMs;
    this.shutUntil = now + this.cooldownMs;
    return this.cooldownMs;
  }

  isIdle(now: Instant): boolean {
    return now >= this.shutUntil && this.window.isIdle(now);
  }
}

/** Maximum number of windows; idle ones are dropped first. */
const KEYS_MAX = 10_000;
const TEN_SECONDS_MS = 10 * SECOND_MS;
/** Source: public documentation. */
const ADDRESS_COOLDOWN_MS = 60 * SECOND_MS;

/**
 * The venue's request limits: for each route by account, and for all routes by network address.
 *
 * Source: the interface specification, "Limits"; orders, balances and the limit by address: its public documentation.
 */
export class Limits {
  private readonly options: VenueOptions['limits'];
  /** By route and account, and by address. */
  private readonly gates = new Map<LimitedRoute | 'address', Map<string, Gate>>();

  constructor(options: VenueOptions['limits']) {
    this.options = options;
  }

  /** Milliseconds to wait if the request exceeds the limit. */
  route(route: LimitedRoute, account: string, now: Instant): number | undefined {
    return this.admit(route, account, now);
  }

  /** Like `route`, for all requests of one network address. */
  address(address: string, now: Instant): number | undefined {
    return this.admit('address', address, now);
  }

  private admit(what: LimitedRoute | 'address', of: string, now: Instant): number | undefined {
    if (!this.options.enforced) return undefined;
    const gate = this.gates.get(what)?.get(of) ?? this.open(what, of, now);
    return gate.admit(now);
  }

  private open(what: LimitedRoute | 'address', of: string, now: Instant): Gate {
    let known = 0;
    for (const gates of this.gates.values()) known += gates.size;
    if (known >= KEYS_MAX) this.dropIdle(now);
    const { cooldowns, addressPerTenSeconds } = this.options;
    const gate =
      what === 'address'
        ? new Gate(
            new SlidingWindow(addressPerTenSeconds, TEN_SECONDS_MS),
            cooldowns ? ADDRESS_COOLDOWN_MS : 0,
          )
        : new Gate(this.windowOf(what), cooldowns ? ROUTE_COOL_DOWN_MS : 0);
    const gates = this.gates.get(what) ?? new Map<string, Gate>();
    this.gates.set(what, gates.set(of, gate));
    return gate;
  }

  private windowOf(route: LimitedRoute): SlidingWindow {
    const { options } = this;
    const perTenSeconds = (count: number) => () => new SlidingWindow(count, TEN_SECONDS_MS);
    const open = {
      quote: () => new SlidingWindow(options.quotesPerSecond, SECOND_MS),
      order: () => new SlidingWindow(options.ordersPerSecond, SECOND_MS),
      transactions: () => new SlidingWindow(1, options.transactionsWindowMs),
      balances: perTenSeconds(options.balancesPerTenSeconds),
      positions: perTenSeconds(options.positionsPerTenSeconds),
    } satisfies Record<LimitedRoute, () => SlidingWindow>;
    return open[route]();
  }

  private dropIdle(now: Instant): void {
    for (const gates of this.gates.values())
      for (const [of, gate] of gates) if (gate.isIdle(now)) gates.delete(of);
  }
}
