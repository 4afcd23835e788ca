import type { Monotonic } from '../../core/time.ts';

/** Failures in a row to get a quote of a pair. */
export interface QuoteFailures {
  readonly count: number;
  readonly since: Monotonic;
  readonly last: Monotonic;
}

/** Quotes of a pair, in a row, whose life was too short for an order. */
export interface ShortQuotes {
  readonly count: number;
  /** Life of the newest of them, milliseconds. */
  readonly lifeMs: number;
  /** Life that an order would have needed: from asking for the quote to the gate, and `order_margin`. */
  readonly needsMs: number;
}
