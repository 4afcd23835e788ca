import { expect } from 'vitest';
import { engineTrades, inOrder, looksOf, plainTrades, SLACK, turnoverOf } from './rebalance-year.ts';
import type { Bars, Setting } from './rebalance-year.ts';

export interface Figures {
  /** Hours in which something was traded. */
  readonly rebalancings: number;
  readonly trades: number;
  /** Both ways, cents. */
  readonly turnover: bigint;
}

/** The engine trades what plain arithmetic says, to the last unit, and is within its band after every hour that traded. */
export function expectPlainArithmetic(bars: Bars, setting: Setting): Figures {
  const { trades, bench } = engineTrades(bars, setting);
  expect(bench.seen.error).toBeUndefined();
  expect(bench.desk.state.control).toBe('active');
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
