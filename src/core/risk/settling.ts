import { approximate, cost, counted, fraction, ratioOf, roundDown, roundUp, scale } from '../money.ts';
import type { Money, Price, Quantity, Ratio } from '../money.ts';
import type { Pair } from '../pairs.ts';
import { MINUTES_A_YEAR } from './pts.ts';
import { after, instant, MINUTE_MS } from '../time.ts';
import type { Instant } from '../time.ts';
import type { FundingRate, RiskMode } from '../venue.ts';

/** A balance below zero. */
export interface Debt {
  /** Above zero. */
  readonly amount: Quantity;
  /** Earliest time at which the debt may have begun; 0: before the first observation. */
  readonly since: Instant;
}

/** When a position on credit must be closed. The earliest of these times applies. */
export interface SettleRule {
  /** Time before the end of the grace period, milliseconds. */
  readonly beforeGraceMs?: number | undefined;
  /** Largest carry, in basis points of the debt; the debt is closed before the carry exceeds it. */
  readonly carryBpsMax?: Ratio | undefined;
  /** Time before the charge that would exceed the carry limit, milliseconds. */
  readonly leadMs: number;
  /** Modes of a pair in which the debt is closed immediately. */
  readonly modes: readonly RiskMode[];
  /** The position is closed in pieces no larger than this, in quote currency, one after the other. */
  readonly pieces?: { readonly largest: Money; readonly intervalMs: number } | undefined;
}

/** Known facts of the account and of the venue's credit terms. */
export interface Terms {
  readonly debts: ReadonlyMap<string, Debt>;
  /** `undefined` if the rate is unknown. */
  rateOf(currency: string): FundingRate | undefined;
  modeOf(pair: string): RiskMode | undefined;
  midOf?(pair: string): Price | undefined;
}

/** A debt that the pairs can close, and when to close it. */
export interface Due {
  readonly currency: string;
  /** `undefined`: never, under this rule and rate. `unknown`: the cost of the debt is unknown. */
  readonly at: Instant | 'unknown' | undefined;
}

/** When to close each debt in a currency of `pairs`. */
export function duesOf(pairs: readonly Pair[], rule: SettleRule, terms: Terms): readonly Due[] {
  return [...terms.debts].flatMap(([currency, { since, amount }]): readonly Due[] => {
    const own = pairs.filter(({ base, quote }) => base === currency || quote === currency);
    if (own.length === 0) return [];
    const isClosing = own.some(({ pair }) => rule.modes.some((mode) => mode === terms.modeOf(pair)));
    if (isClosing) return [{ currency, at: since }];
    if (rule.beforeGraceMs === undefined && rule.carryBpsMax === undefined) return [];
    const rate = terms.rateOf(currency);
    if (rate === undefined) return [{ currency, at: 'unknown' }];
    const longest = Math.max(0, ...own.map((pair) => closingMs({ currency, amount }, pair, { rule, terms })));
    return [{ currency, at: settleAt(since, rate, earlierBy(rule, longest)) }];
  });
}

/**
 * How long closing takes, ms. It is 0 for a single piece, which the lead time covers, and 0 if no price determines the
 * number of pieces.
 */
function closingMs(
  { currency, amount }: { readonly currency: string; readonly amount: Quantity },
  { pair, quote }: Pair,
  { rule: { pieces }, terms }: { readonly rule: SettleRule; readonly terms: Terms },
): number {
  if (pieces === undefined) return 0;
  const mid = quote === currency ? undefined : terms.midOf?.(pair);
  const worth = quote === currency ? counted(amount) : mid && cost(mid, amount);
  if (worth === undefined || worth.lte(pieces.largest)) return 0;
  return approximate(roundUp(fraction(worth, pieces.largest), 0)) * pieces.intervalMs;
}

const earlierBy = (rule: SettleRule, ms: number): SettleRule =>
  ms === 0
    ? rule
    : {
        ...rule,
        leadMs: rule.leadMs + ms,
        beforeGraceMs: rule.beforeGraceMs === undefined ? undefined : rule.beforeGraceMs + ms,
      };

/**
 * When to start closing a position opened at `since`; `undefined`: never. Interest is charged in steps, each a fraction
 * of a year's interest. The first step is one `frequency` after the end of the grace period.
 */
export function settleAt(since: Instant, rate: FundingRate, rule: SettleRule): Instant | undefined {
  const graceEnd = after(since, rate.graceMinutes * MINUTE_MS);
  const times: number[] = [];
  if (rule.beforeGraceMs !== undefined) times.push(graceEnd - rule.beforeGraceMs);
  const steps = rule.carryBpsMax === undefined ? undefined : stepsWithin(rate, rule.carryBpsMax);
  if (steps !== undefined)
    times.push(graceEnd + (steps + 1) * rate.frequencyMinutes * MINUTE_MS - rule.leadMs);
  return times.length === 0 ? undefined : instant(Math.floor(Math.min(...times)));
}

/** Number of charges within the limit; `undefined` if no number of charges exceeds it. */
function stepsWithin({ annualRate, frequencyMinutes }: FundingRate, bpsMax: Ratio): number | undefined {
  const charge = scale(annualRate, ratioOf(frequencyMinutes * 10_000));
  if (!charge.gt(0)) return undefined;
  return approximate(roundDown(fraction(scale(bpsMax, ratioOf(MINUTES_A_YEAR)), charge), 0));
}

/** The earliest of `dues`; an unknown time counts as due now. `undefined` if nothing is ever due. */
export function earliest(dues: readonly Due[]): Instant | undefined {
  const times = dues.flatMap(({ at }) => (at === undefined ? [] : [at === 'unknown' ? instant(0) : at]));
  return times.length === 0 ? undefined : instant(Math.min(...times));
}
