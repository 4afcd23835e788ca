import { describe, expect, it } from 'vitest';
import { sliceBps } from '../../src/planning/check-cost.ts';

describe('sliceBps', () => {
  it.each([
    [0, 5],
    [1_000_000, 15],
    [250_000, 10],
    [4_000_000, 25],
  ])(
    'for a slice worth %d returns half the spread plus the impact by the root of its size: %d',
    (notional, expected) => {
      expect(sliceBps(5, notional)).toBeCloseTo(expected, 12);
    },
  );
});
