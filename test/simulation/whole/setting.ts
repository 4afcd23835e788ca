import { money, ratio } from '../../../src/core/money.ts';
import type { StrategySource } from '../../../src/engine/desk.ts';
import type { DeskSettings } from '../../../src/engine/desk-settings.ts';
import { venueOptions } from '../../../src/simulator/options/options.ts';
import type { VenueOptions } from '../../../src/simulator/options/options.ts';
import { aPolicy } from '../../engine/harness.ts';
import type { OnDuplicate } from './byte-venue.ts';
import type { Chance } from '../chance.ts';
import { between } from './draws.ts';
import { listsOf } from './manners.ts';
import { PRICES, chancesOf } from './plans.ts';
import type { Planned } from './plans.ts';
import type { Cap } from './witness.ts';

/** Everything of a run that is no fault: what is traded, at which venue, under which rules. A function of the seed. */
export interface Setting {
  readonly strategies: readonly StrategySource[];
  readonly caps: readonly Cap[];
  readonly venue: VenueOptions;
  readonly policy: DeskSettings;
  readonly capabilities: {
    readonly balances: boolean;
    readonly pairs: boolean;
    readonly orderLookup: boolean;
  };
  readonly onDuplicate: OnDuplicate;
  readonly bookingLagMs: number;
  readonly venueSkewMs: number;
  readonly wallOffsetMs: number;
  readonly wallDrift: number;
  readonly latencyMs: number;
  /** The venue says the time with each quote. */
  readonly tellsDate: boolean;
  readonly isFeedOn: boolean;
  readonly isMarketOn: boolean;
  readonly orderNotionalMax: string;
  readonly dayNotionalMax: string | undefined;
  /** A state is kept every so many records; `undefined`: none is. */
  readonly statesEvery: number | undefined;
  /** How long things go wrong, ms. */
  readonly faultyMs: number;
}

export const TOKEN = 'sim-token-that-is-in-no-byte';

/** @param planned What is traded, out of the same chance. */
export function settingOf(given: Chance, planned: readonly Planned[]): Setting {
  const draw = (point: string): number => given.draw(point, 0);
  const chance = chancesOf(given);
  const pick = <T>(point: string, of: readonly [T, ...T[]]): T => of[given.setting(point, 0, of.length - 1)] ?? of[0];
  const lifeMs = pick('quote life', [10_000, 10_000, 15_000, 30_000, 6_000, 2_000]);
  const orderTimeoutMs = pick('order timeout', [8_000, 4_000, 2_000]);
  const worth = planned.reduce((sum, { notional }) => sum + notional, 0);
  const dayNotionalMax = chance('day limit', 0.25) ? String(Math.ceil(worth * between(draw('day limit at'), 0.3, 0.8))) : undefined;
  const orderNotionalMax = planned.find((one) => one.orderNotionalMax !== undefined)?.orderNotionalMax ?? '1000000';
  const base = aPolicy();
  return {
    strategies: planned.map(({ source }) => source),
    caps: planned.flatMap(({ cap }) => (cap === undefined ? [] : [cap])),
    venue: venueOf(given, lifeMs),
    policy: {
      ...base,
      orderTimeoutMs,
      orderMarginMs: 500,
      adoptFills: chance('adopts', 0.3),
      accountPollMs: pick('poll', [20_000, 60_000]),
      ...(chance('on credit', ON_CREDIT) ? { pts: { ...base.pts, use: 'when_enabled' } } : {}),
      inDoubt: { ...base.inDoubt, lifeMaxMs: 30_000 },
      retry: { ...base.retry, budgetMs: pick('budget', [60_000, 600_000]) },
      reference: { ...base.reference, intervalMs: 15_000 },
      limits: {
        ...base.limits,
        orderNotionalMax: money(orderNotionalMax),
        dayNotionalMax: money(dayNotionalMax ?? '100000000'),
        openDoubtsMax: pick('doubts', [2, 1, 3]),
        collarBps: ratio(pick('collar', ['100', '30', '200'])),
      },
    },
    capabilities: {
      balances: chance('balances', 0.3),
      pairs: chance('pairs', 0.3),
      orderLookup: chance('lookup', 0.3),
    },
    onDuplicate: pick('duplicates', ['refuses', 'refuses', 'cancels', 'cancels', 'replays', 'replays', chance('breach', 0.2) ? 'executes' : 'refuses']),
    bookingLagMs: chance('lags', 0.6) ? between(draw('lag'), 0, 8_000) : 0,
    venueSkewMs: chance('skewed', 0.3) ? between(draw('skew'), -60_000, 60_000) : 0,
    wallOffsetMs: chance('wall off', 0.2) ? Math.round(between(draw('wall'), -90_000, 90_000)) : 0,
    wallDrift: chance('drifts', 0.2) ? between(draw('drift'), -5e-4, 5e-4) : 0,
    latencyMs: pick('latency', [40, 150, 600]),
    tellsDate: chance('date', 0.6),
    isFeedOn: chance('feed', 0.5),
    isMarketOn: chance('market', 0.6),
    orderNotionalMax,
    dayNotionalMax,
    statesEvery: chance('keeps states', 0.5) ? pick('every', [1, 7, 30]) : undefined,
    faultyMs: Math.max(...planned.map(({ lengthMs }) => lengthMs)) + between(draw('tail'), 5_000, 60_000),
  };
} // prettier-ignore

/** Share of the desks that trade on credit, at a venue that settles their positions early. */
const ON_CREDIT = 0.1;
const CREDIT = {
  accounts: [{ name: 'desk', token: TOKEN, balances: { usd: '20000', btc: '0.3', eth: '5' } }],
  pts: { modes: { btcusd: 'Enabled', ethusd: 'Enabled' }, creditLimitUsd: '60000', liquidationLevel: '1.5' },
} as const;

const optionsBefore = new Map<string, VenueOptions>();

/** Options are checked by their schema, which takes longer than many a run: those that were seen are kept. */
function venueOf(given: Chance, quoteLifeMs: number): VenueOptions {
  const chance = chancesOf(given);
  const input = {
    accounts: [{ name: 'desk', token: TOKEN, balances: { usd: '1000000', btc: '25', eth: '400' } }],
    pairs: {
      btcusd: { startPrice: String(PRICES.btcusd), volumePerDay: '40000', volatilityPctYear: chance('wild', 0.2) ? 400 : 40, maxUsd: chance('small', 0.1) ? '20000' : '250000' },
      ethusd: { startPrice: String(PRICES.ethusd) },
    },
    quoteLifeMs,
    feeBps: chance('fees', 0.4) ? 7 : 0,
    ...(chance('last look', 0.3) ? { lastLookBps: 1 } : {}),
    cancelProbability: chance('cancels', 0.3) ? 0.25 : 0,
    unavailableProbability: chance('unavailable', 0.25) ? 0.15 : 0,
    limits: chance('low limits', 0.05) ? { quotesPerSecond: 2 } : {},
    ...(chance('on credit', ON_CREDIT) ? CREDIT : {}),
  }; // prettier-ignore
  const key = JSON.stringify(input);
  let options = optionsBefore.get(key);
  if (options === undefined) {
    options = venueOptions(input);
    optionsBefore.set(key, options);
  }
  const manners = {
    lists: listsOf(given),
    // Nobody could know that a quote lives longer than its stamps say where the venue does not say the time.
    quoteDateMs:
      chance('date', 0.6) && chance('date of quotes', 0.15)
        ? Math.floor(between(given.draw('quote date', 0), -1_500, 1_500))
        : 0,
    oddOrders: chance('odd orders', 0.1),
  };
  return { ...options, ...manners, seed: String(given.draw('venue seed', 0)) };
}
