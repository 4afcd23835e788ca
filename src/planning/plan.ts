import type { Minimum, Precisions } from '../core/instrument.ts';
import type { ClosedHours } from '../core/hours.ts';
import { add, cost, counted, holding, least, NO_MONEY, quantityUp, worsen } from '../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../core/money.ts';
import { converted, rateOf } from '../core/rates.ts';
import type { StatedRates } from '../core/rates.ts';
import type { Instant } from '../core/time.ts';
import type { Side, Size } from '../core/venue.ts';

/** What a desk means to do, as plain data, and what there is to check it against. Everything here is pure. */

/** One slice that is planned for a known time. */
export interface PlannedSlice {
  readonly strategy: string;
  /** Names the parent within its strategy, where it has several. */
  readonly leg?: string | undefined;
  readonly slice: number;
  readonly at: Instant;
  /** Nothing is started for it from then on. */
  readonly until: Instant;
  readonly pair: string;
  readonly side: Side;
  readonly size: Size;
  /** Worst price that the strategy accepts. */
  readonly limit?: Price | undefined;
  /** Why nothing trades then; left out when it does. */
  readonly closed?: string | undefined;
  /** It goes out in pieces within the limits of one order. */
  readonly isSplit?: boolean | undefined;
  /** What it would be if its strategy decided now. */
  readonly isEstimate?: boolean | undefined;
}

/**
 * What a strategy would trade if it decided on the account and the prices of now, and why it would trade nothing; or what is missing to tell.
 */
export type Estimate =
  | { readonly slices: readonly PlannedSlice[]; readonly why?: string | undefined }
  | { readonly missing: string };

/** The slices of an estimate; none where there is none. */
export const estimatedOf = ({ estimate }: PlannedStrategy): readonly PlannedSlice[] =>
  estimate === undefined || 'missing' in estimate ? [] : estimate.slices;

/** A time of a calendar at which a strategy looks, and only then knows what it wants. */
export interface PlannedTime {
  readonly at: Instant;
  readonly closed?: string | undefined;
}

export interface PlannedStrategy {
  readonly id: string;
  readonly kind: string;
  /** The zone in which its times are told. */
  readonly zone: string;
  readonly pairs: readonly string[];
  /** What people should know of it beforehand. */
  readonly notes: readonly string[];
  readonly slices: readonly PlannedSlice[];
  /** Times of its calendar, closed ones too; empty without one. */
  readonly times: readonly PlannedTime[];
  /** More times than were looked at. */
  readonly isCut: boolean;
  /**
   * What the journal knows of it: `running`: planned from when it began. `edited`: another text under its id is running,
   * planned is the new one as if it began now. `finished`: this text never runs again. Left out: it has not begun.
   */
  readonly standing?: 'running' | 'edited' | 'finished' | undefined;
  /** Slots that lie before, and behind, the days that are planned. */
  readonly passed: number;
  readonly beyond: number;
  /** The most that it may trade at times that nobody knows. */
  readonly ceiling?: Pick<PlannedSlice, 'pair' | 'side' | 'size' | 'limit'> | undefined;
  readonly estimate?: Estimate | undefined;
  /** What a model of its own kind expects, basis points. */
  readonly forecast?:
    | {
        readonly costBps: number;
        readonly riskBps: number;
        /** The same total in equal slices, to compare with. */
        readonly even: { readonly costBps: number; readonly riskBps: number };
      }
    | undefined;
}

/** A price, and where it comes from, in words. */
export interface KnownPrice {
  readonly mid: Price;
  readonly from: string;
  /** Half of what lies between the prices of a buy and a sell, basis points, where the venue was asked. */
  readonly halfSpreadBps?: number | undefined;
}

/** Basis points that a trade is expected to cost: half the spread, and an impact that grows with the root of its size. */
export interface CostModel {
  readonly halfSpreadBps: number;
  /** Of a slice worth one million in the currency of the limits. */
  readonly impactBps: number;
}

export interface PlanFacts {
  readonly now: Instant;
  readonly until: Instant;
  currencies(pair: string): { readonly base: string; readonly quote: string } | undefined;
  minimum(pair: string): Minimum;
  /** Decimals in which a pair is sized, where they are known. */
  precisions(pair: string): Precisions;
  price(pair: string): KnownPrice | undefined;
  /** What the config states that currencies are worth. */
  readonly rates?: StatedRates | undefined;
  costModel(pair: string): CostModel;
  /** Balances now, or why they are not known. */
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
    /** Reserve of a currency that orders are cut for. */
    readonly keep: ReadonlyMap<string, Quantity>;
    readonly positionMax: ReadonlyMap<string, Quantity>;
    readonly shortfallBpsMax: Ratio | undefined;
    readonly dayCostMax: Money | undefined;
    readonly closedHours: readonly ClosedHours[];
  };
  /** What has traded since midnight UTC; left out where no journal tells it. */
  readonly traded?:
    | {
        /** Such as 2026-12-01. */
        readonly day: string;
        readonly total: Money;
        ofPair(pair: string): Money;
      }
    | undefined;
  readonly pacing: {
    /** Quote requests and orders that may leave in any second. */
    readonly quotesPerSecond: number;
    readonly ordersPerSecond: number;
    readonly waitMaxMs: number;
    /** Added to every window. */
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

/** What came of one check. Only `refused` makes a plan infeasible; `not_done` says what is missing to do it. */
export interface Check {
  readonly check: CheckName;
  readonly verdict: 'ok' | 'note' | 'refused' | 'not_done';
  /** Left out: it is of all strategies together. */
  readonly strategy?: string | undefined;
  readonly says: string;
  /** The smallest change that would make it feasible. */
  readonly fix?: string | undefined;
}

/** The slices that are to trade, oldest first. */
export const openSlices = (strategies: readonly PlannedStrategy[]): readonly PlannedSlice[] =>
  strategies
    .flatMap(({ slices }) => slices.filter(({ closed }) => closed === undefined))
    .toSorted((a, b) => a.at - b.at);

/** What a slice is at its worst, as the gate will see it; `undefined` where no price tells it. */
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

/** Decimals of a quantity that is only worked out to be compared. */
const PRECISION = 12;

/** The worst price of a buy, by limit and collar; a sell counts at the middle, as it does in the gate. */
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
/** What everything trades against. */
const BETWEEN = ['usd', 'btc'];

/** An amount of a currency in that of the limits; `undefined` when no price converts it. */
export function inLimits(currency: string, amount: Money, facts: PlanFacts): Money | undefined {
  const { currency: limits } = facts.limits;
  if (currency === limits) return amount;
  const midOf = (pair: string): Price | undefined => facts.price(pair)?.mid;
  const rate = rateOf(currency, limits, { midOf, stated: facts.rates ?? NOTHING_STATED, between: BETWEEN });
  return rate && converted(rate, holding(amount));
}

export const sumOf = (amounts: readonly Money[]): Money =>
  amounts.reduce((sum, each) => add(sum, each), NO_MONEY);

/** The same for what is held of one currency. */
export const asMoney = (held: Quantity): Money => counted(held);

/** Digits for people: two decimals of large amounts, more of small ones, never in exponents. */
export function figure(amount: {
  abs(): { gte(than: number): boolean };
  toDecimalPlaces(n: number): { toFixed(): string };
}): string {
  return amount.toDecimalPlaces(amount.abs().gte(100) ? 2 : 8).toFixed();
}
