import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aCase, sameInBothWays } from './same.ts';

/** Two thousand desks: the same test among the unit tests uses forty. */
const CASES = 2_000;

describe('a backtest that jumps from wake to wake, in two thousand cases', () => {
  it('writes the same journal as a backtest that processes every row', () => {
    const sum = { records: 0, fills: 0, byPrice: 0, byDrift: 0 };
    fc.assert(
      fc.property(aCase, (one) => {
        const seen = sameInBothWays(one);
        for (const name of ['records', 'fills', 'byPrice', 'byDrift'] as const) sum[name] += seen[name];
      }),
      { numRuns: CASES, seed: 2026 },
    );
    expect(sum.byPrice).toBeGreaterThan(CASES);
    expect(sum.byDrift).toBeGreaterThan(CASES);
    process.stdout.write(
      `${CASES} cases in all three ways: ${sum.records} records, ${sum.fills} fills, ${sum.byPrice} wakes by a price, ${sum.byDrift} by a drift\n`,
    );
  });
});
