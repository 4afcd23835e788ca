import { describe, expect, it } from 'vitest';
import { money } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, instant } from '../../src/core/time.ts';
import { millionBpsOf } from '../../src/research/run/market-depth.ts';
import { presetModel, presets } from '../../src/research/run/model.ts';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import { Impact } from '../../src/simulator/exchange/impact.ts';
import { aTwap, START } from '../engine/harness.ts';
import { aRun, fillsOf, stillTape, walkTape } from './bench.ts';

const still = stillTape(300, 1_000);

/** Mean price of one million USD in `slices` slices over two hours, in basis points above the market. */
function costOf(slices: number, model: Partial<ExecutionModel>): number {
  const ran = aRun({
    tapes: [still],
    strategies: [aTwap('twap', { duration: 'PT2H', slices, total_quantity: { amount: '1000', currency: 'btc' } })], // prettier-ignore
    model: { ...presetModel('tight'), halfSpreadBps: 0, impactBps: 10, maxUsd: '2000000', pricePrecision: 8, ...model }, // prettier-ignore
    holdings: { usd: '2000000' },
    policy: { minimumOf: () => ({}) },
  });
  const fills = fillsOf(ran);
  const bought = fills.reduce((sum, { quantity }) => sum + Number(quantity), 0);
  expect(bought).toBeCloseTo(1_000, 8);
  return (fills.reduce((sum, { amount }) => sum + Number(amount), 0) / bought / 1_000 - 1) * 10_000;
}

describe('price impact with a memory', () => {
  it('is absent from the presets, whose impact falls with the square root of the number of slices', () => {
    for (const preset of Object.values(presets)) expect(preset.impact_memory).toBe('none');
    expect(costOf(2, {})).toBeCloseTo(10 / Math.SQRT2, 2);
    expect(costOf(4, {})).toBeCloseTo(5, 2);
    expect(costOf(64, {})).toBeCloseTo(10 / 8, 2);
  });

  it('is not reduced by slices if it is remembered long enough', () => {
    const long = { impactMemory: 1_000 * DAY_MS };
    expect(costOf(2, long)).toBeCloseTo(10, 2);
    expect(costOf(64, long)).toBeCloseTo(10, 1);
  });

  it('limits the savings of slices: beyond one per half-life, four times as many save less than 3 %', () => {
    const model = { impactMemory: 10 * MINUTE_MS };
    const [few, some, many] = [3, 12, 48].map((slices) => costOf(slices, model));
    expect(some).toBeLessThan(0.85 * (few ?? 0));
    expect(many).toBeLessThan(some ?? 0);
    expect(many).toBeGreaterThan(0.97 * (some ?? 0));
  });

  const buy = { pair: 'btcusd', side: 'buy', millionBps: 10 } as const;
  const million = money('1000000');
  const at = (ms: number): ReturnType<typeof instant> => instant(START + ms);

  it('is computed for a size on top of the remembered size, half of which remains after the half-life', () => {
    const impact = new Impact({ halfLifeMs: HOUR_MS });
    impact.add('btcusd', 'buy', million, at(0));
    expect(impact.bps(buy, million, at(0))).toBeCloseTo(10 * (2 ** 1.5 - 1), 9);
    expect(impact.bps(buy, million, at(HOUR_MS))).toBeCloseTo(10 * (1.5 ** 1.5 - 0.5 ** 1.5), 9);
    expect(impact.bps({ ...buy, pair: 'ethusd' }, million, at(0))).toBeCloseTo(10, 9);
  });

  it('is that of each side alone, so that no round trip profits from its own impact', () => {
    const impact = new Impact({ halfLifeMs: HOUR_MS });
    impact.add('btcusd', 'buy', million, at(0));
    expect(impact.bps({ ...buy, side: 'sell' }, million, at(1))).toBeCloseTo(10, 9);
    // A sale does not change the remembered purchases, as docs/backtest.md states.
    impact.add('btcusd', 'sell', money('400000'), at(1));
    expect(impact.bps(buy, million, at(1))).toBeCloseTo(10 * (2 ** 1.5 - 1), 3);
    expect(impact.bps({ ...buy, side: 'sell' }, million, at(1))).toBeCloseTo(
      10 * (1.4 ** 1.5 - 0.4 ** 1.5),
      3,
    );
  });
});

describe('price impact by participation', () => {
  const tape = walkTape({ pair: 'btcusd', rows: 3_000, startPrice: 1_000, volatility: 0.001 });

  it('follows the square-root law with the volatility and the volume of the previous 24 hours', () => {
    const now = instant(START + 2_000 * MINUTE_MS + 7);
    const end = Math.floor(now / HOUR_MS) * HOUR_MS;
    const rows = [...tape.close.keys()].filter((row) => {
      const known = (tape.times[row] ?? 0) + MINUTE_MS;
      return known > end - DAY_MS && known <= end;
    });
    const closes = rows.map((row) => tape.close[row] ?? 0);
    const volume = rows.reduce((sum, row) => sum + (tape.close[row] ?? 0) * (tape.volume[row] ?? 0), 0);
    const variance = closes
      .slice(1)
      .reduce((sum, close, i) => sum + Math.log(close / (closes[i] ?? 1)) ** 2, 0);
    expect(rows.length).toBe(1_440);
    expect(millionBpsOf(tape, 0.8)(now)).toBeCloseTo(
      0.8 * 10_000 * Math.sqrt(variance) * Math.sqrt(1e6 / volume),
      6,
    );
  });

  it('does not depend on later rows', () => {
    const now = instant(START + 2_000 * MINUTE_MS);
    const changed = { ...tape, close: tape.close.map((close, row) => (row > 2_000 ? close * 2 : close)) };
    expect(millionBpsOf(changed, 1)(now)).toBe(millionBpsOf(tape, 1)(now));
  });

  it('raises the prices of a backtest on thin volume, and refuses a tape without volume', () => {
    const prices = (volume: number): readonly number[] => {
      const own = { ...tape, volume: tape.volume.map(() => volume) };
      const ran = aRun({
        tapes: [own],
        from: instant(START + 1_500 * MINUTE_MS),
        strategies: [aTwap('twap', { duration: 'PT1H', slices: 2, start_time: undefined })],
        model: { ...presetModel('tight'), halfSpreadBps: 0, impactParticipation: 1 },
      });
      return fillsOf(ran).map(({ price }) => Number(price));
    };
    const [thin, thick] = [prices(1), prices(100)];
    expect(thin.length).toBe(2);
    for (const [i, price] of thin.entries()) expect(price).toBeGreaterThan(thick[i] ?? Infinity);
    expect(() => prices(Number.NaN)).toThrow(
      'impact_participation needs volume: the prices of btcusd have none',
    );
  });
});
