/**
 * `tranche/strategy`: the interface for modules of kind `module`. A kernel is pure: it takes a state, a wake and a view, and
 * returns the next state, its waits and its intents. Its intents pass through sizing, limits, pacing and the gate like those of any
 * other strategy.
 */
import { barMs, lastEnd } from '../core/bar.ts';
import type { Bar, BarWish } from '../core/bar.ts';
import type { Minimum } from '../core/instrument.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import type { Reason } from '../core/reasons.ts';
import { after, instant, isoOf, parseDuration, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Beyond, DriftType } from '../core/wake.ts';

export { z } from 'zod';
export {
  add,
  cost,
  fraction,
  greatest,
  least,
  money,
  price,
  quantity,
  quantityDown,
  ratio,
  roundDown,
  roundUp,
  scale,
  share,
  subtract,
  text,
  worsen,
} from './sdk-amounts.ts';
export type { Money, Price, Quantity, Ratio } from '../core/money.ts';
export type { Bar, BarWish } from '../core/bar.ts';
export type { Instant } from '../core/time.ts';

export type Side = 'buy' | 'sell';

/** A pair, with the precision and minimum of its amounts. */
export interface Pair {
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  /** Decimals of amounts in base and in quote currency. */
  readonly basePrecision: number;
  readonly quotePrecision: number;
  /** Smallest order, in base or in quote currency, if known. */
  readonly minimum: Minimum;
}

/** What a step can read. Nothing in it changes while the step runs. */
export interface View {
  /** Current time, Unix ms. */
  readonly at: Instant;
  /** When this life of the strategy began. */
  readonly begunAt: Instant;
  /** Returns a declared pair. @throws for any other pair. */
  pair(pair: string): Pair;
  /** Returns the newest reference price of a declared pair, quote per base; `undefined` when none is fresh. */
  price(pair: string): Price | undefined;
  /**
   * Returns bars that `bars` of the kernel declares, oldest first: the newest `count` that have ended, or fewer if fewer exist. An
   * interval without prices has no bar, so check `from`. @throws for bars that are not declared.
   */
  bars(pair: string, interval: string): readonly Bar[];
  /** Returns the balance of a currency, including own fills; `undefined` while the account is unknown. */
  balance(currency: string): Quantity | undefined;
  /** Part of the declared total that is neither traded nor in open intents, in its currency. */
  readonly left: Quantity;
  /** Number of intents that have not ended. */
  readonly open: number;
}

/** A condition that a kernel waits for. The first one that is met wakes the kernel; the end of one of its intents always does. */
export type Wait =
  /** An instant. A past instant is met one second from now. */
  | { readonly on: 'at'; readonly at: number }
  /** A reference price at or beyond a level, not before an instant. */
  | {
      readonly on: 'price';
      readonly pair: string;
      readonly is: Beyond;
      /** Quote per base. */
      readonly level: Price | string;
      readonly notBefore?: number | undefined;
    }
  /** A balance above an amount, not before an instant. */
  | {
      readonly on: 'inflow';
      readonly currency: string;
      readonly above: Quantity | string;
      readonly notBefore?: number | undefined;
    }
  /** Holdings that leave a band around their target weights, not before an instant. */
  | {
      readonly on: 'drift';
      readonly targets: Readonly<Record<string, string>>;
      readonly cash: string;
      readonly driftType: DriftType;
      readonly threshold: string;
      readonly notBefore: number;
    };

/** The event that woke the kernel. `at` is the current time. */
export type Wake =
  | { readonly on: 'at'; readonly at: Instant; readonly due: Instant }
  | { readonly on: 'price'; readonly at: Instant; readonly price: Price }
  | { readonly on: 'inflow'; readonly at: Instant; readonly balance: Quantity }
  | { readonly on: 'drift'; readonly at: Instant; readonly drift: string }
  | { readonly on: 'outcome'; readonly at: Instant; readonly outcome: Outcome };

/** How an intent ended. A trade that becomes known later arrives as another outcome with the same `tag`. */
export interface Outcome {
  /** Tag of the intent. */
  readonly tag: string;
  readonly pair: string;
  readonly side: Side;
  readonly result: 'filled' | 'skipped' | 'expired';
  /** Why the intent did not fill completely. */
  readonly reason?: Reason | undefined;
  /** Base currency. */
  readonly filled: Quantity;
  /** Quote currency, before fees. */
  readonly filledAmount: Money;
}

/** A trade that a kernel wants now, in the unit of the declared total: `quantity` for `total_quantity`, else `notional`. */
export interface Intent {
  readonly pair: string;
  readonly side: Side;
  /** Base currency, above zero. */
  readonly quantity?: Quantity | string | undefined;
  /** Quote currency, above zero. */
  readonly notional?: Money | string | undefined;
  /** Worst price, quote per base. */
  readonly limit?: Price | string | undefined;
  /** How long the desk tries to trade the intent, ISO 8601, from a second to a day. Default: `PT1M`. */
  readonly within?: string | undefined;
  /** Name that the outcome repeats: 1 to 40 of a-z, 0-9 and -. Default: the number of the intent. */
  readonly tag?: string | undefined;
}

/** The result of a step. */
export interface Step<State> {
  /** Plain JSON, at most 32 Ki characters: the journal stores and restores it. */
  readonly state: State;
  readonly waits?: readonly Wait[] | undefined;
  readonly intents?: readonly Intent[] | undefined;
  /** Explanation for people, stored in the journal. */
  readonly note?: string | undefined;
  /** The kernel wants nothing more. The strategy ends once its open intents have ended. */
  readonly finished?: boolean | undefined;
}

/** Reads `params` of the YAML: a schema of zod, or a function that returns them or throws an error with a message for the operator. */
export type Reader<Params> =
  { safeParse(raw: unknown): ReaderResult<Params> } | ((raw: Readonly<Record<string, unknown>>) => Params);
export type ReaderResult<Params> =
  | { readonly success: true; readonly data: Params }
  | {
      readonly success: false;
      readonly error: {
        readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
      };
    };

/** The user's own strategy. */
export interface Kernel<Params, State> {
  readonly params: Reader<Params>;
  /** Returns the bars that its steps read, at most 1000 in all. Default: none. */
  bars?(params: Params): readonly BarWish[];
  /** Takes the first step of a life. */
  start(params: Params, view: View): Step<State>;
  /** Takes the next step, after a wait came true or an intent ended. */
  step(state: State, wake: Wake, params: Params, view: View): Step<State>;
}

/** Ties the types of parameters and state together. Export the result as `kernel`, or as the default export. */
export const defineKernel = <Params, State>(kernel: Kernel<Params, State>): Kernel<Params, State> => kernel;

/** Returns the instant that is `duration` (ISO 8601, such as `PT10M`) after `at`, Unix ms. @throws RangeError for an invalid duration. */
export const later = (at: number, duration: string): Instant => after(instant(at), parseDuration(duration));
/** Returns the end of the interval that contains `at`, Unix ms. @throws RangeError for an interval that bars cannot have. */
export const nextBar = (at: number, interval: string): Instant => {
  const ms = barMs(interval);
  return instant(lastEnd(at, ms) + ms);
};
/** Parses a time with its zone, such as `2026-12-01T09:00:00[Europe/London]`. @throws RangeError for an invalid time. */
export const timeOf = (written: string): Instant => parseTime(written);
/** Formats Unix ms as ISO 8601 in UTC. */
export const iso = (at: number): string => isoOf(instant(at));
