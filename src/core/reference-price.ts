import type { Price } from './money.ts';
import type { Instant } from './time.ts';
import type { Beyond } from './wake.ts';

/** A mid price that is independent of the quote it is compared with. */
export interface ReferencePrice {
  readonly pair: string;
  /** Quote per base. */
  readonly mid: Price;
  readonly at: Instant;
  /** `ticker`: a feed of the venue. `probe`: middle of a two-sided pair of small quotes. `tape`: market history. */
  readonly source: 'ticker' | 'probe' | 'tape';
}

export const isFresh = (reference: ReferencePrice, now: Instant, ageMaxMs: number): boolean =>
  now - reference.at <= ageMaxMs;

/** Whether a price is on this side of a level; the level itself counts. */
export const isBeyond = (mid: Price, is: Beyond, level: Price): boolean =>
  is === 'at_or_below' ? mid.lte(level) : mid.gte(level);
