import type { Monotonic } from '../../core/time.ts';

/** Consecutive failures to get a quote, by pair. */
export interface QuoteFailures {
  readonly count: number;
  readonly since: Monotonic;
  readonly last: Monotonic;
}

/** Consecutive quotes of a pair whose life was too short for an order. */
export interface ShortQuotes {
  readonly count: number;
  /** Life of the newest of these quotes, milliseconds. */
  readonly lifeMs: number;
  /** Life that an order would have needed: from the quote request to the gate, plus `order_margin`. */
  readonly needsMs: number;
}
