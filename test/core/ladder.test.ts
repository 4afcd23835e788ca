import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { impactCurve, sizeWithin } from '../../src/core/risk/impact-curve.ts';
import type { Round } from '../../src/core/risk/impact-curve.ts';
import { money, price, ratio } from '../../src/core/money.ts';
import type { Side } from '../../src/core/venue.ts';

/** A round of prices for 10, 40 and 100 usd, each so many basis points worse than the smallest at 100. */
const aRound = (side: Side, bps: readonly number[]): Round =>
  bps.map((worse, i) => ({
    amount: money(['10', '40', '100'][i] ?? '0'),
    price: price((100 + (side === 'buy' ? 1 : -1) * (worse / 100)).toFixed(6)),
  }));
const curveOf = (side: Side, rounds: readonly (readonly number[])[]): readonly string[] | undefined =>
  impactCurve(
    rounds.map((bps) => aRound(side, bps)),
    side,
  )?.map(({ amount, bps }) => `${amount.toFixed()} ${bps.toFixed(4)}`);

describe('the impact of size', () => {
  it.each(['buy', 'sell'] as const)(
    'for a %s is the additional cost of larger sizes over the smallest',
    (side) => {
      const rounds = [
        [0, 2, 5],
        [0, 2, 5],
        [0, 2, 5],
      ];
      expect(curveOf(side, rounds)).toEqual(['10 0.0000', '40 2.0000', '100 5.0000']);
    },
  );

  it('is unknown from fewer than three rounds', () => {
    expect(curveOf('buy', [])).toBeUndefined();
    expect(
      curveOf('buy', [
        [0, 2, 5],
        [0, 2, 5],
      ]),
    ).toBeUndefined();
  });

  it('is the median, so that one outlier has no effect', () => {
    const rounds = [
      [0, 2, 5],
      [0, 400, -400],
      [0, 2, 5],
    ];
    expect(curveOf('buy', rounds)).toEqual(['10 0.0000', '40 2.0000', '100 5.0000']);
  });

  it('never decreases with size', () => {
    const rounds = [
      [0, 6, 5],
      [0, 6, 5],
      [0, 6, 5],
    ];
    expect(curveOf('buy', rounds)).toEqual(['10 0.0000', '40 6.0000', '100 6.0000']);
  });
});

describe('the largest size within a bound', () => {
  const curve = [
    { amount: money('10'), bps: ratio('0') },
    { amount: money('40'), bps: ratio('2') },
    { amount: money('100'), bps: ratio('5') },
  ];
  it.each([
    ['5', undefined],
    ['4.99', '99.8'],
    ['3.5', '70'],
    ['2', '40'],
    ['1', '25'],
    ['0', '10'],
  ])('of %s basis points is %s', (most, size) => {
    expect(sizeWithin(curve, ratio(most))?.toFixed()).toBe(size);
  });

  it('lies within the probed sizes and grows with the bound', () => {
    const bps = fc.array(fc.nat(50), { minLength: 2, maxLength: 3 });
    fc.assert(
      fc.property(bps, fc.nat(60), fc.nat(60), (steps, a, b) => {
        let sum = 0;
        const some = steps.map((step, i) => ({
          amount: money(String((i + 1) * 10)),
          bps: ratio(String(i === 0 ? 0 : (sum += step))),
        }));
        const [small, large] = [Math.min(a, b), Math.max(a, b)];
        const [one, two] = [small, large].map((most) => sizeWithin(some, ratio(String(most)))?.toNumber());
        expect(one ?? Infinity).toBeGreaterThanOrEqual(10);
        expect(two ?? Infinity).toBeGreaterThanOrEqual(one ?? Infinity);
      }),
    );
  });
});
