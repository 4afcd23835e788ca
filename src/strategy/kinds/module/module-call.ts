import type { Bar } from '../../../core/bar.ts';
import type { Instant } from '../../../core/time.ts';
import type { Outcome } from '../../sdk.ts';

/**
 * The calls from the desk to a module's code. They are plain JSON in both directions, with amounts as text, so that the
 * code may run in a process of its own.
 */
export type ModuleCall =
  /** Returns the problems of `params`, as `Problem[]`. */
  | { readonly do: 'check'; readonly params: unknown }
  /** Returns the bars that the kernel reads, as `BarWish[]`. */
  | { readonly do: 'bars'; readonly params: unknown }
  /** These two calls return a step, as the module returned it. */
  | { readonly do: 'start'; readonly params: unknown; readonly view: ViewData }
  | {
      readonly do: 'step';
      readonly params: unknown;
      readonly view: ViewData;
      readonly state: unknown;
      readonly wake: WakeData;
    };

/** Runs the code of a module, in any process. @throws Error with a message for its author; no result of the call then counts. */
export type ModuleCode = (call: ModuleCall) => unknown;

export interface ViewData {
  readonly at: Instant;
  readonly begunAt: Instant;
  /** The declared pairs. */
  readonly pairs: Readonly<Record<string, PairData>>;
  /** Bars that the kernel declared, oldest first, by `PAIR INTERVAL`. */
  readonly bars: Readonly<Record<string, readonly BarData[]>>;
  /** Balances by currency; a missing currency has a balance of zero. Omitted while the account is unknown. */
  readonly balances?: Readonly<Record<string, string>> | undefined;
  /** Remainder of the declared total, in the total's currency. */
  readonly left: string;
  /** Number of intents that have not ended. */
  readonly open: number;
}

export interface PairData {
  readonly base: string;
  readonly quote: string;
  readonly basePrecision: number;
  readonly quotePrecision: number;
  readonly minimum: Readonly<Partial<Record<'quantity' | 'notional' | 'lot', string>>>;
  /** Newest reference price, quote per base; omitted if no price is fresh. */
  readonly price?: string | undefined;
}

export type BarData = Readonly<Record<Exclude<keyof Bar, 'from'>, string>> & Pick<Bar, 'from'>;

export type WakeData =
  | { readonly on: 'at'; readonly at: Instant; readonly due: Instant }
  | { readonly on: 'price'; readonly at: Instant; readonly price: string }
  | { readonly on: 'inflow'; readonly at: Instant; readonly balance: string }
  | { readonly on: 'drift'; readonly at: Instant; readonly drift: string }
  | { readonly on: 'outcome'; readonly at: Instant; readonly outcome: OutcomeData };

type OutcomeData = Omit<Outcome, 'filled' | 'filledAmount'> &
  Readonly<Record<'filled' | 'filledAmount', string>>;
