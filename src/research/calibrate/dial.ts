import type { Estimate } from './robust.ts';

/** An estimated setting of the execution model. */
export interface Dial extends Estimate {
  /** Its name in a model file. */
  readonly name: DialName;
  /** Omitted: all pairs. */
  readonly pair?: string | undefined;
  /** Number of observations behind it. */
  readonly count: number;
  /** What was observed, in a few words: `quotes`, `orders`. */
  readonly of: string;
  /** Spread of the observations: middle half and 95th percentile. */
  readonly spread?: { readonly p25: number; readonly p75: number; readonly p95: number } | undefined;
  readonly note?: string | undefined;
}

/** A setting that keeps the base value, and why. */
export interface Unlearnt {
  readonly name: DialName;
  readonly pair?: string | undefined;
  readonly why: string;
}

export type Learnt = Dial | Unlearnt;
export const isDial = (one: Learnt): one is Dial => 'value' in one;

export const dialNames = [
  'half_spread_bps',
  'impact_bps',
  'max_usd',
  'quote_life_ms',
  'quote_latency_ms',
  'order_latency_ms',
  'last_look_bps',
  'rejected_share',
  'unavailable_share',
  'unavailable_ms',
  'fee_bps',
] as const;
export type DialName = (typeof dialNames)[number];

/** Minimum number of observations for an estimate. */
export const FLOORS = {
  half_spread_bps: 20,
  impact_bps: 40,
  max_usd: 1,
  quote_life_ms: 5,
  quote_latency_ms: 20,
  order_latency_ms: 20,
  last_look_bps: 10,
  rejected_share: 50,
  unavailable_share: 100,
  unavailable_ms: 10,
  fee_bps: 5,
} as const satisfies Readonly<Record<DialName, number>>;

export const tooFew = (name: DialName, count: number, of: string): string =>
  `${count} ${of}: at least ${FLOORS[name]} are needed`;

/** Basis points to four decimals, shares to six, times to whole ms: what a file says. */
export const rounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

export const roundedDial = (dial: Dial, decimals: number): Dial => ({
  ...dial,
  value: rounded(dial.value, decimals),
  low: rounded(dial.low, decimals),
  high: rounded(dial.high, decimals),
});
