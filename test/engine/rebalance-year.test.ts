import { describe, expect, it } from 'vitest';
import { settings } from './rebalance-year.ts';
import { expectPlainArithmetic, someBars } from './rebalance-year-check.ts';

/** `rebalance-data.slow.test.ts` does the same with real bars. */
describe('a portfolio of five assets over generated hours', () => {
  const bars = someBars();

  it.each(settings)(
    'matches an independent calculation and ends within its band: $driftType drift, to $rebalanceTo',
    (setting) => {
      expect(expectPlainArithmetic(bars, setting).trades).toBeGreaterThan(20);
    },
  );
});
