import { strictEqual } from 'node:assert';
import { aBench, aTwap } from './harness.ts';

/** The result of one run, with the hash of its last record, which covers all records. */
export interface Leaving {
  readonly head: string;
  readonly records: number;
  readonly filled: number;
}

/** 300 slices of six twaps on a venue that often refuses and cancels; everything random follows from `seed`. */
export function runSeed(seed: string): Leaving {
  const strategies = Array.from({ length: 6 }, (_, i) =>
    aTwap(`twap-${i}`, {
      side: i % 2 === 0 ? 'buy' : 'sell',
      total_quantity: { amount: '1', currency: 'btc' },
      duration: 'PT50M',
      slices: 50,
      jitter: { time_pct: 40, size_pct: 20, seed: i },
    }),
  );
  const bench = aBench({
    strategies,
    seed,
    venue: {
      seed,
      accounts: [{ balances: { usd: '1000000', btc: '25' } }],
      unavailableProbability: 0.1,
      cancelProbability: 0.05,
      lastLookBps: 2,
    },
  });
  bench.start({ isUntilDone: true });
  bench.clock.run();
  strictEqual(bench.seen.error, undefined);
  strictEqual(bench.seen.phases.at(-1), 'stopped');
  const records = bench.records();
  return {
    head: records.at(-1)?.hash ?? '',
    records: records.length,
    filled: records.filter(({ body }) => body.kind === 'slice' && body.result === 'filled').length,
  };
}
