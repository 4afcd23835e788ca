import type { QuoteLife } from '../../core/cycle/cycle.ts';
import type { Quote } from '../../core/venue.ts';
import type { Permit } from '../rate-limit/rate-limiter.ts';

/** One copy of an order that may leave in this tick. Nothing but this module makes one, and `sendOrder` takes nothing else. */
export class Approval {
  readonly quote: Quote;
  readonly life: QuoteLife;
  readonly #permit: Permit;
  /** How often the order has left, this one counted. */
  readonly copies: number;

  constructor({ quote, life }: { readonly quote: Quote; readonly life: QuoteLife }, permit: Permit, copies: number) {
    this.quote = quote;
    this.life = life;
    this.#permit = permit;
    this.copies = copies;
  }

  /** The answer has come, or never will. */
  settle(): void {
    this.#permit.settle();
  }
}
export type Approved = Approval;
