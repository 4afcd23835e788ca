import { COMMON_CURRENCIES, splitPair } from '../../core/pairs.ts';
import type { Limits } from '../../core/risk/limits.ts';
import { digest } from '../../core/ids.ts';
import { ratio } from '../../core/money.ts';
import { DAY_MS } from '../../core/time.ts';
import type { DeskSettings } from '../../engine/desk-settings.ts';
import type { Config } from './config.ts';
import { statedRates } from './rates.ts';
import { minimumFor } from '../strategies/strategies.ts';
import { version } from '../version.ts';

/** Request limit that the venue's specification or public documentation states. */
const REQUESTS_PER_TEN_SECONDS = 250;
const ACCOUNT_POLL_MS = 60_000;
const REFERENCE_WAIT_MS = 5_000;
/** Time between two reference prices from probe quotes. */
const REFERENCE_INTERVAL_MS = 5_000;
/** Time between two reads of the transactions while an order is in doubt or being booked. */
const DOUBT_POLL_MS = 10_000;
/** Period of the first read of the transactions. The balance of a currency without transactions in it counts as 0. */
const HISTORY_MS = 3_650 * DAY_MS;
/** No slice starts if the last whole read of the account is older. */
const ACCOUNT_AGE_MAX_MS = 3 * 60_000;
/** Risk modes and funding rates are read at this interval, and older ones count as unknown. */
const PTS = { pollMs: 60_000, maxAgeMs: 5 * 60_000 };
/** Wait after the first failure of the venue, doubled with each further one up to the cap, and between two quotes of a slice. */
const RETRY = { baseMs: 500, capMs: 30_000, requoteMs: 1_000 };
/** Largest distance between two sources of the reference price. The simulated prices of paper mode move between two requests. */
const REFERENCE_GAP_BPS_MAX = ratio('30');
const PAPER_REFERENCE_GAP_BPS_MAX = ratio('300');
/** Safety margin of every rate limit window, against network jitter. */
export const PACE_GUARD_MS = 5;
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
  const { controls, pts, reference, inDoubt, pacing, venue } = config;
  const share = (max: number): number => Math.max(1, Math.floor(max * pacing.quoteShare));
  return {
    desk: config.desk,
    mode: config.mode,
    version,
    configHash,
    account: accountOf(config),
    limits: limitsOf(config),
    approvals: config.operate?.approvals,
    areLimitsKept,
    rates: statedRates(config),
    accountAgeMaxMs: ACCOUNT_AGE_MAX_MS,
    isSellingOn: venue.sellPath !== undefined,
    minimumOf(pair) {
      const split = splitPair(pair, COMMON_CURRENCIES);
      return minimumFor(config, pair, 'problem' in split ? undefined : split.quote);
    },
    keep: config.keep,
    pts: {
      use: pts.use,
      ...PTS,
      creditMax: pts.creditMax,
      carryBpsMax: pts.carryBpsMax,
      holdingMs: pts.holdingMs,
      headroomMin: pts.headroomMin,
    },
    reference: {
      intervalMs: REFERENCE_INTERVAL_MS,
      maxAgeMs: reference.ageMaxMs,
      probe: reference.probeNotional,
      gapBpsMax: config.mode === 'paper' ? PAPER_REFERENCE_GAP_BPS_MAX : REFERENCE_GAP_BPS_MAX,
      waitMs: REFERENCE_WAIT_MS,
    },
    retry: { ...RETRY, budgetMs: config.retryBudgetMs },
    quotesPerFillMax: config.quotesPerFillMax,
    inDoubt: {
      bookingMarginMs: inDoubt.bookingMarginMs,
      pollMs: DOUBT_POLL_MS,
      lifeMaxMs: inDoubt.lifeMaxMs,
    },
    orderTimeoutMs: venue.orderTimeoutMs,
    orderMarginMs: config.orderMarginMs,
    historyMs: HISTORY_MS,
    accountPollMs: ACCOUNT_POLL_MS,
    pace: {
      windows: {
        quote: { max: share(pacing.quotesPerSecond), perMs: 1_000 },
        order: { max: share(pacing.ordersPerSecond), perMs: 1_000 },
        transactions: { max: 1, perMs: 10_000 },
        read: { max: share(REQUESTS_PER_TEN_SECONDS), perMs: 10_000 },
        all: { max: share(REQUESTS_PER_TEN_SECONDS), perMs: 10_000 },
      },
      guardMs: PACE_GUARD_MS,
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
export function limitsOf({ controls }: Pick<Config, 'controls'>): {
  readonly [K in keyof Required<Limits>]: Limits[K];
} {
  const { orderNotionalMax, dayNotionalMax, dayCostMax, onDifference: _, ...limits } = controls;
  return {
    ...limits,
    currency: orderNotionalMax.currency,
    orderNotionalMax: orderNotionalMax.amount,
    dayNotionalMax: dayNotionalMax.amount,
    dayCostMax: dayCostMax?.amount,
  };
}

/**
 * Identifies the account that a journal belongs to. The embedded venue has no lasting account, so its id is constant.
 * Simulated fills of a dry run must never count as traded, so a dry run has an account id of its own.
 */
const accountOf = ({ mode, venue }: Config): string =>
  mode === 'paper'
    ? 'paper'
    : digest(`account\n${mode}\n${new URL(venue.baseUrl ?? '').origin}\n${venue.token?.reveal() ?? ''}`, 16);
