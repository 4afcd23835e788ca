import type { Money, Price, Quantity, Ratio } from './money.ts';
import type { Reason } from './reasons.ts';
import type { Tactics } from './risk/tactics.ts';
import type { Instant } from './time.ts';
import type { RiskMode, Side, Size } from './venue.ts';

/** A condition that a strategy waits for. Plain data, so that the journal can store it. Amounts are text. */
export type Wait =
  | { readonly on: 'at'; readonly at: Instant }
  | {
      readonly on: 'drift';
      /** Weight of each currency, as text; they sum to 1. */
      readonly targets: Readonly<Record<string, string>>;
      readonly cash: string;
      /** Currencies that trade against a currency other than cash; see `Basis`. */
      readonly via?: Readonly<Record<string, string>> | undefined;
      /** Cash that does not belong to the portfolio, as text. */
      readonly aside?: string | undefined;
      readonly driftType: DriftType;
      /** A fraction, as text: "0.02". */
      readonly threshold: string;
      /** Not before this instant. */
      readonly notBefore: Instant;
    }
  | {
      readonly on: 'price';
      readonly pair: string;
      /** On which side of the level the reference price must be. */
      readonly is: Beyond;
      /** Quote per base, as text. */
      readonly level: string;
      /** Not before this instant. */
      readonly notBefore: Instant;
    }
  | {
      readonly on: 'inflow';
      readonly currency: string;
      /** The balance must rise above this amount of the currency, as text. */
      readonly above: string;
      /** Not before this instant. */
      readonly notBefore: Instant;
    }
  | {
      /** A negative balance, once it is time to close it. */
      readonly on: 'debt';
      /** Pairs that may close it; debts in other currencies are ignored. */
      readonly pairs: readonly string[];
      /** How long before the grace period ends, ms. */
      readonly beforeGraceMs?: number | undefined;
      /** Largest carry, in basis points, as text; the debt is closed before the carry exceeds it. */
      readonly carryBpsMax?: string | undefined;
      /** How long before the carry exceeds it, ms. */
      readonly leadMs: number;
      /** Modes of a pair in which the debt is closed immediately. */
      readonly modes: readonly RiskMode[];
      /** If the debt is closed in pieces: the largest piece, in quote currency, as text, and the time that each piece takes, ms. */
      readonly pieces?: { readonly largest: string; readonly intervalMs: number } | undefined;
      /** Not before this instant. */
      readonly notBefore: Instant;
    }
  | {
      /**
       * A limit that refused a trade may allow it now, because a balance changed, or because an operator or a new
       * process may have lifted the limit.
       */
      readonly on: 'lifted';
      /** Balances at the refusal, as text, by currency. */
      readonly held: Readonly<Record<string, string>>;
      /** When it was refused. */
      readonly since: Instant;
      /** Not before this instant. */
      readonly notBefore: Instant;
    }
  | { readonly on: 'outcome'; readonly leg: string; readonly slice: number };

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
