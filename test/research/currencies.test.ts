import { describe, expect, it } from 'vitest';
import { settings } from '../engine/rebalance-year.ts';
import { someBars } from '../engine/rebalance-year-check.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { aStrategy } from '../engine/harness.ts';
import { aRun, at, walkTape } from './bench.ts';
import { expectRateAlone, expectSameInUsdt, fillsOf, rateTape } from './currencies.ts';

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

  it('starts where the first price of the rate is too old by then, and trades once there is another', () => {
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
