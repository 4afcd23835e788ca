import { splitPair } from '../../core/pairs.ts';
import type { Limits } from '../../core/risk/limits.ts';
import { digest } from '../../core/ids.ts';
import type { DeskSettings } from '../../engine/desk-settings.ts';
import type { Config } from './config.ts';
import { statedRates } from './rates.ts';
import { COMMON_CURRENCIES, minimumFor } from '../strategies/strategies.ts';
import { version } from '../version.ts';

/** Request limit that the venue's specification or public documentation states. */
export const REQUESTS_PER_TEN_SECONDS = 250;
const ACCOUNT_POLL_MS = 60_000;
const REFERENCE_WAIT_MS = 5_000;
/** Clock differences that raise an alert and that prevent the start. Only live mode refuses to start. */
const SKEW_WARN_MS = 2_000;
const SKEW_REFUSE_MS = 30_000;
/** A jump of this size means that the clock was set, the machine slept, or the process was suspended. */
const CONTINUITY = { everyMs: 1_000, divergenceMs: 2_000, lateMs: 4_000 };
/** Number of consecutive crashes that counts as a crash loop. */
const CRASH_LOOP = { startsMax: 5, withinMs: 10 * 60_000 };

export interface DeskSettingsOptions {
  readonly configHash: string;
  readonly adoptFills: boolean;
  /** Whether the journal outlives the process. */
  readonly areLimitsKept?: boolean | undefined;
}

/** Converts the config to the settings of the engine. */
export function deskSettingsOf(
  config: Config,
  { configHash, adoptFills, areLimitsKept }: DeskSettingsOptions,
): DeskSettings {
  const { controls, pts, reference, retry, inDoubt, pacing, venue } = config;
  const share = (max: number): number => Math.max(1, Math.floor(max * pacing.quoteShare));
  // Desks that share an address use its requests as they need them, not in fixed parts.
  const ofAddress = config.address === undefined ? share(REQUESTS_PER_TEN_SECONDS) : REQUESTS_PER_TEN_SECONDS;
  return {
    desk: config.desk,
    mode: config.mode,
    version,
    configHash,
    account: accountOf(config),
    limits: limitsOf(config),
    fourEyes: config.operate?.fourEyes,
    approvals: config.operate?.approvals,
    areLimitsKept,
    rates: statedRates(config),
    accountAgeMaxMs: controls.accountAgeMaxMs,
    messageWaitMaxMs: pacing.waitMaxMs,
    isSellingOn: venue.sellPath !== undefined,
    minimumOf(pair) {
      const split = splitPair(pair, COMMON_CURRENCIES);
      return minimumFor(config, pair, 'problem' in split ? undefined : split.quote);
    },
    keep: config.keep,
    pts: {
      use: pts.use,
      maxAgeMs: pts.ageMaxMs,
      pollMs: pts.pollMs,
      creditMax: pts.creditMax,
      carryBpsMax: pts.carryBpsMax,
      holdingMs: pts.holdingMs,
    },
    reference: {
      intervalMs: reference.intervalMs,
      maxAgeMs: reference.ageMaxMs,
      probe: reference.probeNotional,
      share: reference.share,
      waitMs: REFERENCE_WAIT_MS,
    },
    retry: { baseMs: retry.baseMs, capMs: retry.capMs, budgetMs: retry.budgetMs, requoteMs: retry.requoteMs },
    footprint: config.footprint,
    inDoubt: {
      bookingMarginMs: inDoubt.bookingMarginMs,
      pollMs: inDoubt.pollMs,
      trustFirstCanceled: inDoubt.trustFirstCanceled,
      trustRefusals: inDoubt.trust4xx,
      lifeMaxMs: inDoubt.lifeMaxMs,
      resend: inDoubt.resend,
    },
    orderTimeoutMs: venue.orderTimeoutMs,
    orderMarginMs: config.orderMarginMs,
    cyclesMax: config.cyclesMax,
    historyMs: venue.historyMs,
    accountPollMs: ACCOUNT_POLL_MS,
    pace: {
      windows: {
        quote: { max: share(pacing.quotesPerSecond), perMs: 1_000 },
        order: { max: share(pacing.ordersPerSecond), perMs: 1_000 },
        transactions: { max: 1, perMs: 10_000 },
        read: { max: ofAddress, perMs: 10_000 },
        all: { max: ofAddress, perMs: 10_000 },
      },
      guardMs: pacing.guardMs,
    },
    skew: { warnMs: SKEW_WARN_MS, refuseMs: config.mode === 'live' ? SKEW_REFUSE_MS : Infinity },
    continuity: CONTINUITY,
    crashLoop: CRASH_LOOP,
    // A dry run adds simulated fills to the rows of the real account, so the rows do not add up to the balances.
    onDifference: config.mode === 'dry_run' ? 'ignore' : controls.onDifference,
    adoptFills,
  };
}

/** Returns the limits of the engine. The type lists every limit, so that a missing one is a compile-time error. */
export const limitsOf = ({
  controls,
}: Pick<Config, 'controls'>): { readonly [K in keyof Required<Limits>]: Limits[K] } => ({
  currency: controls.orderNotionalMax.currency,
  orderNotionalMax: controls.orderNotionalMax.amount,
  dayNotionalMax: controls.dayNotionalMax.amount,
  pairDayNotionalMax: controls.pairDayNotionalMax,
  orderQuantityMax: controls.orderQuantityMax,
  collarBps: controls.collarBps,
  collarDiscardsMax: controls.collarDiscardsMax,
  driftBpsMax: controls.driftBpsMax,
  referenceGapBpsMax: controls.referenceGapBpsMax,
  openDoubtsMax: controls.openDoubtsMax,
  pairs: controls.pairs,
  sides: controls.sides,
  minuteExecutionsMax: controls.minuteExecutionsMax,
  parentExecutionsMax: controls.parentExecutionsMax,
  duplicateMs: controls.duplicateMs,
  positionMin: controls.positionMin,
  positionMax: controls.positionMax,
  shortfallBpsMax: controls.shortfallBpsMax,
  dayCostMax: controls.dayCostMax?.amount,
  rejectsMax: controls.rejectsMax,
  malformedMax: controls.malformedMax,
  closedHours: controls.closedHours,
  overrideCeilings: controls.overrideCeilings,
});

/**
 * Identifies the account that a journal belongs to. The embedded venue has no lasting account, so its id is constant.
 * Simulated fills of a dry run must never count as traded, so a dry run has an account id of its own.
 */
const accountOf = ({ mode, venue }: Config): string =>
  mode === 'paper'
    ? 'paper'
    : digest(`account\n${mode}\n${new URL(venue.baseUrl ?? '').origin}\n${venue.token?.reveal() ?? ''}`, 16);
