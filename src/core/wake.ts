import type { z } from 'zod';
import type { Money, Price, Quantity, Ratio } from './money.ts';
import type { wait } from './record-fields.ts';
import type { Reason } from './reasons.ts';
import type { Tactics } from './risk/tactics.ts';
import type { Instant } from './time.ts';
import type { Side, Size } from './venue.ts';

/** A condition that a strategy waits for. Plain data, so that the journal can store it. Amounts are text. */
export type Wait = Readonly<z.output<ReturnType<typeof wait>>>;

/** The level itself satisfies the condition. */
export type Beyond = 'at_or_below' | 'at_or_above';

export type DriftType = 'absolute' | 'relative';

/** The wait that was met. `at` is the current time. */
export type Wake =
  | { readonly on: 'start'; readonly at: Instant }
  | { readonly on: 'at'; readonly at: Instant; readonly due: Instant }
  | { readonly on: 'drift'; readonly at: Instant; readonly drift: Ratio }
  | { readonly on: 'price'; readonly at: Instant; readonly price: Price }
  | { readonly on: 'inflow'; readonly at: Instant; readonly balance: Quantity }
  | { readonly on: 'debt'; readonly at: Instant }
  | { readonly on: 'lifted'; readonly at: Instant }
  /** A person requests an occurrence now. */
  | { readonly on: 'run'; readonly at: Instant; readonly by: string; readonly why: string }
  | { readonly on: 'outcome'; readonly at: Instant; readonly outcome: SliceOutcome };

/** How a slice ended. */
export interface SliceOutcome {
  readonly leg: string;
  readonly slice: number;
  readonly result: 'filled' | 'skipped' | 'expired';
  /** Why the slice did not fill, or did not fill completely. */
  readonly reason?: Reason | undefined;
  /** Base currency, summed over all attempts of the slice. */
  readonly filled: Quantity;
  /** Quote currency, before fees. */
  readonly filledAmount: Money;
}

/** What a strategy wants to trade now: one slice, before sizing and controls. */
export interface Intent {
  /** Name of the parent within its strategy: one instruction, such as one leg of one rebalancing. */
  readonly leg: string;
  readonly slice: number;
  readonly pair: string;
  readonly side: Side;
  readonly size: Size;
  /** Worst price, quote per base. */
  readonly limit?: Price | undefined;
  /** Tactics for its quotes. */
  readonly tactics?: Tactics | undefined;
  /**
   * Nothing starts for the slice from this instant on. If the slice had an order, no later slice of its parent sends an order before this
   * instant.
   */
  readonly deadline: Instant;
}
