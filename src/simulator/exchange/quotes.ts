import { hash } from 'node:crypto';
import { MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Price } from '../../core/money.ts';
import type { Quote, QuoteRequest } from '../../core/venue.ts';
import { ByAccount } from './by-account.ts';
import { hash32, mix } from '../market/random.ts';

/** A quote as the venue stores it. */
export interface QuoteEntry {
  readonly account: string;
  readonly quote: Quote;
  readonly request: QuoteRequest;
  /** Mid price when it was created. */
  readonly mid: Price;
  /** Whether an order was accepted for it. */
  used: boolean;
}

/** How long expired quotes are kept, so that a late order gets the right error. */
const MEMORY_MS = 5 * MINUTE_MS;

/** Live quotes, and recently expired ones. */
export class QuoteBook {
  /** The newest quote. Nearly every order refers to it, so it is added to the map only when the next quote arrives. */
  private newest: QuoteEntry | undefined;
  private readonly entries = new Map<string, QuoteEntry>();
  private readonly byClientId = new ByAccount<QuoteEntry>();

  add(entry: QuoteEntry): void {
    const before = this.newest;
    this.newest = entry;
    const now = entry.quote.quotedAt;
    if (this.entries.size > 0) this.forget(now);
    if (before === undefined || isForgotten(before, now)) return;
    this.entries.set(before.quote.quoteId, before);
    const { clientId } = before.request;
    if (clientId !== undefined) this.byClientId.set(before.account, clientId, before);
  }

  /** The account's own quote with this id. */
  find(account: string, quoteId: string): QuoteEntry | undefined {
    const { newest } = this;
    const entry = newest?.quote.quoteId === quoteId ? newest : this.entries.get(quoteId);
    return entry?.account === account ? entry : undefined;
  }

  findByClientId(account: string, clientId: string): QuoteEntry | undefined {
    const { newest } = this;
    if (newest?.request.clientId === clientId && newest.account === account) return newest;
    return this.entries.size === 0 ? undefined : this.byClientId.get(account, clientId);
  }

  /** The map keeps the order of arrival, and all quotes have the same life, so the oldest expire first. */
  private forget(now: Instant): void {
    for (const [id, entry] of this.entries) {
      if (!isForgotten(entry, now)) return;
      this.entries.delete(id);
      const { account, request } = entry;
      if (request.clientId !== undefined && this.byClientId.get(account, request.clientId) === entry)
        this.byClientId.delete(account, request.clientId);
    }
  }
}

const isForgotten = ({ quote }: QuoteEntry, now: Instant): boolean => quote.expiresAt + MEMORY_MS <= now;

/** A UUID that is derived from `text` instead of being drawn, so that a run can be repeated exactly. */
export function uuidOf(text: string): string {
  const hex = hash('sha256', text);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Like `uuidOf`, for a long series: maps whole numbers to UUIDs in the series `name`. Two numbers within 2^32 of each
 * other never share one.
 */
export function uuidRow(name: string): (number: number) => string {
  const keys = [0, 1, 2, 3].map((word) => hash32(`${word}\n${name}`));
  const [first = 0, second = 0, third = 0, fourth = 0] = keys;
  return (number) => {
    const low = number | 0;
    const high = mix(Math.floor(number / 2 ** 32));
    putWord(0, mix(mix(first ^ low) ^ high));
    const middle = mix(mix(second ^ low) ^ high);
    putWord(9, middle, 4);
    putWord(14, (middle << 16) | 0, 4);
    const variant = mix(mix(third ^ low) ^ high);
    putWord(19, variant, 4);
    putWord(24, (variant << 16) | 0, 4);
    putWord(28, mix(mix(fourth ^ low) ^ high));
    uuid[14] = VERSION;
    uuid[19] = HEX.charCodeAt(8 | (variant >>> 30));
    return uuid.toString('latin1');
  };
}

const HEX = '0123456789abcdef';
const VERSION = HEX.charCodeAt(8);
/** Buffer for the next UUID, reused for all of them. */
const uuid = Buffer.from('00000000-0000-0000-0000-000000000000', 'latin1');

/** Writes the first `digits` hexadecimal digits of a 32-bit word. */
function putWord(at: number, word: number, digits = 8): void {
  for (let place = 0; place < digits; place++)
    uuid[at + place] = HEX.charCodeAt((word >>> (28 - 4 * place)) & 15);
}
