import type { Minimum, Precisions } from '../core/instrument.ts';
import type { ClosedHours } from '../core/hours.ts';
import { add, cost, counted, holding, least, NO_MONEY, quantityUp, worsen } from '../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../core/money.ts';
import { converted, rateOf } from '../core/rates.ts';
import type { StatedRates } from '../core/rates.ts';
import type { Instant } from '../core/time.ts';
import type { Side, Size } from '../core/venue.ts';

/** A desk's plan as plain data, and the facts for its checks. All functions here are pure. */

/** One slice planned for a known time. */
export interface PlannedSlice {
  readonly strategy: string;
  /** Name of the parent within its strategy, if the strategy has several. */
  readonly leg?: string | undefined;
  readonly slice: number;
  readonly at: Instant;
  /** No attempt starts from this time on. */
  readonly until: Instant;
  readonly pair: string;
  readonly side: Side;
  readonly size: Size;
  /** Worst price that the strategy accepts. */
  readonly limit?: Price | undefined;
  /** Why nothing trades at this time; omitted if it trades. */
  readonly closed?: string | undefined;
  /** The slice is sent in pieces within the limits of one order. */
  readonly isSplit?: boolean | undefined;
  /** The slice that the strategy would decide now. */
  readonly isEstimate?: boolean | undefined;
}

/**
 * The trades that a strategy would decide based on the current account and prices, or why it would trade nothing, or
 * what the estimate lacks.
 */
export type Estimate =
  | { readonly slices: readonly PlannedSlice[]; readonly why?: string | undefined }
  | { readonly missing: string };

/** The slices of an estimate; empty if there is no estimate. */
export const estimatedOf = ({ estimate }: PlannedStrategy): readonly PlannedSlice[] =>
  estimate === undefined || 'missing' in estimate ? [] : estimate.slices;

/** A time at which a strategy will decide on a size. The size is unknown until then. */
export interface PlannedTime {
  readonly at: Instant;
  readonly closed?: string | undefined;
}

export interface PlannedStrategy {
  readonly id: string;
  readonly kind: string;
  /** The zone in which its times are shown. */
  readonly zone: string;
  readonly pairs: readonly string[];
  /** Notes for people. */
  readonly notes: readonly string[];
  readonly slices: readonly PlannedSlice[];
  /** Times of its calendar, including closed ones; empty without a calendar. */
  readonly times: readonly PlannedTime[];
  /** Whether there are more times than were checked. */
  readonly isCut: boolean;
  /**
   * State in the journal. `running`: planned from its start. `edited`: an earlier document with this id is running, and
   * the new one is planned as if it started now. `finished`: this document never runs again. Omitted: not started.
   */
  readonly standing?: 'running' | 'edited' | 'finished' | undefined;
  /** Number of slots before and after the planned days. */
  readonly passed: number;
  readonly beyond: number;
  /** The most that it may trade at unknown times. */
  readonly ceiling?: Pick<PlannedSlice, 'pair' | 'side' | 'size' | 'limit'> | undefined;
  readonly estimate?: Estimate | undefined;
  /** Expected cost by the kind's own model, in basis points. */
  readonly forecast?:
    | {
        readonly costBps: number;
        readonly riskBps: number;
        /** The same total in equal slices, for comparison. */
        readonly even: { readonly costBps: number; readonly riskBps: number };
      }
    | undefined;
}

/** A price, and its source in words. */
export interface KnownPrice {
  readonly mid: Price;
  readonly from: string;
  /** Half of the difference between the prices of a buy and a sell, in basis points; omitted if the venue was not queried. */
  readonly halfSpreadBps?: number | undefined;
}

export interface PlanFacts {
  readonly now: Instant;
  readonly until: Instant;
  currencies(pair: string): { readonly base: string; readonly quote: string } | undefined;
  minimum(pair: string): Minimum;
  /** Decimals in which a pair is sized, as far as known. */
  precisions(pair: string): Precisions;
  price(pair: string): KnownPrice | undefined;
  /** Rates of currencies stated in the config. */
  readonly rates?: StatedRates | undefined;
  /** Current balances, or why they are unknown. */
  readonly funds:
    | { readonly balances: ReadonlyMap<string, Quantity>; readonly from: string }
    | { readonly missing: string };
  readonly limits: {
    readonly currency: string;
    readonly orderNotionalMax: Money;
    readonly dayNotionalMax: Money;
    readonly pairDayNotionalMax: ReadonlyMap<string, Money>;
    readonly orderQuantityMax: ReadonlyMap<string, Quantity>;
    readonly collarBps: Ratio;
    readonly minuteExecutionsMax: number;
    readonly parentExecutionsMax: number | undefined;
    readonly positionMin: ReadonlyMap<string, Quantity>;
    /** Reserve of a currency, which orders are cut to keep. */
    readonly keep: ReadonlyMap<string, Quantity>;
    readonly positionMax: ReadonlyMap<string, Quantity>;
    readonly shortfallBpsMax: Ratio | undefined;
    readonly dayCostMax: Money | undefined;
    readonly closedHours: readonly ClosedHours[];
  };
  /** Traded since midnight UTC; omitted if there is no journal. */
  readonly traded?:
    | {
        /** Such as 2026-12-01. */
        readonly day: string;
        readonly total: Money;
        ofPair(pair: string): Money;
      }
    | undefined;
  readonly pacing: {
    /** Quote requests and orders that may be sent in any second. */
    readonly quotesPerSecond: number;
    readonly ordersPerSecond: number;
    readonly waitMaxMs: number;
    /** Added to every rate limit window. */
    readonly guardMs: number;
  };
  readonly pts: {
    readonly use: 'never' | 'when_enabled';
    readonly creditMax: { readonly amount: Money; readonly currency: string } | undefined;
  };
}

export const checkNames = [
  'window',
  'minimum',
  'limits',
  'day',
  'funds',
  'settlement',
  'pace',
  'hours',
  'clock_changes',
  'cost',
  'approval',
] as const;
export type CheckName = (typeof checkNames)[number];

/** The result of one check. Only `refused` makes a plan infeasible; `not_done` states what is missing. */
export interface Check {
  readonly check: CheckName;
  readonly verdict: 'ok' | 'note' | 'refused' | 'not_done';
  /** Omitted: it concerns all strategies together. */
  readonly strategy?: string | undefined;
  readonly says: string;
  /** The smallest change that would make the plan feasible. */
  readonly fix?: string | undefined;
}

/** The slices to trade, oldest first. */
export const openSlices = (strategies: readonly PlannedStrategy[]): readonly PlannedSlice[] =>
  strategies
    .flatMap(({ slices }) => slices.filter(({ closed }) => closed === undefined))
    .toSorted((a, b) => a.at - b.at);

/** The worst case of a slice, as the gate computes it; `undefined` if there is no price. */
export interface Worth {
  readonly quantity: Quantity | undefined;
  /** In quote currency. */
  readonly amount: Money | undefined;
  /** In the currency of the limits. */
  readonly notional: Money | undefined;
}

export function worthOf(
  slice: Pick<PlannedSlice, 'pair' | 'side' | 'size' | 'limit'>,
  facts: PlanFacts,
): Worth {
  const worst = worstOf(slice, facts);
  const { size } = slice;
  const amount =
    size.by === 'amount' ? size.amount : worst === undefined ? undefined : cost(worst, size.quantity);
  const each = facts.price(slice.pair)?.mid ?? worst;
  const quantity =
    size.by === 'quantity'
      ? size.quantity
      : each === undefined
        ? undefined
        : quantityUp(size.amount, each, PRECISION);
  const quote = facts.currencies(slice.pair)?.quote;
  const notional = amount && quote !== undefined ? inLimits(quote, amount, facts) : undefined;
  return { quantity, amount, notional };
}

/** Decimal places of a quantity that is computed only for comparison. */
const PRECISION = 12;

/** The worst price of a buy according to limit and collar. A sell counts at the mid price, as in the gate. */
function worstOf(
  { pair, side, limit }: Pick<PlannedSlice, 'pair' | 'side' | 'limit'>,
  facts: PlanFacts,
): Price | undefined {
  const mid = facts.price(pair)?.mid;
  if (mid === undefined) return limit;
  if (side === 'sell') return mid;
  const collar = worsen('buy', mid, facts.limits.collarBps);
  return limit === undefined ? collar : least(collar, limit);
}

const NOTHING_STATED: StatedRates = new Map();
/** Currencies through which a conversion may go. */
const BETWEEN = ['usd', 'btc'];

/** An amount, converted into the currency of the limits; `undefined` if no price converts it. */
export function inLimits(currency: string, amount: Money, facts: PlanFacts): Money | undefined {
  const { currency: limits } = facts.limits;
  if (currency === limits) return amount;
  const midOf = (pair: string): Price | undefined => facts.price(pair)?.mid;
  const rate = rateOf(currency, limits, { midOf, stated: facts.rates ?? NOTHING_STATED, between: BETWEEN });
  return rate && converted(rate, holding(amount));
}

/** The value of one unit of a currency, USD; `undefined` without a price. */
export const usdOf = (currency: string, facts: PlanFacts): Price | undefined =>
  rateOf(currency, 'usd', {
    midOf: (pair) => facts.price(pair)?.mid,
    stated: facts.rates ?? NOTHING_STATED,
    between: BETWEEN,
  })?.each;

export const sumOf = (amounts: readonly Money[]): Money =>
  amounts.reduce((sum, each) => add(sum, each), NO_MONEY);

/** Converts a holding of one currency in the same way. */
export const asMoney = (held: Quantity): Money => counted(held);

/** A figure for people: two decimals for large amounts, more for small ones, no exponents. */
export function figure(amount: {
  abs(): { gte(than: number): boolean };
  toDecimalPlaces(n: number): { toFixed(): string };
}): string {
  return amount.toDecimalPlaces(amount.abs().gte(100) ? 2 : 8).toFixed();
}
