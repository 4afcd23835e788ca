import type { Estimate } from './robust.ts';

/** An estimated setting of the execution model. */
export interface FittedSetting extends Estimate {
  /** Its name in a model file. */
  readonly name: SettingName;
  /** Omitted: all pairs. */
  readonly pair?: string | undefined;
  /** Number of observations behind it. */
  readonly count: number;
  /** The kind of observation, as text: `quotes`, `orders`. */
  readonly of: string;
  /** Spread of the observations: middle half and 95th percentile. */
  readonly spread?: { readonly p25: number; readonly p75: number; readonly p95: number } | undefined;
  readonly note?: string | undefined;
}

/** A setting that keeps the base value, and why. */
export interface Unlearnt {
  readonly name: SettingName;
  readonly pair?: string | undefined;
  readonly why: string;
}

export type Learnt = FittedSetting | Unlearnt;
export const isFitted = (one: Learnt): one is FittedSetting => 'value' in one;

export const settingNames = [
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
export type SettingName = (typeof settingNames)[number];

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
} as const satisfies Readonly<Record<SettingName, number>>;

export const tooFew = (name: SettingName, count: number, of: string): string =>
  `${count} ${of}: at least ${FLOORS[name]} are needed`;

/** Rounds for a file: basis points to four decimals, shares to six, times to whole ms. */
export const rounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

export const roundedFit = (fitted: FittedSetting, decimals: number): FittedSetting => ({
  ...fitted,
  value: rounded(fitted.value, decimals),
  low: rounded(fitted.low, decimals),
  high: rounded(fitted.high, decimals),
});
