import { describe, expect, it } from 'vitest';
import { settings } from './rebalance-year.ts';
import { expectPlainArithmetic, someBars } from './rebalance-year-check.ts';

/** The twin of `rebalance-data.slow.test.ts`, which does the same with real bars. */
describe('a portfolio of five assets over made-up hours', () => {
  const bars = someBars();

  it.each(settings)(
    'is traded as plain arithmetic says, and is in its band after it: $driftType drift, to $rebalanceTo',
    (setting) => {
      expect(expectPlainArithmetic(bars, setting).trades).toBeGreaterThan(20);
    },
  );
});
