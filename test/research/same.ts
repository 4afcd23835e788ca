import fc from 'fast-check';
import { expect } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { solvedOver } from '../../src/research/run/wake-index.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { hash32, normalAt } from '../../src/simulator/market/random.ts';
import { aPolicy, aStrategy, START } from '../engine/harness.ts';
import { aRun, closesTape } from './bench.ts';
import type { Ran, RunShape } from './bench.ts';

/** Random desks over random tapes, to compare the jumping backtest with the one that processes every row. */

const PRICES = { btcusd: 60_000, ethusd: 3_000, ethbtc: 0.05 } as const;
type PairName = keyof typeof PRICES;

/** Bars or trades with gaps, prices that often repeat or return to a level, and rows of several tapes at the same instant. */
const aTape = (pair: PairName): fc.Arbitrary<Tape> =>
  fc
    .record({
      seed: fc.integer({ min: 0, max: 1_000_000 }),
      rows: fc.integer({ min: 20, max: 70 }),
      barMs: fc.constantFrom(0, MINUTE_MS, MINUTE_MS, 5 * MINUTE_MS),
      offsetMs: fc.constantFrom(0, 0, 0, 17_000, 30_500),
      holes: fc.constantFrom(0, 0.05, 0.4),
      volatility: fc.constantFrom(0.0005, 0.003, 0.02),
      /** Prices on a coarse grid, so that levels are met exactly and drifts repeat. */
      grain: fc.constantFrom(1e-6, 0.001, 0.01),
    })
    .map(({ seed, rows, barMs, offsetMs, holes, volatility, grain }) => {
      const key = hash32(`${pair} ${seed}`);
      const [times, closes]: [number[], number[]] = [[], []];
      const step = barMs === 0 ? 20_000 : barMs;
      let [logarithm, at] = [0, START + offsetMs];
      for (let row = 0; row < rows; row++) {
        const drawn = Math.abs(normalAt(key, 1, row));
        logarithm += volatility * normalAt(key, 0, row);
        // Several trades may share an instant; bars never do.
        if (row > 0)
          at += barMs === 0 && drawn < 0.2 ? 0 : step * (drawn < 2 * holes ? 1 + Math.floor(40 * drawn) : 1);
        times.push(at);
        closes.push(Number((PRICES[pair] * Math.exp(Math.round(logarithm / grain) * grain)).toPrecision(9)));
      }
      return closesTape(pair, { barMs, times, closes });
    });

const fraction = (min: number, max: number): fc.Arbitrary<string> =>
  fc
    .integer({ min: Math.round(min * 10_000), max: Math.round(max * 10_000) })
    .map((parts) => (parts / 10_000).toFixed(4));

const aLimit = fc
  .record({
    side: fc.constantFrom('buy', 'sell'),
    pair: fc.constantFrom('btcusd', 'ethusd'),
    distance: fc.integer({ min: -30, max: 30 }),
    total: fc.constantFrom('0.2', '0.05'),
  })
  .map(({ side, pair, distance, total }) => ({
    kind: 'limit',
    params: {
      pair,
      side,
      limit_price: String(Math.round(PRICES[pair as PairName] * (1 + distance / 1000))),
      total_quantity: { amount: total, currency: pair.slice(0, 3) },
      max_slice_notional: { amount: '2000', currency: 'usd' },
    },
  }));

const aBand = fc
  .record({
    btc: fraction(0.1, 0.5),
    eth: fraction(0, 0.4),
    via: fc.boolean(),
    drift: fc.constantFrom('absolute', 'relative'),
    threshold: fraction(0.002, 0.08),
    to: fc.constantFrom('target', 'target', 'target', 'band_edge'),
    buffer: fc.constantFrom(undefined, '5000'),
  })
  .map(({ btc, eth, via, drift, threshold, to, buffer }) => ({
    kind: 'rebalance',
    params: {
      target_weights: { btc, eth, usd: (1 - Number(btc) - Number(eth)).toFixed(4) },
      drift_type: drift,
      drift_threshold: threshold,
      rebalance_to: to,
      min_interval: 'PT7M',
      valuation_tolerance: '0.9',
      ...(via ? { via: { eth: 'btc' } } : {}),
      ...(buffer === undefined ? {} : { cash_buffer: { amount: buffer, currency: 'usd' } }),
    },
  }));

const aSchedule = fc
  .record({ slices: fc.integer({ min: 2, max: 12 }), seed: fc.integer({ min: 1, max: 99 }) })
  .map(({ slices, seed }) => ({
    kind: 'twap',
    params: {
      pair: 'btcusd',
      side: 'buy',
      total_quantity: { amount: '0.4', currency: 'btc' },
      duration: 'PT1H',
      slices,
      jitter: { time_pct: 40, size_pct: 10, seed },
    },
  }));

const aPlan = fc.constantFrom({
  kind: 'recurring',
  params: {
    pair: 'ethusd',
    side: 'buy',
    each_notional: { amount: '300', currency: 'usd' },
    schedule: { cron: '*/7 * * * *' },
  },
});

const aSweep = fc.constantFrom({
  kind: 'sweep',
  params: {
    pair: 'btcusd',
    from: 'btc',
    to: 'usd',
    keep: { amount: '1.2', currency: 'btc' },
    min_trade_notional: { amount: '20', currency: 'usd' },
  },
});

type Wish = { readonly kind: string; readonly params: Record<string, unknown> };
const aWish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 4, arbitrary: aLimit },
  { weight: 5, arbitrary: aBand },
  { weight: 2, arbitrary: aSchedule },
  { weight: 1, arbitrary: aPlan },
  { weight: 1, arbitrary: aSweep },
);

/** The inputs of a backtest. */
export type Case = Pick<RunShape, 'tapes' | 'strategies' | 'model' | 'seed' | 'holdings' | 'policy'>;

export const aCase: fc.Arbitrary<Case> = fc
  .record({
    tapes: fc.tuple(aTape('btcusd'), aTape('ethusd'), aTape('ethbtc')),
    wishes: fc.array(aWish, { minLength: 1, maxLength: 3 }),
    latencyMs: fc.constantFrom(0, 0, 40, 700),
    unavailableShare: fc.constantFrom(0, 0, 0.3),
    rejectedShare: fc.constantFrom(0, 0, 0.1),
    lastLookBps: fc.constantFrom(undefined, 1),
    refused: fc.constantFrom(undefined, undefined, undefined, 'btcusd', 'ethusd'),
    gapMax: fc.constantFrom(1_000, 10 * MINUTE_MS, 1_000 * MINUTE_MS),
    seed: fc.integer({ min: 0, max: 1_000 }).map(String),
  })
  .map(({ tapes, wishes, latencyMs, seed, refused, ...model }) => ({
    tapes,
    strategies: wishes.map(({ kind, params }, i): StrategySource => aStrategy(`${kind}-${i}`, kind, params)),
    model: {
      ...model,
      quoteLatencyMs: latencyMs,
      orderLatencyMs: latencyMs,
      maxUsd: '20000',
      unavailableMs: MINUTE_MS,
    },
    seed,
    holdings: { usd: '60000', btc: '1', eth: '12' },
    policy:
      refused === undefined
        ? {}
        : {
            limits: {
              ...aPolicy().limits,
              pairs: new Set(Object.keys(PRICES).filter((pair) => pair !== refused)),
            },
          },
  }))
  .filter(({ tapes }) => {
    const firsts = tapes.map(({ times, barMs }) => (times[0] ?? 0) + barMs);
    const lasts = tapes.map(({ times, barMs }) => (times.at(-1) ?? 0) + barMs);
    return Math.max(...firsts) < Math.min(...lasts);
  });

/** Counts of the events in a case. */
export interface Seen {
  readonly records: number;
  readonly fills: number;
  readonly byPrice: number;
  readonly byDrift: number;
  /** Rests of a rebalancing that a limit blocks. */
  readonly rests: number;
}

/** Runs a case twice, with every row and with jumps, and expects the same records at the same instants. */
export function sameInBothWays(one: Case): Seen {
  // The other journal too: it makes the text of a record when it is appended.
  const every = aRun({ ...one, journal: memoryJournal() });
  const jumped = aRun({ ...one, nextPossible: solvedOver(one.tapes) });
  if (jumped.journal.head().hash !== every.journal.head().hash)
    expect(linesOf(jumped)).toEqual(linesOf(every));
  const lines = [...every.journal.lines()];
  const woken = (on: string): number =>
    lines.filter(({ kind, body }) => kind === 'wake' && body.includes(`"on":"${on}"`)).length;
  return {
    records: lines.length,
    fills: lines.filter(({ kind }) => kind === 'fill').length,
    byPrice: woken('price'),
    byDrift: woken('drift'),
    rests: lines.filter(({ kind, body }) => kind === 'wake' && body.includes('"on":"lifted"')).length,
  };
}

const linesOf = (ran: Ran): readonly string[] =>
  [...ran.journal.lines()].map(({ at, body }) => `${at} ${body}`);
