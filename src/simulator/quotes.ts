import { hash } from 'node:crypto';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Price } from '../core/money.ts';
import type { Quote, QuoteRequest } from '../core/venue.ts';

/** A quote as the venue remembers it. */
export interface QuoteEntry {
  readonly account: string;
  readonly quote: Quote;
  readonly request: QuoteRequest;
  /** Middle price when it was made. */
  readonly mid: Price;
  /** An order was accepted against it. */
  used: boolean;
}

/** Expired quotes are remembered this long, so that a late order is told why. */
const MEMORY_MS = 5 * MINUTE_MS;

/** The quotes that live, and for a while those that did. */
export class QuoteBook {
  private readonly entries = new Map<string, QuoteEntry>();
  private readonly byClientId = new Map<string, QuoteEntry>();

  add(entry: QuoteEntry): void {
    this.forget(entry.quote.quotedAt);
    this.entries.set(entry.quote.quoteId, entry);
    const { clientId } = entry.request;
    if (clientId !== undefined) this.byClientId.set(keyOf(entry.account, clientId), entry);
  }

  /** The account's own quote with this id. */
  find(account: string, quoteId: string): QuoteEntry | undefined {
    const entry = this.entries.get(quoteId);
    return entry?.account === account ? entry : undefined;
  }

  findByClientId(account: string, clientId: string): QuoteEntry | undefined {
    return this.byClientId.get(keyOf(account, clientId));
  }

  /** The map keeps the order of arrival, and all quotes live equally long: the oldest come first. */
  private forget(now: Instant): void {
    for (const [id, { account, quote, request }] of this.entries) {
      if (quote.expiresAt + MEMORY_MS > now) return;
      this.entries.delete(id);
      if (request.clientId === undefined) continue;
      const key = keyOf(account, request.clientId);
      if (this.byClientId.get(key)?.quote.quoteId === id) this.byClientId.delete(key);
    }
  }
}

/** Client order ids of the last 24 hours: none may come twice. */
export class UsedIds {
  private readonly seen = new Map<string, Instant>();

  has(account: string, clientId: string, now: Instant): boolean {
    const at = this.seen.get(keyOf(account, clientId));
    return at !== undefined && at + DAY_MS > now;
  }

  add(account: string, clientId: string, now: Instant): void {
    for (const [key, at] of this.seen) {
      if (at + DAY_MS > now) break;
      this.seen.delete(key);
    }
    const key = keyOf(account, clientId);
    this.seen.delete(key); // so that it moves to the end: the map stays in order of time
    this.seen.set(key, now);
  }
}

export const keyOf = (account: string, id: string): string => `${account}\n${id}`;

/** The UUID that belongs to a place in the life of a venue: never drawn, so a run can be repeated exactly. */
export function uuidOf(text: string): string {
  const hex = hash('sha256', text);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
