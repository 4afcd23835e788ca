import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { solvedOver } from '../../src/research/run/wake-index.ts';
import type { NextPossible } from '../../src/research/run/tape-market.ts';
import { settings } from './rebalance-year.ts';
import { expectPlainTrades, someBars } from './rebalance-year-check.ts';
import { aStrategy } from '../engine/harness.ts';
import { aRun, walkTape } from './bench.ts';
import { portfolioRun } from './portfolio.ts';
import { aCase, sameInBothWays } from './same.ts';

describe('a backtest that jumps from wake to wake', () => {
  it('writes the same journal as a backtest that processes every row, for any tapes, desks and gaps', () => {
    const sum = { fills: 0, byPrice: 0, byDrift: 0, rests: 0 };
    fc.assert(
      fc.property(aCase, (one) => {
        const seen = sameInBothWays(one);
        sum.fills += seen.fills;
        sum.byPrice += seen.byPrice;
        sum.byDrift += seen.byDrift;
        sum.rests += seen.rests;
      }),
      { numRuns: 40, seed: 6 },
    );
    expect(sum.fills).toBeGreaterThan(100);
    expect(sum.byPrice).toBeGreaterThan(20);
    expect(sum.byDrift).toBeGreaterThan(50);
    expect(sum.rests).toBeGreaterThan(10);
  });

  it('processes only the few prices at which a wait may be met', () => {
    const tapes = [walkTape({ pair: 'btcusd', rows: 5_000, startPrice: 60_000, volatility: 0.0005 })];
    const band = aStrategy('band', 'rebalance', {
      target_weights: { btc: '0.5', usd: '0.5' },
      drift_type: 'absolute',
      drift_threshold: '0.01',
    });
    const toldOf = (nextPossible: NextPossible | undefined): readonly [number, string] => {
      let told = 0;
      const reference = (): void => {
        told++;
      };
      const ran = aRun({ tapes, strategies: [band], nextPossible, observer: { reference } });
      return [told, ran.journal.head().hash];
    };
    const [every, one] = toldOf(undefined);
    expect(every).toBeGreaterThan(4_990);
    const [some, other] = toldOf(solvedOver(tapes));
    expect(other).toBe(one);
    expect(some).toBeLessThan(100);
  });

  it.each(settings)(
    'rebalances five assets as plain arithmetic predicts: $driftType drift, to $rebalanceTo',
    (setting) => {
      const bars = someBars();
      const { trades } = portfolioRun(bars, setting, solvedOver);
      expect(expectPlainTrades(bars, setting, trades).rebalancings).toBeGreaterThan(5);
    },
  );
});
