import { describe, expect, it } from 'vitest';
import { sliceBps } from '../../src/planning/check-cost.ts';

describe('sliceBps', () => {
  const model = { halfSpreadBps: 5, impactBps: 10 };
  it.each([
    [0, 5],
    [1_000_000, 15],
    [250_000, 10],
    [4_000_000, 25],
  ])('of a slice worth %d is half the spread and the root of its size: %d', (notional, expected) => {
    expect(sliceBps(model, notional)).toBeCloseTo(expected, 12);
  });
});
