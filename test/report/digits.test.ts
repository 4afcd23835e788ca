import { describe, expect, it } from 'vitest';
import { fourDecimals, nineDigits, withFourDecimals } from '../../src/report/figures/digits.ts';

/** Numbers of all sizes, numbers close to a rounding boundary, and special values. */
function* numbers(): Generator<number> {
  yield* [
    0, -0, 1, -1, 0.1, 1e8, 1e9, 999_999_999.5, 99_999_999.95, 1e21, 1e23, 5e-324, 1.7e308, 1e-7, 0.00005,
    0.00015,
  ];
  yield* [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let state = 1;
  const draw = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  for (let i = 0; i < 200_000; i++) {
    const power = Math.floor(draw() * 40) - 24;
    const sign = draw() < 0.5 ? -1 : 1;
    yield sign * (draw() + draw() / 2 ** 32) * 10 ** power;
    // Exact halves, or the doubles closest to them.
    const half = (Math.floor(draw() * 1e9) + 0.5) / 10 ** Math.floor(draw() * 16);
    yield sign * half;
    yield sign * half * (1 + Number.EPSILON);
    yield (sign * Math.round(draw() * 2e5)) / 2e4;
    yield sign * (Math.round(draw() * 2e5) / 2e4 + (draw() - 0.5) * 1e-9);
  }
}

describe('rounding to nine digits and to four decimals', () => {
  it('equals the conversion through text for any number', () => {
    const differing: number[] = [];
    for (const value of numbers()) {
      if (!Object.is(nineDigits(value), Number(value.toPrecision(9)))) differing.push(value);
      if (!Object.is(fourDecimals(value), Number(value.toFixed(4)))) differing.push(value);
    }
    expect(differing).toEqual([]);
  });

  it('is written with all four decimals', () => {
    expect([0, -0, 1, -1, 9_999, 10_000, -123_456, 999_999_999].map(withFourDecimals)).toEqual([
      '0.0000', '0.0000', '0.0001', '-0.0001', '0.9999', '1.0000', '-12.3456', '99999.9999',
    ]); // prettier-ignore
  });
});
