import { expect } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { ASSETS, inOrder, looksOf, plainTrades, SLACK, turnoverOf } from './rebalance-year.ts';
import type { Bars, Setting, Trade } from './rebalance-year.ts';

export interface Figures {
  /** Hours in which something was traded. */
  readonly rebalancings: number;
  readonly trades: number;
  /** Both ways, cents. */
  readonly turnover: bigint;
}

/** The same for trades that somebody else made over these bars. */
export function expectPlainTrades(bars: Bars, setting: Setting, trades: readonly Trade[]): Figures {
  const expected = plainTrades(bars, setting);
  expect(trades.length).toBe(expected.length);
  expect(turnoverOf(trades)).toBe(turnoverOf(expected));
  expect(inOrder(trades)).toEqual(inOrder(expected));
  const { looks, idle } = looksOf(bars, setting, trades);
  expect(idle).toEqual([]);
  expect(looks.length).toBeGreaterThan(5);
  for (const { hour, before, after } of looks) {
    expect([hour, before.some((away) => away > 0n)]).toEqual([hour, true]);
    expect([hour, after.filter((away) => away > SLACK)]).toEqual([hour, []]);
  }
  return { rebalancings: looks.length, trades: trades.length, turnover: turnoverOf(trades) };
}

/** Weeks of generated hours, volatile enough to leave every band, with some hours missing. */
export function someBars(): Bars {
  const random = seededRandom('five assets');
  const begins = { btc: 9000, eth: 400, ltc: 60, sol: 4, xrp: 0.25 };
  const rows = Object.fromEntries(
    ASSETS.map((asset) => {
      let close = begins[asset];
      const lines = ['timestamp_ms,open,high,low,close,volume'];
      for (let hour = 0; hour < 400; hour++) {
        close *= 1 + (random.next() - 0.5) * 0.06;
        if (random.next() < 0.01 && hour > 0) continue;
        const at = Date.UTC(2020, 0, 1) + hour * HOUR_MS;
        lines.push(`${at},1,1,1,${close.toFixed(5)},1`);
      }
      return [asset, lines.join('\n')];
    }),
  );
  return rows as Bars;
}
