import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { peakOf, waitsOf } from '../../src/planning/check-pace.ts';

const pace = { quotesPerSecond: 8, ordersPerSecond: 2, guardMs: 0 };
const times = fc
  .array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 })
  .map((all) => all.toSorted((a, b) => a - b));

describe('peakOf', () => {
  it.each<readonly [string, readonly number[], ReturnType<typeof peakOf>]>([
    ['nothing', [], undefined],
    ['one', [5], { count: 1, at: 5 }],
    ['what lies within a second, not what begins the next', [0, 999, 1_000], { count: 2, at: 0 }],
    ['the first of equals', [0, 10, 5_000, 5_010], { count: 2, at: 0 }],
    ['a window that no second of the clock begins', [900, 1_100, 1_800], { count: 3, at: 900 }],
  ])('finds %s', (_what, all, expected) => {
    expect(peakOf(all)).toEqual(expected);
  });
});

describe('waitsOf', () => {
  it('lets nobody wait who has the second alone', () => {
    expect(waitsOf([0, 1_000, 2_000], pace)).toEqual([0, 0, 0]);
  });

  it('serves a crowd two orders a second', () => {
    expect(waitsOf([0, 0, 0, 0, 0], pace)).toEqual([0, 0, 1_000, 1_000, 2_000]);
  });

  it('waits for quotes where those are the fewer', () => {
    const few = { quotesPerSecond: 1, ordersPerSecond: 60, guardMs: 5 };
    expect(waitsOf([0, 0, 0], few)).toEqual([0, 1_005, 2_010]);
  });

  it('never lets more orders leave in any second than may, and serves none before its time', () => {
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
