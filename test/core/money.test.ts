import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exact } from '../../src/core/text/json.ts';
import type { Money, Price } from '../../src/core/money.ts';
import {
  add, cost, decimalsOf, fraction, greatest, isAmountText, isNear, least, middle, money, NO_MONEY, price, priceEven, priceOf,
  quantity, quantityDown, ratio, ratioOf, roundDown, roundEven, roundUp, scale, share, size, slippageBps, subtract, text, worsen,
} from '../../src/core/money.ts'; // prettier-ignore
import { readBody } from '../../src/wire/message.ts';

const digits = (n: bigint, decimals: number): string => {
  const sign = n < 0n ? '-' : '';
  const padded = (n < 0n ? -n : n).toString().padStart(decimals + 1, '0');
  return decimals === 0 ? sign + padded : `${sign}${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
};
const amountText = fc
  .tuple(fc.bigInt({ min: -(10n ** 28n), max: 10n ** 28n }), fc.nat({ max: 12 }))
  .map(([n, d]) => digits(n, d));
const positiveText = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 24n }), fc.nat({ max: 12 }))
  .map(([n, d]) => digits(n, d));
const anyMoney = amountText.map(money);
const positive = positiveText.map(money);
const precision = fc.nat({ max: 10 });
const unit = (decimals: number): Money => money(digits(1n, decimals));

describe('rounding', () => {
  it('down never exceeds the amount, up is never below it, and both differ by less than one unit', () => {
    fc.assert(
      fc.property(anyMoney, precision, (amount, decimals) => {
        const down = roundDown(amount, decimals);
        const up = roundUp(amount, decimals);
        expect(size(down).lte(size(amount)) && size(up).gte(size(amount))).toBe(true);
        expect(
          size(subtract(amount, down)).lt(unit(decimals)) && size(subtract(up, amount)).lt(unit(decimals)),
        ).toBe(true);
        expect(decimalsOf(down) <= decimals && decimalsOf(up) <= decimals).toBe(true);
        expect(down.times(amount).gte(0) && up.times(amount).gte(0)).toBe(true);
      }),
    );
  });

  it('to the nearest differs by at most half a unit, and rounds halves to even', () => {
    fc.assert(
      fc.property(anyMoney, precision, (amount, decimals) => {
        expect(
          size(subtract(roundEven(amount, decimals), amount))
            .times(2)
            .lte(unit(decimals)),
        ).toBe(true);
      }),
    );
    expect(['0.5', '1.5', '2.5', '-0.5', '-1.5'].map((each) => text(roundEven(money(each), 0)))).toEqual([
      '0',
      '2',
      '2',
      '0',
      '-2',
    ]);
  });

  it('of a bought quantity never costs more than the amount, but one unit more would', () => {
    fc.assert(
      fc.property(positive, positiveText.map(price), precision, (amount, each: Price, decimals) => {
        const bought = quantityDown(amount, each, decimals);
        expect(cost(each, bought).lte(amount)).toBe(true);
        expect(cost(each, add(bought, quantity(text(unit(decimals))))).gt(amount)).toBe(true);
      }),
    );
  });

  it('of a price considers all its digits', () => {
    const fives = fc.constantFrom('0.5', '1.5', '2.25', '0.125', '7.35').map(money);
    fc.assert(
      fc.property(
        fc.oneof(anyMoney, fives),
        positiveText.map(quantity),
        precision,
        (amount, of, decimals) => {
          const rounded = roundEven(priceOf(amount, of), decimals);
          expect(text(priceEven(amount, of, decimals))).toBe(text(rounded));
        },
      ),
    );
    const each = (amount: string, of: string): string => text(priceEven(money(amount), quantity(of), 0));
    expect([
      each('5', '2'),
      each('7', '2'),
      each('-5', '2'),
      each('5.0000000001', '2'),
      each('8', '3'),
    ]).toEqual(['2', '4', '-2', '3', '3']);
  });
});

describe('shares', () => {
  it('of the remainder, taken one after the other, sum to the total exactly and differ by at most one unit', () => {
    fc.assert(
      fc.property(positive, fc.integer({ min: 1, max: 60 }), precision, (total, parts, decimals) => {
        let left = total;
        const shares: Money[] = [];
        for (let n = parts; n > 1; n--) {
          const next = share(left, n, decimals);
          shares.push(next);
          left = subtract(left, next);
        }
        expect(text(shares.reduce(add, left))).toBe(text(total));
        expect(left.gte(0)).toBe(true);
        const first = shares[0] ?? NO_MONEY;
        expect(subtract(greatest(first, ...shares), least(first, ...shares)).lte(unit(decimals))).toBe(true);
      }),
    );
  });
});

describe('the text of an amount', () => {
  it('survives 100 000 round trips through the wire format', () => {
    // A generator with a fixed seed: this number of runs would take minutes with fast-check.
    let state = 88_172_645_463_325_252n;
    const draw = (): bigint => {
      state = BigInt.asUintN(64, state ^ (state << 13n));
      state ^= state >> 7n;
      state = BigInt.asUintN(64, state ^ (state << 17n));
      return state;
    };
    let wrong = '';
    for (let i = 0; i < 100_000; i++) {
      const written = digits((draw() * draw()) / 10n ** (draw() % 30n), Number(draw() % 19n));
      const amount = money(draw() % 2n === 0n ? written : `-${written}`);
      const body = JSON.stringify({ amount: exact(text(amount)), note: text(amount) });
      const back = readBody(body) as { readonly amount: string };
      if (
        text(money(back.amount)) !== text(amount) ||
        back.amount !== text(amount) ||
        !money(back.amount).eq(amount)
      )
        wrong = body;
    }
    expect(wrong).toBe('');
  });

  it('is the only spelling of its value', () => {
    fc.assert(
      fc.property(anyMoney, (amount) => {
        expect(text(money(text(amount)))).toBe(text(amount));
      }),
    );
    expect(['1.50', '001.5', '1.5e0', '15e-1'].map((each) => text(money(each)))).toEqual([
      '1.5',
      '1.5',
      '1.5',
      '1.5',
    ]);
    expect(['0', '-0', '0.00', '0e5'].map((each) => text(money(each)))).toEqual(['0', '0', '0', '0']);
    expect(text(money('1e-30'))).toBe('0.000000000000000000000000000001');
  });

  it('is read back as the same amount', () => {
    const written = cost(price('1.1000'), quantity('2.50'));
    expect(text(written)).toBe('2.75');
    expect(money('2.75')).toBe(written);
    // A product of two amounts may have more digits than the journal keeps.
    const long = cost(price(`0.${'3'.repeat(39)}`), quantity(`0.${'3'.repeat(39)}`));
    expect(() => money(text(long))).toThrow('expected a plain decimal');
  });

  it('is valid if it is a number of at most forty digits', () => {
    fc.assert(
      fc.property(amountText, (each) => {
        expect(isAmountText(each)).toBe(true);
      }),
    );
    expect(isAmountText('9'.repeat(40))).toBe(true);
    expect(isAmountText(`-${'9'.repeat(40)}`)).toBe(true);
    expect(isAmountText('1e40')).toBe(true);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '+1',
    '.5',
    '5.',
    '1,5',
    '0x10',
    'NaN',
    'Infinity',
    '1e',
    '1e400',
    '1e41',
    '1e-41',
    '--1',
    '9'.repeat(41),
    `-${'9'.repeat(41)}`,
    '0.'.padEnd(70, '1'),
    '１',
  ])('is invalid if it is %j', (each) => {
    // prettier-ignore
    expect(isAmountText(each)).toBe(false);
    expect(() => money(each)).toThrow(RangeError);
  });
});

describe('arithmetic', () => {
  it('keeps every digit of the sum, difference and product of two amounts of forty digits', () => {
    const most = 10n ** 40n - 1n;
    const coefficient = fc.bigInt({ min: -most, max: most });
    const decimals = fc.nat(20);
    fc.assert(
      fc.property(coefficient, coefficient, decimals, decimals, (a, b, aDecimals, bDecimals) => {
        const [one, other] = [money(digits(a, aDecimals)), money(digits(b, bDecimals))];
        const places = Math.max(aDecimals, bDecimals);
        const [left, right] = [a * 10n ** BigInt(places - aDecimals), b * 10n ** BigInt(places - bDecimals)];
        const written = (n: bigint, at: number): string =>
          at === 0
            ? String(n)
            : digits(n, at)
                .replace(/\.?0+$/u, '')
                .replace(/^-0$/u, '0');
        expect(text(add(one, other))).toBe(written(left + right, places));
        expect(text(subtract(one, other))).toBe(written(left - right, places));
        expect(text(scale(one, ratio(digits(b, bDecimals))))).toBe(written(a * b, aDecimals + bDecimals));
        expect(one.lt(other)).toBe(left < right);
      }),
    );
  });

  it('has a precision that an amount cannot change', () => {
    const { constructor } = money('1');
    expect(Object.isFrozen(constructor)).toBe(true);
  });

  it('decides to the last digit whether a price is near another, just within and just beyond the bound', () => {
    const hair = fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: 0, max: 40 }));
    fc.assert(
      fc.property(positiveText, fc.nat(2_000), hair, (reference, half, [by, decimals]) => {
        const [mid, bound] = [price(reference), ratio(`${half / 2}`)];
        const away = scale(mid, ratioOf(half / 20_000));
        const each = add(add(mid, away), scale(price(`1e-${decimals}`), ratioOf(by)));
        const isWithin = size(subtract(each, mid)).times(10_000).lte(mid.times(bound));
        expect(isNear(each, mid, bound)).toBe(isWithin);
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives a slippage its sign: positive is bad on either side', () => {
    expect(text(slippageBps('buy', price('101'), price('100')))).toBe('100');
    expect(text(slippageBps('sell', price('101'), price('100')))).toBe('-100');
    expect(text(worsen('buy', price('100'), ratio('50')))).toBe('100.5');
    expect(text(worsen('sell', price('100'), ratio('50')))).toBe('99.5');
    expect(text(middle(price('1'), price('2')))).toBe('1.5');
  });

  it('refuses a fraction of zero', () => {
    expect(text(fraction(money('1'), money('4')))).toBe('0.25');
    expect(() => fraction(money('1'), NO_MONEY)).toThrow(RangeError);
  });
});
