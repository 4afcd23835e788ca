/**
 * `tranche/strategy`: what a module of kind `module` is written with. A kernel is pure: it gets a state, what has happened and
 * what can be seen, and returns the next state, its waits and its intents. All its intents pass through sizing, limits, pacing
 * and the gate like those of any other strategy.
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

/** A pair, with what the venue makes of its amounts. */
export interface Pair {
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  /** Decimals of amounts in base and in quote currency. */
  readonly basePrecision: number;
  readonly quotePrecision: number;
  /** Smallest order, in base or in quote currency, where one is known. */
  readonly minimum: Minimum;
}

/** What can be seen when a step begins. Nothing in it changes while the step runs. */
export interface View {
  /** Now, Unix ms. */
  readonly at: Instant;
  /** When this life of the strategy began. */
  readonly begunAt: Instant;
  /** Declared pairs only. @throws for another. */
  pair(pair: string): Pair;
  /** The newest reference price of a declared pair, quote per base; `undefined` when none is fresh. */
  price(pair: string): Price | undefined;
  /**
   * Bars that `bars` of the kernel has declared, oldest first: at most `count` of the newest that have ended, fewer if not that many were
   * seen yet. An interval without prices has no bar: `from` tells. @throws for others.
   */
  bars(pair: string, interval: string): readonly Bar[];
  /** Balance of a currency, own fills included; `undefined` while the account is not known. */
  balance(currency: string): Quantity | undefined;
  /** What of the declared total is neither traded nor asked for, in its currency. */
  readonly left: Quantity;
  /** Intents that have not ended. */
  readonly open: number;
}

/** What a kernel waits for. The first that comes true wakes it; ends of its own intents always do. */
export type Wait =
  /** An instant; one that has passed comes a second from now. */
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
  /** A balance that rises above an amount, not before an instant. */
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

/** What has happened. `at` is now. */
export type Wake =
  | { readonly on: 'at'; readonly at: Instant; readonly due: Instant }
  | { readonly on: 'price'; readonly at: Instant; readonly price: Price }
  | { readonly on: 'inflow'; readonly at: Instant; readonly balance: Quantity }
  | { readonly on: 'drift'; readonly at: Instant; readonly drift: string }
  | { readonly on: 'outcome'; readonly at: Instant; readonly outcome: Outcome };

/** How an intent ended. A trade that turns up later comes as another outcome of the same `tag`. */
export interface Outcome {
  /** As the intent named it. */
  readonly tag: string;
  readonly pair: string;
  readonly side: Side;
  readonly result: 'filled' | 'skipped' | 'expired';
  /** Why it did not fill, or not whole. */
  readonly reason?: Reason | undefined;
  /** Base currency. */
  readonly filled: Quantity;
  /** Quote currency, before fees. */
  readonly filledAmount: Money;
}

/** What a kernel wants to trade now. In the unit of the declared total: `quantity` for `total_quantity`, else `notional`. */
export interface Intent {
  readonly pair: string;
  readonly side: Side;
  /** Base currency, above zero. */
  readonly quantity?: Quantity | string | undefined;
  /** Quote currency, above zero. */
  readonly notional?: Money | string | undefined;
  /** Worst price, quote per base. */
  readonly limit?: Price | string | undefined;
  /** How long it is tried, ISO 8601, at most a day; `PT1M` when left out. */
  readonly within?: string | undefined;
  /** Comes back with its outcome: 1 to 40 of a-z, 0-9 and -; its number when left out. */
  readonly tag?: string | undefined;
}

/** What a step leaves behind. */
export interface Step<State> {
  /** Plain JSON, at most 32 KiB: it is stored in the journal, and restored from it. */
  readonly state: State;
  readonly waits?: readonly Wait[] | undefined;
  readonly intents?: readonly Intent[] | undefined;
  /** Why it did what it did, for people: stands in the journal. */
  readonly note?: string | undefined;
  /** No more requests will follow. It ends once its open intents have. */
  readonly finished?: boolean | undefined;
}

/** Reads `params` of the YAML: a schema of zod, or a function that gives them or throws in words. */
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

/** A strategy of one's own. */
export interface Kernel<Params, State> {
  readonly params: Reader<Params>;
  /** Bars that its steps read, at most 1000 in all. Default: none. */
  bars?(params: Params): readonly BarWish[];
  /** The first step of a life. */
  start(params: Params, view: View): Step<State>;
  /** What follows when something it waits for has happened, or an intent has ended. */
  step(state: State, wake: Wake, params: Params, view: View): Step<State>;
}

/** Ties the types of parameters and state together. Export what it gives as `kernel`, or as the default. */
export const defineKernel = <Params, State>(kernel: Kernel<Params, State>): Kernel<Params, State> => kernel;

/** `duration` (ISO 8601, such as `PT10M`) after `at`, Unix ms. @throws RangeError when it is none. */
export const later = (at: number, duration: string): Instant => after(instant(at), parseDuration(duration));
/** End of the interval that contains `at`: when its bar has ended, Unix ms. @throws RangeError for an interval that bars cannot have. */
export const nextBar = (at: number, interval: string): Instant => {
  const ms = barMs(interval);
  return instant(lastEnd(at, ms) + ms);
};
/** A time with its zone, such as `2026-12-01T09:00:00[Europe/London]`. @throws RangeError when it is none. */
export const timeOf = (written: string): Instant => parseTime(written);
/** Unix ms as ISO 8601 in UTC. */
export const iso = (at: number): string => isoOf(instant(at));
