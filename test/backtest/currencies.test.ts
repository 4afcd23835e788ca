import { describe, expect, it } from 'vitest';
import { settings } from '../engine/rebalance-year.ts';
import { someBars } from '../engine/rebalance-year-check.ts';
import { expectRateAlone, expectSameInUsdt, rateTape } from './currencies.ts';

describe('a portfolio of five assets in usdt, with limits in usd', () => {
  const bars = someBars();

  it.each(settings)(
    'trades as the same portfolio in usd to the last decimal where usdt is stated at 1: $driftType, $rebalanceTo',
    (setting) => {
      expect(expectSameInUsdt(bars, setting)).toBeGreaterThan(20);
    },
  );

  it('is cut to the maximum of the venue as the same portfolio in usd', () => {
    const [setting] = settings;
    if (setting === undefined) throw new Error('no setting');
    const model = { maxUsd: '25000', impactBps: 10, halfSpreadBps: 5 };
    expect(expectSameInUsdt(bars, setting, undefined, { model })).toBeGreaterThan(20);
  });

  it('trades the same over a series of rates, and differs by the rate alone', () => {
    const [setting] = settings;
    if (setting === undefined) throw new Error('no setting');
    const tape = rateTape(bars, (hour) => 1 + 0.002 * Math.sin(hour / 50));
    expect(expectRateAlone(bars, setting, tape)).toBeGreaterThan(20);
  });
});
