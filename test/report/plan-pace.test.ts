import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { peakOf, waitsOf } from '../../src/planning/check-pace.ts';

const pace = { quotesPerSecond: 8, ordersPerSecond: 2, guardMs: 0 };
const times = fc
  .array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 })
  .map((all) => all.toSorted((a, b) => a - b));

describe('peakOf', () => {
  it.each<readonly [string, readonly number[], ReturnType<typeof peakOf>]>([
    ['no peak without times', [], undefined],
    ['a single time', [5], { count: 1, at: 5 }],
    ['the times within a second, without the start of the next second', [0, 999, 1_000], { count: 2, at: 0 }],
    ['the first of equal peaks', [0, 10, 5_000, 5_010], { count: 2, at: 0 }],
    ['a window that does not start at a full second', [900, 1_100, 1_800], { count: 3, at: 900 }],
  ])('finds %s', (_what, all, expected) => {
    expect(peakOf(all)).toEqual(expected);
  });
});

describe('waitsOf', () => {
  it('returns no wait for an order that is alone in its second', () => {
    expect(waitsOf([0, 1_000, 2_000], pace)).toEqual([0, 0, 0]);
  });

  it('serves two of many simultaneous orders per second', () => {
    expect(waitsOf([0, 0, 0, 0, 0], pace)).toEqual([0, 0, 1_000, 1_000, 2_000]);
  });

  it('waits for quotes if their limit is the lower one', () => {
    const few = { quotesPerSecond: 1, ordersPerSecond: 60, guardMs: 5 };
    expect(waitsOf([0, 0, 0], few)).toEqual([0, 1_005, 2_010]);
  });

  it('never lets more orders than allowed leave in any second, and serves none before its time', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 5 }), (all, ordersPerSecond) => {
        const waits = waitsOf(all, { ...pace, ordersPerSecond });
        const left = all.map((at, i) => at + (waits[i] ?? 0));
        expect(waits.every((wait) => wait >= 0)).toBe(true);
        expect(peakOf(left)?.count ?? 0).toBeLessThanOrEqual(ordersPerSecond);
      }),
    );
  });
});
