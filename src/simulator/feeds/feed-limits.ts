import { MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { SlidingWindow } from '../exchange/venue-limits.ts';

export interface FeedLimitsOptions {
  readonly enforced: boolean;
  readonly connectionsPerAddress: number;
  readonly requestsPerMinute: number;
  /** How long an address is blocked after it exceeds the limit. */
  readonly blockMs: number;
}

interface Address {
  connections: number;
  readonly requests: SlidingWindow;
  blockedUntil: number;
}

/** Maximum number of addresses in memory; idle ones are dropped first. */
const ADDRESSES_MAX = 10_000;

/**
 * WebSocket limits by network address, over all connections of the address: 10 connections, and 40 requests a minute,
 * beyond which there is an error and a block of 2 minutes. Source: public documentation.
 */
export class FeedLimits {
  private readonly options: FeedLimitsOptions;
  private readonly addresses = new Map<string, Address>();

  constructor(options: FeedLimitsOptions) {
    this.options = options;
  }

  /** Admits and counts one more connection of the address; false if it has too many. */
  connect(name: string, now: Instant): boolean {
    const address = this.of(name, now);
    if (this.options.enforced && address.connections >= this.options.connectionsPerAddress) return false;
    address.connections += 1;
    return true;
  }

  disconnect(name: string): void {
    const address = this.addresses.get(name);
    if (address !== undefined) address.connections -= 1;
  }

  /** Admits a request of the address; false if it exceeds the limit. Rejected requests do not count. */
  admit(name: string, now: Instant): boolean {
    if (!this.options.enforced) return true;
    const address = this.of(name, now);
    if (now < address.blockedUntil) return false;
    if (address.requests.admit(now) === undefined) return true;
    address.blockedUntil = now + this.options.blockMs;
    return false;
  }

  private of(name: string, now: Instant): Address {
    const known = this.addresses.get(name);
    if (known !== undefined) return known;
    if (this.addresses.size >= ADDRESSES_MAX) this.dropIdle(now);
    const requests = new SlidingWindow(this.options.requestsPerMinute, MINUTE_MS);
    const address: Address = { connections: 0, requests, blockedUntil: -Infinity };
    this.addresses.set(name, address);
    return address;
  }

  private dropIdle(now: Instant): void {
    for (const [name, { connections, requests, blockedUntil }] of this.addresses)
      if (connections === 0 && now >= blockedUntil && requests.isIdle(now)) this.addresses.delete(name);
  }
}
