import { describe, expect, it } from 'vitest';
import { settings } from '../engine/rebalance-year.ts';
import { expectPlainTrades, someBars } from '../engine/rebalance-year-check.ts';
import { portfolioRun } from './portfolio.ts';

describe('a portfolio that waits to drift out of its band, over made-up hours', () => {
  const bars = someBars();

  it.each(settings)(
    'is traded in a backtest as plain arithmetic says: $driftType drift, to $rebalanceTo',
    (setting) => {
      const { trades } = portfolioRun(bars, setting);
      expect(expectPlainTrades(bars, setting, trades).trades).toBeGreaterThan(20);
    },
  );
});
