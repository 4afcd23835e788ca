import { describe, expect, it } from 'vitest';
import { settings } from './rebalance-year.ts';
import { someBars } from './rebalance-year-check.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { aStrategy } from '../engine/harness.ts';
import { aRun, at, fillsOf, walkTape } from './bench.ts';
import { expectRateAlone, expectSameInUsdt, rateTape } from './currencies.ts';

describe('a portfolio of five assets in usdt, with limits in usd', () => {
  const bars = someBars();

  it.each(settings.filter(({ rebalanceTo }) => rebalanceTo === 'target'))(
    'trades the same as in usd to the last decimal if the rate is 1: $driftType, $rebalanceTo',
    (setting) => {
      expect(expectSameInUsdt(bars, setting)).toBeGreaterThan(20);
    },
  );

  it('trades the same under a series of rates, with figures that differ only by the rate', () => {
    const [setting] = settings;
    if (setting === undefined) throw new Error('no setting');
    const tape = rateTape(bars, (hour) => 1 + 0.002 * Math.sin(hour / 50));
    expect(expectRateAlone(bars, setting, tape)).toBeGreaterThan(20);
  });

  it('starts although the rate is too old, and trades once there is a newer rate', () => {
    const tapes = [
      walkTape({ pair: 'btcusdt', rows: 120, startPrice: 60_000 }),
      walkTape({
        pair: 'usdtusd',
        rows: 120,
        startPrice: 1,
        volatility: 0.00001,
        isMissing: (row) => row > 0 && row < 30,
      }),
    ];
    const twap = aStrategy('buy', 'twap', {
      pair: 'btcusdt',
      side: 'buy',
      total_notional: { amount: '1000', currency: 'usdt' },
      duration: 'PT1H',
      slices: 4,
    });
    const ran = aRun({
      tapes,
      strategies: [twap],
      from: at(10),
      holdings: { usdt: '10000' },
      model: { gapMax: MINUTE_MS },
    });
    expect(fillsOf(ran).map((fill) => fill.at >= at(30))).toEqual([true, true, true]);
    const unpriced = [...ran.journal.read()].flatMap(({ body }) =>
      body.kind === 'slice' && body.result !== 'filled' ? [body.reason] : [],
    );
    expect(unpriced).toEqual(['no_usd_rate']);
  });
});
