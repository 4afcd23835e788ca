import { z } from 'zod';
import { text } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { sidesOf } from '../../core/pairs.ts';
import { durationText, HOUR_MS, isoOf, parseDuration } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { reads } from '../../strategy/fields.ts';
import type { Tape } from '../tape/tape.ts';
import { ptsSchema, venueOptions } from '../../simulator/options/options.ts';
import type { CurrencyOptions, VenueInput, VenueOptions } from '../../simulator/options/options.ts';
import {
  bps,
  camelKeys,
  decimal,
  milliseconds,
  pairName,
  precision,
  share,
} from '../../simulator/options/options-parts.ts';

/**
 * Assumptions of a backtest about execution. A tape shows trades, not what a dealer would have quoted for this size at
 * that instant, so everything here is an assumption, and every report prints all of it.
 */
export type ExecutionModel = z.output<typeof modelSchema>;

const duration = z.string().superRefine(reads(parseDuration)).transform(parseDuration);

const sizes = {
  half_spread_bps: bps.describe('Distance of the smallest quote from the mid price, basis points'),
  impact_bps: bps.describe(
    'Added for size: basis points at 1 million USD, growing with the square root of USD',
  ),
  max_usd: decimal
    .refine((value) => /[1-9]/u.test(value), { error: 'expected more than 0' })
    .describe('Largest quote, USD'),
  price_precision: precision
    .optional()
    .describe(
      'Decimals of a quoted price; default: 2 for prices in fiat currency, 8 for others, more for small prices, to keep six significant digits',
    ),
};

const pairSchema = z
  .strictObject({
    half_spread_bps: sizes.half_spread_bps.optional(),
    impact_bps: sizes.impact_bps.optional(),
    max_usd: sizes.max_usd.optional(),
    price_precision: sizes.price_precision,
  })
  .transform(camelKeys);

const fields = {
  ...sizes,
  pairs: z.record(pairName, pairSchema).default({}).describe('Pairs that differ'),
  impact_memory: z
    .literal('none')
    .or(duration.refine((ms) => ms > 0, { error: 'expected none or a duration above zero' }))
    .default('none')
    .describe(
      'Half-life of the impact of earlier trades, ISO 8601; none: each trade costs as if it were the first',
    ),
  impact_participation: z
    .number()
    .positive()
    .max(10)
    .optional()
    .describe(
      'Instead of impact_bps: the impact of a size in basis points is this factor times the daily volatility times the square root of the share of the daily volume; about 1 in the literature',
    ),
  quote_life_ms: milliseconds.min(1).describe('Life of a quote, ms'),
  quote_latency_ms: milliseconds.describe(
    'Time from a quote request to its response, ms; half of it each way',
  ),
  order_latency_ms: milliseconds.describe('Time from an order to its response, ms; half of it each way'),
  last_look_bps: bps
    .optional()
    .describe(
      'Price move against the dealer, basis points, beyond which orders are canceled; default: never',
    ),
  rejected_share: share.describe('Share of orders canceled without a reason, 0 to 1'),
  unavailable_share: share.describe('Share of time without quotes, 0 to 1'),
  unavailable_ms: milliseconds
    .min(1)
    .describe('Length of a period without quotes, ms: refusals come in clusters'),
  fee_bps: bps.describe('Fee in quote currency, basis points of the amount'),
  gap_max: duration
    .optional()
    .describe(
      'Longest gap of a tape in which the last price still holds; nothing trades in a longer gap, ISO 8601; default: an hour, or one bar if bars are longer',
    ),
  pts: ptsSchema.prefault({}).describe('Post-trade settlement: modes, rates, credit limit'),
};

export const modelSchema = z.strictObject(fields).transform(camelKeys);

type ModelText = z.input<typeof modelSchema>;

/** The presets. `normal` approximates liquid pairs; the others show how much depends on these assumptions. */
export const presets = {
  tight: {
    half_spread_bps: 1,
    impact_bps: 4,
    max_usd: '1000000',
    impact_memory: 'none',
    quote_life_ms: 10_000,
    quote_latency_ms: 50,
    order_latency_ms: 50,
    rejected_share: 0,
    unavailable_share: 0,
    unavailable_ms: 60_000,
    fee_bps: 0,
  },
  normal: {
    half_spread_bps: 3,
    impact_bps: 10,
    max_usd: '250000',
    impact_memory: 'none',
    quote_life_ms: 10_000,
    quote_latency_ms: 200,
    order_latency_ms: 200,
    last_look_bps: 5,
    rejected_share: 0,
    unavailable_share: 0.001,
    unavailable_ms: 60_000,
    fee_bps: 0,
  },
  stressed: {
    half_spread_bps: 15,
    impact_bps: 40,
    max_usd: '50000',
    impact_memory: 'none',
    quote_life_ms: 10_000,
    quote_latency_ms: 800,
    order_latency_ms: 800,
    last_look_bps: 2,
    rejected_share: 0.02,
    unavailable_share: 0.05,
    unavailable_ms: 300_000,
    fee_bps: 2,
  },
} as const satisfies Readonly<Record<string, ModelText>>;

/** A model file. Omitted settings come from the preset that its `base` names, otherwise from `normal`. */
export const modelFileSchema = z
  .looseObject({ base: z.enum(['tight', 'normal', 'stressed']).default('normal') })
  .transform(({ base, ...own }): ModelText => ({ ...presets[base], ...own }))
  .pipe(modelSchema);

/** Settings whose value is one word on the command line. */
export const modelKeys: readonly string[] = Object.keys(fields).filter(
  (name) => name !== 'pairs' && name !== 'pts',
);

/** Every setting by name, with its description. */
export const modelSettings: Readonly<Record<string, { readonly description?: string | undefined }>> = fields;

export type PresetName = keyof typeof presets;
export const isPreset = (name: string): name is PresetName => Object.hasOwn(presets, name);

export const presetModel = (name: PresetName): ExecutionModel => modelSchema.parse(presets[name]);

/** Returns how long the last price of a tape remains valid beyond its bar, ms. */
export const gapMaxOf = (
  { gapMax }: Pick<ExecutionModel, 'gapMax'>,
  { barMs }: Pick<Tape, 'barMs'>,
): number => gapMax ?? Math.max(HOUR_MS, barMs);

/** Facts about a backtest on which the venue's settings depend. */
export interface VenueFacts {
  readonly seed: string;
  readonly from: Instant;
  readonly pairs: readonly string[];
  readonly holdings: ReadonlyMap<string, Quantity>;
  readonly currencies?: Readonly<Record<string, CurrencyOptions>> | undefined;
}

/** Returns the settings of the simulated venue that implement the model. */
export function venueOf(model: ExecutionModel, facts: VenueFacts): VenueOptions {
  const { halfSpreadBps, impactBps, maxUsd, pricePrecision } = model;
  const pairs = facts.pairs.map((pair) => {
    const own = model.pairs[pair] ?? {};
    const decimals = own.pricePrecision ?? pricePrecision;
    const settings = {
      ...sidesOf(pair, [...Object.keys(facts.currencies ?? {}), ...facts.holdings.keys()]),
      halfSpreadBps: own.halfSpreadBps ?? halfSpreadBps,
      impactBps: own.impactBps ?? impactBps,
      maxUsd: own.maxUsd ?? maxUsd,
      ...(decimals === undefined ? {} : { pricePrecision: decimals }),
    };
    return [pair, settings] as const;
  });
  return checked({
    seed: facts.seed,
    accounts: [{ name: 'desk', balances: textOf(facts.holdings) }],
    pairs: Object.fromEntries(pairs),
    currencies: facts.currencies ?? {},
    marketStart: isoOf(facts.from),
    quoteLifeMs: model.quoteLifeMs,
    lastLookBps: model.lastLookBps,
    cancelProbability: model.rejectedShare,
    feeBps: model.feeBps,
    // The pacing of the desk states what the venue allows.
    limits: { enforced: false },
    pts: model.pts,
  });
}

/** Returns checked settings. They are cached, because the runs of a sweep use the same settings, which are immutable. */
function checked(input: VenueInput): VenueOptions {
  const asked = JSON.stringify(input);
  if (lastVenue?.asked !== asked) lastVenue = { asked, options: venueOptions(input) };
  return lastVenue.options;
}
let lastVenue: { readonly asked: string; readonly options: VenueOptions } | undefined;

const textOf = (held: ReadonlyMap<string, Quantity>): Record<string, string> =>
  Object.fromEntries([...held].map(([currency, amount]) => [currency, text(amount)]));

/** Settings that are durations in the file. */
const DURATIONS: ReadonlySet<string> = new Set(['gap_max', 'impact_memory']);

/** Returns settings by their names in the file. Durations as ISO 8601; omitted settings are absent. */
export function settingsOf(settings: object): Readonly<Record<string, unknown>> {
  const entries = Object.entries(settings).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return [];
    const key = name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
    if (DURATIONS.has(key) && typeof value === 'number') return [[key, durationText(value)] as const];
    return [[key, isPlain(value) ? settingsOf(value) : value] as const];
  });
  return Object.fromEntries(entries);
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
