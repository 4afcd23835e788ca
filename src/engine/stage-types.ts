import type { Next } from '../core/cycle/cycle.ts';
import type { Instrument } from '../core/instrument.ts';
import type { ReferencePrice } from '../core/reference-price.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import type { Reason } from '../core/reasons.ts';
import type { Size } from '../core/venue.ts';
import type { OpenSlice } from './state/engine-state.ts';
import type { Permit } from './rate-limit/rate-limiter.ts';

/** An item gains facts on its way through the pipeline. A stage that refuses it emits a `Stopped`. */
export interface Sized {
  readonly stage: 'sized';
  readonly slice: OpenSlice;
  readonly instrument: Instrument;
  readonly reference: ReferencePrice;
  readonly size: Size;
  /** Base quantity, at the reference price when the size is an amount. */
  readonly quantity: Quantity;
  /** Worst price at which the order may be sent. */
  readonly worst: Price;
  /** Worst case, in the currency of the limits; `undefined` if no rate converts it. */
  readonly notional: Money | undefined;
  readonly cuts: readonly Reason[];
  /** The figures of each cut. */
  readonly notes: readonly string[];
}

/** The item may request a quote now. */
export interface Paced {
  readonly stage: 'paced';
  readonly item: Sized;
  readonly permit: Permit;
}

/** No request was sent to the venue. */
export interface Stopped {
  readonly stage: 'stopped';
  readonly slice: OpenSlice;
  readonly reason: Reason;
  readonly detail: string;
  readonly next: Next;
}

export const stopped = (slice: OpenSlice, reason: Reason, detail: string, next: Next): Stopped => ({
  stage: 'stopped',
  slice,
  reason,
  detail,
  next,
});
