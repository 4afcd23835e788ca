import { solvedOver } from '../../src/research/run/wake-index.ts';
import { presetModel } from '../../src/research/run/model.ts';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import type { StoredRecord } from '../../src/core/record.ts';
import { money, ratio } from '../../src/core/money.ts';
import { hash32, mix, seededRandom } from '../../src/simulator/market/random.ts';
import { aPolicy, aStrategy } from '../engine/harness.ts';
import { aRun, walkTape } from './bench.ts';

/** A model with random settings within a realistic range. */
export function randomModel(seed: string): ExecutionModel {
  const random = seededRandom(`model ${seed}`);
  const between = (low: number, high: number): number => low + (high - low) * random.next();
  return {
    ...presetModel('tight'),
    halfSpreadBps: Number(between(1, 25).toFixed(2)),
    impactBps: Number(between(5, 60).toFixed(2)),
    quoteLifeMs: Math.round(between(10_000, 20_000)),
    quoteLatencyMs: 2 * Math.round(between(20, 400)),
    orderLatencyMs: 2 * Math.round(between(20, 400)),
    rejectedShare: Number(between(0, 0.15).toFixed(3)),
    unavailableShare: Number(between(0.02, 0.15).toFixed(3)),
    unavailableMs: 1_000 * Math.round(between(60, 500)),
    feeBps: Number(between(0, 12).toFixed(1)),
    maxUsd: String(Math.round(between(40_000, 120_000))),
  };
}

/** A desk that buys and sells in many sizes, one slice every `everyMinutes`, with `slices` slices on each side. */
export function journalUnder(
  model: Partial<ExecutionModel>,
  { seed, slices, everyMinutes = 7, tapes = marketOf(seed, slices * everyMinutes) }: { readonly seed: string; readonly slices: number; readonly everyMinutes?: number; readonly tapes?: readonly Tape[] },
): readonly StoredRecord[] {
  const key = hash32(seed);
  const each = (side: number): number => 2 ** ((mix(key + side) / 2 ** 32) * 2 - 1);
  const strategies = [0, 1, 2, 3].map((n) =>
    aStrategy(`s${n}`, 'twap', {
      pair: 'btcusd',
      side: n % 2 === 0 ? 'buy' : 'sell',
      // From about 1,000 to about 100,000 USD per slice.
      total_notional: { amount: String(Math.round(1_000 * 5 ** n * each(n) * (slices / 4))), currency: 'usd' },
      duration: `PT${slices * everyMinutes - 1}M`,
      slices: Math.floor(slices / 4),
      jitter: { time_pct: 90, size_pct: 50, seed: n },
    }),
  );
  const { limits } = aPolicy();
  const ran = aRun({
    tapes,
    strategies,
    model,
    seed,
    nextPossible: solvedOver(tapes),
    holdings: { usd: '1000000000', btc: '100000' },
    policy: { limits: { ...limits, collarBps: ratio('9000'), orderNotionalMax: money('10000000'), dayNotionalMax: money('10000000000') } },
  });
  return [...ran.journal.read()];
} // prettier-ignore

export const marketOf = (seed: string, minutes: number): readonly Tape[] => [
  walkTape({ pair: 'btcusd', rows: minutes + 10, seed, startPrice: 60_000, volatility: 0.0008 }),
];

/** Prices every second. */
export const secondsOf = (seed: string, seconds: number, volatility: number): readonly Tape[] => [
  walkTape({ pair: 'btcusd', rows: seconds, seed, barMs: 1_000, startPrice: 60_000, volatility }),
];
