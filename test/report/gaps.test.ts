import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { gapsOf } from '../../src/report/figures/gaps.ts';
import type { Gaps } from '../../src/report/figures/gaps.ts';
import type { PriceColumns } from '../../src/report/figures/prices.ts';
import { hash32 } from '../../src/simulator/market/random.ts';

const columnsOf = (times: readonly number[], barMs = MINUTE_MS): PriceColumns => {
  const none = new Float64Array(times.length).fill(1);
  return { pair: 'btcusd', barMs, rows: times.length, times: Float64Array.from(times), high: none, low: none, close: none, volume: none, hash: '' }; // prettier-ignore
};

/** Row by row. */
function plainGaps(times: readonly number[], from: number, until: number): Gaps {
  const first = Math.max(
    0,
    times.findLastIndex((at) => at <= from),
  );
  const last = Math.max(
    0,
    times.findLastIndex((at) => at <= until),
  );
  let found: Gaps = { gaps: 0, missingBars: 0, longestMs: 0, longestAt: undefined };
  for (let row = first; row < last; row++) {
    const [end, next] = [(times[row] ?? 0) + MINUTE_MS, times[row + 1] ?? 0];
    if (next === end) continue;
    const isLongest = next - end > found.longestMs;
    found = {
      gaps: found.gaps + 1,
      missingBars: found.missingBars + (next - end) / MINUTE_MS,
      longestMs: isLongest ? next - end : found.longestMs,
      longestAt: isLongest ? (end as Gaps['longestAt']) : found.longestAt,
    };
  }
  return found;
}

describe('gaps of a market history', () => {
  it('equal those found row by row, for any gaps and any period', () => {
    let total = 0;
    for (let seed = 0; seed < 300; seed++) {
      const uniform = (text: string): number => hash32(`gaps ${seed} ${text}`) / 2 ** 32;
      const kept = Array.from({ length: 120 }, (_, i) => i).filter(
        (i) => uniform(`row ${i}`) > (seed % 5) / 20,
      );
      const times = kept.map((i) => i * MINUTE_MS);
      const [a, b] = ['from', 'until'].map((each) => Math.floor(uniform(each) * 130 * MINUTE_MS));
      const [from, until] = [Math.min(a ?? 0, b ?? 0), Math.max(a ?? 0, b ?? 0)];
      const found = gapsOf(columnsOf(times), from, until);
      expect(found).toEqual(plainGaps(times, from, until));
      total += found.gaps;
    }
    expect(total).toBeGreaterThan(500);
  });

  it('do not exist in single trades, in one bar, or in a complete history', () => {
    const none = { gaps: 0, missingBars: 0, longestMs: 0, longestAt: undefined };
    expect(gapsOf(columnsOf([0, 5, 900_000], 0), 0, 1e9)).toEqual(none);
    expect(gapsOf(columnsOf([0]), 0, 1e9)).toEqual(none);
    expect(gapsOf(columnsOf([0, 1, 2, 3].map((i) => i * MINUTE_MS)), 0, 1e9)).toEqual(none);
  });
});
