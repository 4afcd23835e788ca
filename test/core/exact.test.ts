import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wholeText } from '../../src/core/exact-digits.ts';
import { Exact } from '../../src/core/exact.ts';

/** What every result is held against: 80 digits, towards zero. */
const Oracle = Decimal.clone({ precision: 80, rounding: Decimal.ROUND_DOWN, toExpNeg: -100, toExpPos: 100 });

const digits = (max: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.bigInt({ min: 0n, max: 10n ** BigInt(max) }).map(String),
    // Where carries, halves and the ends of the safe integers are.
    fc.constantFrom(
      '0',
      '1',
      '5',
      '9',
      '10',
      '25',
      '50',
      '99',
      '9007199254740991',
      '9007199254740992',
      '9007199254740993',
      '4503599627370496',
      '999999999999999',
      '9999999999999999',
    ),
    fc
      .tuple(fc.constantFrom('1', '5', '9', '15', '25', '99'), fc.nat({ max }))
      .map(([head, zeros]) => head + '0'.repeat(zeros)),
    fc.nat({ max }).map((nines) => '9'.repeat(nines + 1)),
  );

/** Numbers as amounts are, and now and then as they never should be. */
const aNumber: fc.Arbitrary<string> = fc
  .record({
    sign: fc.constantFrom('', '', '-'),
    digits: fc.oneof(
      { weight: 5, arbitrary: digits(12) },
      { weight: 3, arbitrary: digits(20) },
      { weight: 1, arbitrary: digits(95) },
    ),
    scale: fc.oneof(
      { weight: 5, arbitrary: fc.nat({ max: 10 }) },
      { weight: 1, arbitrary: fc.nat({ max: 130 }) },
    ),
    exponent: fc.oneof(
      { weight: 8, arbitrary: fc.constant('') },
      fc.integer({ min: -30, max: 30 }).map((power) => `e${power}`),
    ),
  })
  .map(({ sign, digits: all, scale, exponent }) => {
    const padded = all.padStart(scale + 1, '0');
    return `${sign}${scale === 0 ? padded : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`}${exponent}`;
  });

const places = fc.oneof(fc.nat({ max: 10 }), fc.nat({ max: 100 }));

/** Every digit and the sign of zero. */
const same = (ours: Exact, theirs: Decimal): void => {
  if (ours.valueOf() !== theirs.valueOf()) expect(ours.valueOf()).toBe(theirs.valueOf());
  // One form only: what is equal is equal in every field.
  if (Number.isFinite(ours.n)) expect(Exact.of(ours.valueOf())).toEqual(ours);
};

const RUNS = { numRuns: Number(process.env['EXACT_RUNS'] ?? 3_000) };

const modes = [
  ['down', Decimal.ROUND_DOWN],
  ['up', Decimal.ROUND_UP],
  ['even', Decimal.ROUND_HALF_EVEN],
] as const;

describe('an exact number', () => {
  it('is read as it is written, and written in the same words', () => {
    fc.assert(
      fc.property(aNumber, (text) => {
        const [ours, theirs] = [Exact.of(text), new Oracle(text)];
        same(ours, theirs);
        expect(ours.toFixed()).toBe(theirs.toFixed());
        expect(String(ours)).toBe(String(theirs));
        expect(JSON.stringify(ours)).toBe(JSON.stringify(theirs));
        expect(ours.toNumber()).toBe(theirs.toNumber());
        expect(ours.decimalPlaces()).toBe(theirs.decimalPlaces());
        expect(ours.precision()).toBe(theirs.precision());
        expect(ours.isZero() ? 0 : ours.exponent()).toBe(theirs.isZero() ? 0 : theirs.e);
        expect([ours.isZero(), ours.isNegative()]).toEqual([theirs.isZero(), theirs.isNegative()]);
        same(ours.negated(), theirs.negated());
        same(ours.abs(), theirs.abs());
      }),
      RUNS,
    );
  });

  it('is added, subtracted, multiplied, divided and compared to the last of 80 digits', () => {
    fc.assert(
      fc.property(aNumber, aNumber, (one, other) => {
        const [a, b] = [Exact.of(one), Exact.of(other)];
        const [x, y] = [new Oracle(one), new Oracle(other)];
        same(a.plus(b), x.plus(y));
        same(a.minus(b), x.minus(y));
        same(a.times(b), x.times(y));
        same(a.div(b), x.div(y));
        expect(a.comparedTo(b)).toBe(x.comparedTo(y));
        expect([a.gt(b), a.gte(b), a.lt(b), a.lte(b), a.eq(b)]).toEqual([
          x.gt(y),
          x.gte(y),
          x.lt(y),
          x.lte(y),
          x.eq(y),
        ]);
      }),
      RUNS,
    );
  });

  it('is the same after a row of operations, whatever came of those before', () => {
    const step = fc.tuple(fc.constantFrom('plus', 'minus', 'times', 'div'), aNumber);
    fc.assert(
      fc.property(aNumber, fc.array(step, { minLength: 2, maxLength: 6 }), (first, steps) => {
        let [ours, theirs] = [Exact.of(first), new Oracle(first)];
        for (const [what, text] of steps) {
          [ours, theirs] = [ours[what](Exact.of(text)), theirs[what](text)];
          same(ours, theirs);
          expect(ours.comparedTo(first)).toBe(theirs.comparedTo(first));
        }
      }),
      RUNS,
    );
  });

  it.each(modes)('is rounded %s at every place', (mode, theirMode) => {
    fc.assert(
      fc.property(aNumber, aNumber, places, (one, other, at) => {
        for (const [ours, theirs] of [
          [Exact.of(one), new Oracle(one)],
          [Exact.of(one).div(other), new Oracle(one).div(other)],
        ] as const) {
          same(ours.toDecimalPlaces(at, mode), theirs.toDecimalPlaces(at, theirMode));
          expect(ours.toFixed(at, mode)).toBe(theirs.toFixed(at, theirMode));
        }
      }),
      RUNS,
    );
  });

  it('is divided and cut as in two steps', () => {
    fc.assert(
      fc.property(aNumber, aNumber, places, (one, other, at) => {
        const theirs = new Oracle(one).div(other).toDecimalPlaces(at);
        expect(Exact.of(one).divDown(other, at).valueOf()).toBe(theirs.valueOf());
      }),
      RUNS,
    );
  });

  it('is divided and cut where the quotient is a whole number, or next to one', () => {
    const whole = fc.oneof(fc.nat(), fc.integer({ min: 0, max: 2 ** 52 }), fc.constantFrom(0, 1, 2 ** 51));
    fc.assert(
      fc.property(
        fc.oneof(whole, fc.integer({ min: 1, max: 1e6 })),
        fc.integer({ min: 1, max: 2 ** 53 - 1 }),
        fc.integer({ min: -1, max: 1 }),
        fc.nat({ max: 22 }),
        fc.constantFrom(1, -1),
        (quotient, divisor, away, at, sign) => {
          const one = new Oracle(quotient).times(divisor).plus(away).times(sign).div(`1e${at}`);
          const theirs = one.div(divisor).toDecimalPlaces(at);
          expect(Exact.of(one.valueOf()).divDown(divisor, at).valueOf()).toBe(theirs.valueOf());
        },
      ),
      RUNS,
    );
  });

  it('is divided and cut where a long quotient is a hair next to a whole number, or far from one', () => {
    const hair = fc.constantFrom('0', '1e-70', '1e-30', '1e-17', '1e-13', '1e-9', '0.3');
    fc.assert(
      fc.property(
        fc.oneof(fc.nat({ max: 9 }), fc.nat(), fc.nat({ max: 2 ** 52 })),
        fc.oneof(fc.integer({ min: 1, max: 2 ** 53 - 1 }), fc.constantFrom(1, 3, 1e15)),
        hair,
        fc.constantFrom(1, -1),
        fc.constantFrom(1, -1),
        (quotient, divisor, away, up, sign) => {
          const one = new Oracle(away).times(up).plus(quotient).times(divisor).times(sign).div('1e8');
          const theirs = one.div(divisor).toDecimalPlaces(8);
          expect(Exact.of(one.valueOf()).divDown(divisor, 8).valueOf()).toBe(theirs.valueOf());
        },
      ),
      RUNS,
    );
  });

  it('is the same however often its text is read, and whatever was read before', () => {
    fc.assert(
      fc.property(fc.array(aNumber, { minLength: 1, maxLength: 20 }), (texts) => {
        for (const text of [...texts, ...texts.toReversed()]) {
          const read = Exact.of(text);
          same(read, new Oracle(text));
          expect(read.toFixed()).toBe(new Oracle(text).toFixed());
          expect(read.toFixed()).toBe(read.toFixed());
        }
      }),
      { numRuns: RUNS.numRuns / 5 },
    );
  });

  it('is the same where its own words are read back, whatever was made and spelled before', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(aNumber, aNumber), { minLength: 1, maxLength: 20 }), (pairs) => {
        for (const [a, b] of pairs) {
          for (const made of [Exact.of(a).minus(b), Exact.of(a).minus(a), Exact.of(a).times('-0')]) {
            const again = Exact.of(made.toFixed());
            expect(again).toEqual(made.isZero() ? Exact.of('0') : made);
            expect(again.toFixed()).toBe(made.toFixed());
          }
        }
      }),
    );
    for (const value of [Number.NaN, Infinity, -Infinity]) {
      const none = Exact.of(value).toFixed();
      expect(() => Exact.of(none)).toThrow(RangeError);
      expect(Exact.short(none)).toBeUndefined();
    }
    expect(Exact.of('-0').toFixed()).toBe('0');
    expect(Exact.of('0').isNegative()).toBe(false);
    expect(Exact.of('5').minus(5).isNegative()).toBe(false);
    expect(Exact.of('-5').times(0).isNegative()).toBe(true);
    expect(Exact.of('-0').isNegative()).toBe(true);
    expect(Exact.of('00').toFixed()).toBe('0');
  });

  it('has the digits of a whole number, however many they are', () => {
    const ends = [0, -0, 9, 999, 1_000, 1_001, 999_999, 1_000_000, 1e12 - 1, 1e12, 1e12 + 1, -5, Number.NaN];
    for (const n of [...ends, Number.MAX_SAFE_INTEGER, Infinity]) expect(wholeText(n)).toBe(String(n));
    fc.assert(
      fc.property(fc.nat({ max: 12 }), fc.maxSafeNat(), (drop, n) => {
        const whole = Math.trunc(n / 10 ** drop);
        expect(wholeText(whole)).toBe(String(whole));
      }),
      RUNS,
    );
  });

  it('is moved by powers of ten, and as exact beyond the largest double', () => {
    const power = fc.integer({ min: -15, max: 15 }).map((exponent) => `1e${exponent}`);
    fc.assert(
      fc.property(aNumber, aNumber, power, (one, other, moved) => {
        const [ours, theirs] = [Exact.of(one).div(other), new Oracle(one).div(other)];
        same(ours.times(moved), theirs.times(moved));
        same(ours.times(Exact.of(moved).negated()), theirs.times(new Oracle(moved).negated()));
      }),
      RUNS,
    );
    for (const [one, other] of [
      ['1e400', '3'],
      ['3', '7e400'],
      ['2e390', '-7e400'],
      ['123456789e320', '7e310'],
    ] as const) {
      same(Exact.of(one).div(other), new Oracle(one).div(other));
      same(Exact.of(one).times(other), new Oracle(one).times(other));
      expect(Exact.of(one).divDown(other, 8).valueOf()).toBe(
        new Oracle(one).div(other).toDecimalPlaces(8).valueOf(),
      );
    }
  });

  it('is cut to significant digits', () => {
    fc.assert(
      fc.property(aNumber, fc.integer({ min: 1, max: 90 }), (text, count) => {
        const theirs = new Oracle(text).toSignificantDigits(count);
        expect(Exact.of(text).toSignificantDigits(count).valueOf()).toBe(theirs.valueOf());
      }),
      RUNS,
    );
  });

  it('is made of a double in the words of the double', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e40, max: 1e40 }), (number) => {
        expect(Exact.of(number).valueOf()).toBe(new Oracle(number).valueOf());
      }),
      RUNS,
    );
  });

  it('divides by zero as floating point does, and goes on with that', () => {
    const odd = [0, -0, 1, -1, 3.5, Infinity, -Infinity, Number.NaN];
    for (const one of odd)
      for (const other of odd) {
        const [a, b] = [Exact.of(one), Exact.of(other)];
        const [x, y] = [new Oracle(one), new Oracle(other)];
        for (const what of ['plus', 'minus', 'times', 'div'] as const) same(a[what](b), x[what](y));
        expect(a.comparedTo(b)).toBe(x.comparedTo(y));
        expect([a.gt(b), a.gte(b), a.lt(b), a.lte(b), a.eq(b)]).toEqual([
          x.gt(y),
          x.gte(y),
          x.lt(y),
          x.lte(y),
          x.eq(y),
        ]);
        same(a.divDown(b, 8), x.div(y).toDecimalPlaces(8));
        expect(a.div(b).toFixed(2)).toBe(x.div(y).toFixed(2));
      }
  });

  it.each(['', '1.', '.5', '+1', '0x1', '1e', ' 1', '1 ', 'Infinity', 'NaN', '1_0', '--1', '1.2.3'])(
    'is not read from %j',
    (text) => {
      expect(() => Exact.of(text)).toThrow(RangeError);
    },
  );
});
