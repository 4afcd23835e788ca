import { describe, expect, it } from 'vitest';
import { areEven } from '../../src/backtest/history.ts';
import { tapeFrom } from './markets.ts';

const history = (barMs: number, ...times: readonly number[]) =>
  tapeFrom('btcusd', barMs, times.map((at) => [at, 1] as const)); // prettier-ignore
const even = history(10, 0, 10, 20, 30);

describe('histories', () => {
  it('are even when each has a bar at every instant of the others, and none is missing', () => {
    expect(areEven([even, history(10, 0, 10, 20, 30)])).toBe(true);
    expect(areEven([even])).toBe(true);
    expect(areEven([history(10, 0, 50, 70)])).toBe(false);
    expect(areEven([])).toBe(false);
  });

  it.each([
    ['one begins earlier, with a gap', history(10, 0, 10, 20, 30), history(10, 0, 20, 30, 40)],
    ['one begins earlier, with a gap, and they end together', history(10, 10, 20, 30, 40), history(10, 0, 20, 30, 40)],
    ['one ends later, with a gap', even, history(10, 0, 10, 20, 40)],
    ['one has more', even, history(10, 0, 10, 20)],
    ['bars are of other lengths', even, history(5, 0, 10, 20, 30)],
    ['both have gaps, which may be others', history(10, 0, 20, 30), history(10, 0, 10, 30)],
    ['they are trades, of which several may share an instant', history(0, 0, 0, 0), history(0, 0, 0, 0)],
  ])('are not when %s', (_, one, two) => {
    expect(areEven([one, two])).toBe(false);
  }); // prettier-ignore
});
