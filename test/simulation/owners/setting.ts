import { money } from '../../../src/core/money.ts';
import type { StrategySource } from '../../../src/engine/desk.ts';
import type { DeskSettings } from '../../../src/engine/desk-settings.ts';
import { venueOptions } from '../../../src/simulator/options/options.ts';
import type { VenueOptions } from '../../../src/simulator/options/options.ts';
import { aPolicy, aStrategy } from '../../engine/harness.ts';
import type { Chance } from '../chance.ts';
import { between } from '../whole/draws.ts';

/** Everything of a run that is no fault. A function of the seed. */
export interface Setting {
  readonly owners: number;
  readonly strategy: StrategySource;
  /** Base currency. */
  readonly total: string;
  readonly policy: DeskSettings;
  readonly venue: VenueOptions;
  readonly leaseMs: number;
  readonly retryMs: number;
  /** A commit waits for the standby. */
  readonly isSynchronous: boolean;
  readonly venueLatencyMs: number;
  readonly storeLatencyMs: number;
  readonly hasLookup: boolean;
  readonly hasBootClock: boolean;
  /** Of each owner's wall clock, milliseconds ahead. */
  readonly wallOffsetsMs: readonly number[];
  /** How long things go wrong, milliseconds. */
  readonly faultyMs: number;
}

export const LIFE_MAX_MS = 60_000;

export function settingOf(chance: Chance): Setting {
  const pick = <T>(point: string, of: readonly [T, ...T[]]): T =>
    of[chance.setting(point, 0, of.length - 1)] ?? of[0];
  const slices = 1 + chance.setting('slices', 0, 2);
  const total = (slices * (0.1 + Math.floor(chance.draw('size', 0) * 20) / 100)).toFixed(2);
  const minutes = chance.setting('minutes', 1, 3);
  const base = aPolicy();
  const owners = chance.setting('owners', 0, 3) === 3 ? 3 : 2;
  return {
    owners,
    total,
    strategy: aStrategy('a', 'twap', {
      pair: 'btcusd',
      side: chance.setting('sells', 0, 1) === 1 ? 'sell' : 'buy',
      total_quantity: { amount: total, currency: 'btc' },
      duration: `PT${minutes}M`,
      slices,
      catch_up: pick('catch up', ['pace', 'extend', 'skip']),
    }),
    policy: {
      ...base,
      accountPollMs: 30_000,
      adoptFills: true,
      inDoubt: {
        ...base.inDoubt,
        lifeMaxMs: LIFE_MAX_MS,
      },
      reference: { ...base.reference, intervalMs: 15_000, maxAgeMs: 60_000 },
      // A desk looks at its clocks less often than it runs: nothing of what follows may rest on that.
      continuity: { ...base.continuity, everyMs: 5_000 },
      limits: { ...base.limits, orderNotionalMax: money('1000000') },
    },
    venue: venueOf(chance, pick('quote life', [60_000, 10_000, 30_000])),
    leaseMs: pick('lease', [3_000, 6_000, 10_000]),
    retryMs: 1_000,
    isSynchronous: chance.setting('asynchronous', 0, 3) < 3,
    venueLatencyMs: pick('venue latency', [40, 150, 600]),
    storeLatencyMs: pick('store latency', [1, 5, 60]),
    hasLookup: chance.setting('look-up', 0, 3) === 3,
    hasBootClock: chance.setting('boot clock', 0, 1) === 1,
    wallOffsetsMs: Array.from({ length: owners }, (_, n) =>
      chance.setting(`wall ${n} off`, 0, 3) === 3
        ? Math.round(between(chance.draw('wall', n), -90_000, 90_000))
        : 0,
    ),
    faultyMs: minutes * 60_000 + between(chance.draw('tail', 0), 60_000, 240_000),
  };
}

const optionsBefore = new Map<string, VenueOptions>();

/** Options are checked by their schema, which takes longer than many a run: those that were seen are kept. */
function venueOf(chance: Chance, quoteLifeMs: number): VenueOptions {
  const lag = chance.setting('booking lag', 0, 2) * 4_000;
  const input = {
    accounts: [{ name: 'desk', token: 'sim-token', balances: { usd: '1000000', btc: '25' } }],
    pairs: { btcusd: { startPrice: '60000' } },
    quoteLifeMs,
    cancelProbability: chance.setting('cancels', 0, 3) === 3 ? 0.25 : 0,
    booking: { delaysMs: [lag] },
  };
  const key = JSON.stringify(input);
  let options = optionsBefore.get(key);
  if (options === undefined) {
    options = venueOptions(input);
    optionsBefore.set(key, options);
  }
  return { ...options, seed: String(chance.draw('venue seed', 0)) };
}
