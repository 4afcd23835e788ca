import { describe, expect, it } from 'vitest';
import { settings } from '../engine/rebalance-year.ts';
import { expectPlainTrades, someBars } from '../engine/rebalance-year-check.ts';
import { portfolioRun } from './portfolio.ts';

describe('a portfolio with a drift band over generated hours', () => {
  const bars = someBars();

  it.each(settings)(
    'trades in a backtest as plain arithmetic predicts: $driftType drift, to $rebalanceTo',
    (setting) => {
      const { trades } = portfolioRun(bars, setting);
      expect(expectPlainTrades(bars, setting, trades).trades).toBeGreaterThan(20);
    },
  );
});
