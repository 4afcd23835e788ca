import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, fraction, isAmount, money, price, quantity } from '../../src/core/money.ts';
import type { AnyAmount } from '../../src/core/money.ts';
import { pack, unpack } from '../../src/core/text/pack.ts';

const amount: fc.Arbitrary<AnyAmount> = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 1, max: 1e9 }))
  .map(([whole, part]) => fraction(money(String(whole)), money(String(part))));
const key = fc.oneof(fc.string(), fc.constantFrom('$', '$a', '$m', '$o', '$u', '__proto__'));
const { value: anything } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.string(),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
    amount,
    fc.array(fc.oneof(tie('value'), fc.constant(undefined)), { maxLength: 4 }),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 4 })
      .map((members): unknown => Object.fromEntries(members)),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((members) => new Map(members)),
    fc.array(tie('value'), { maxLength: 4 }).map((members) => new Set(members)),
  ),
}));

describe('a packed value', () => {
  it('is unpacked unchanged, whatever its type', () => {
    fc.assert(
      fc.property(anything, (value) => {
        expect(unpack(pack(value))).toStrictEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps every digit of an amount, even more than any message holds', () => {
    const third = fraction(money('1'), money('3'));
    const back = unpack(pack([third, quantity('1e-30'), price('1e30')])) as AnyAmount[];
    expect(back.every((each) => isAmount(each))).toBe(true);
    expect(back.map((each) => each.toFixed())).toEqual([
      `0.${'3'.repeat(80)}`, `0.${'0'.repeat(29)}1`, `1${'0'.repeat(30)}`,
    ]); // prettier-ignore
    expect(add(back[0] as typeof third, third).eq(add(third, third))).toBe(true);
  });

  it('keeps members that are undefined', () => {
    expect(Object.keys(unpack(pack({ a: undefined, b: 1 })) as object)).toEqual(['a', 'b']);
  });

  it.each([
    ['a function', () => 1],
    ['an object of a class', new Date(0)],
    ['NaN', Number.NaN],
    ['a symbol', Symbol('x')],
  ])('cannot contain %s', (_, value) => {
    expect(() => pack({ value })).toThrow(TypeError);
  });

  it.each(['{"$x":1}', '{"$m":{}}', '{"$a":"x"}', '{"$a":7}', '{', '{"$s":"abc"}'])(
    'is not read from %s',
    (words) => {
      expect(() => unpack(words)).toThrow(Error);
    },
  );
});
