import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bandOf, hasLeft, mayLeave, mayLeaveAt } from '../../src/research/run/band.ts';
import { add, approximate, cost, counted, fraction, greatest, isAmountText, NO_MONEY, price, quantity, ratio, roundDown, scale, size, subtract, text } from '../../src/core/money.ts'; // prettier-ignore
import type { Money, Ratio } from '../../src/core/money.ts';
import type { DriftType } from '../../src/core/wake.ts';

const decimal = (digits: number) =>
  fc
    .tuple(fc.boolean(), fc.bigInt({ min: 1n, max: 10n ** BigInt(digits) }), fc.nat(digits))
    .map(([isOwed, whole, places]) => `${isOwed ? '-' : ''}${quantity(`${whole}e-${places}`).toFixed()}`);

/** Amounts of up to 20 digits, more than a double holds, and prices of up to 15 digits, which it does hold. */
const portfolios = fc.record({
  assets: fc.array(
    fc.record({
      held: fc.oneof({ weight: 4, arbitrary: decimal(20).map((amount) => amount.replace('-', '')) }, { weight: 1, arbitrary: decimal(20) }), // prettier-ignore
      price: decimal(15).map((amount) => amount.replace('-', '')),
      part: fc.nat(10),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  cash: decimal(18),
  driftType: fc.constantFrom<DriftType>('absolute', 'relative'),
  /** The drift that the threshold is close to, mostly the largest one, and the distance: a share of 10 to the power of minus `digit`. */
  near: fc.nat(),
  digit: fc.integer({ min: 3, max: 30 }),
  side: fc.constantFrom(-1, 0, 1),
});

interface Judged {
  readonly may: boolean;
  readonly has: boolean;
  readonly mayBox: boolean;
  /** The result with decimals. */
  readonly left: boolean;
}

type Portfolio = typeof portfolios extends fc.Arbitrary<infer P> ? P : never;

function judged({ assets, cash, driftType, near, digit, side }: Portfolio): Judged | undefined {
  const parts = assets.reduce((sum, { part }) => sum + part, 1);
  const targets = [...assets.map(({ part }) => ratio((part / parts).toFixed(6))), ratio((1 / parts).toFixed(6))]; // prettier-ignore
  const worth: readonly Money[] = [...assets.map((each) => cost(price(each.price), quantity(each.held))), counted(quantity(cash))]; // prettier-ignore
  const total = worth.reduce((sum, each) => add(sum, each), NO_MONEY);
  if (!total.gt(0)) return undefined;
  const driftOf = (i: number): Ratio => {
    const target = targets[i] ?? ratio('0');
    const away = size(subtract(fraction(worth[i] ?? NO_MONEY, total), target));
    return driftType === 'absolute' || target.isZero() ? away : fraction(away, target);
  };
  const drifts = worth.map((_, i) => driftOf(i));
  const largest = greatest(ratio('0'), ...drifts);
  const chosen = near % 3 > 0 ? largest : (drifts[near % drifts.length] ?? largest);
  const threshold = text(roundDown(add(chosen, scale(chosen, ratio(`${side}e-${digit}`))), 38));
  if (threshold === '0' || !isAmountText(threshold)) return undefined;
  const band = bandOf(targets, { driftType, threshold });
  const values = Float64Array.from(assets, (each) => approximate(quantity(each.held)) * Number(each.price));
  const known = approximate(quantity(cash));
  return {
    may: mayLeaveAt(band, values, known),
    mayBox: mayLeave(band, { low: values, high: values, cash: known }),
    has: hasLeft(band, values, known),
    left: drifts.some((drift) => drift.gt(ratio(threshold))),
  };
}

describe('the drift band in double precision', () => {
  it('never contradicts the decimal computation, however close the drift is to the threshold', () => {
    const seen = { left: 0, not: 0, doubtful: 0 };
    fc.assert(
      fc.property(portfolios, (portfolio) => {
        const now = judged(portfolio);
        fc.pre(now !== undefined);
        if (now.has) seen.left++;
        else if (now.may) seen.doubtful++;
        else seen.not++;

        // A breach in decimals implies a possible breach in doubles; a certain breach in doubles implies one in decimals.
        expect([now.left && !now.may, now.left && !now.mayBox, now.has && !now.left]).toStrictEqual([
          false,
          false,
          false,
        ]);
      }),
      { numRuns: 6_000 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(150);
  });

  it('decides a drift that differs from the threshold by one part in a billion', () => {
    const band = bandOf([ratio('0.5'), ratio('0.5')], { driftType: 'absolute', threshold: '0.1' });
    const at = (worth: number) => {
      const values = Float64Array.of(worth);
      return [mayLeaveAt(band, values, 1000 - worth), hasLeft(band, values, 1000 - worth)];
    };

    expect(at(600 - 1e-6)).toStrictEqual([false, false]);
    expect(at(600 + 1e-6)).toStrictEqual([true, true]);
    expect(at(600)).toStrictEqual([true, false]);
    expect(at(400 + 1e-6)).toStrictEqual([false, false]);
    expect(at(400 - 1e-6)).toStrictEqual([true, true]);
  });

  it('does not rule out a range of prices that contains a breach', () => {
    const amount = fc.double({ min: -1_000, max: 1_000, noNaN: true });
    const boxes = fc.record({
      assets: fc.array(
        fc.record({
          a: amount,
          wide: fc.constantFrom(0.001, 0.01, 0.1, 1),
          at: fc.double({ min: 0, max: 1, noNaN: true }),
          part: fc.nat(5),
        }),
        { minLength: 1, maxLength: 6 },
      ),
      cash: amount,
      threshold: fc.constantFrom('0.003', '0.05', '0.3', '2'),
      driftType: fc.constantFrom<DriftType>('absolute', 'relative'),
    });
    let passed = 0;
    fc.assert(
      fc.property(boxes, ({ assets, cash, threshold, driftType }) => {
        const parts = assets.reduce((sum, { part }) => sum + part, 1);
        const targets = [...assets, { part: 1 }].map(({ part }) => ratio((part / parts).toFixed(6)));
        const band = bandOf(targets, { driftType, threshold });
        const low = Float64Array.from(assets, ({ a, wide }) => a - wide * Math.abs(a));
        const high = Float64Array.from(assets, ({ a, wide }) => a + wide * Math.abs(a));
        const inside = low.map((least, i) => Math.min(high[i] ?? 0, least + (assets[i]?.at ?? 0) * ((high[i] ?? 0) - least))); // prettier-ignore
        const corner = low.map((least, i) => ((assets[i]?.at ?? 0) < 0.5 ? least : (high[i] ?? 0)));
        const passes = !mayLeave(band, { low, high, cash });
        if (passes) passed++;
        const has = [low, high, inside, corner].some((point) => hasLeft(band, point, cash));
        expect(passes && has).toBe(false);
      }),
      { numRuns: 20_000 },
    );
    expect(passed).toBeGreaterThan(20);
  });

  it('does not rule out prices that are not numbers', () => {
    const band = bandOf([ratio('0.5'), ratio('0.5')], { driftType: 'absolute', threshold: '0.1' });
    const nothing = Float64Array.of(Number.NaN);

    expect(mayLeave(band, { low: nothing, high: Float64Array.of(Infinity), cash: 500 })).toBe(true);
    expect(mayLeaveAt(band, nothing, 500)).toBe(true);
    expect(hasLeft(band, nothing, 500)).toBe(false);
  });

  it.each<readonly [string, readonly string[], string, readonly (readonly [number, number])[], number]>([
    ['a weight above one that grows while its asset falls', ['0.5', '0.25', '0.25'], '2', [[800, 1000], [-250, -250]], -250],
    ['a negative weight that falls with the others', ['0.4', '0.3', '0.3', '0'], '1.4', [[-60, -60], [50, 150], [50, 150]], 0],
    ['borrowed cash while the assets fall', ['0.5', '0.5', '0'], '0.4', [[100, 200], [100, 200]], -70],
    ['excess cash while the assets fall', ['0.4', '0.4', '0.2'], '0.2', [[30, 60], [30, 60]], 50],
    ['an asset that does not rise with the others', ['0.4', '0.3', '0.3', '0'], '0.1', [[100, 100], [130, 75], [130, 75]], 0],
  ])('does not rule out a range of prices with %s', (_, weights, threshold, ranges, cash) => {
    const targets = weights.map((weight) => ratio(weight));
    const band = bandOf(targets, { driftType: 'absolute', threshold });
    const bad = Float64Array.from(ranges, ([each]) => each);
    const good = Float64Array.from(ranges, ([, each]) => each);
    const low = bad.map((each, i) => Math.min(each, good[i] ?? each));
    const high = bad.map((each, i) => Math.max(each, good[i] ?? each));

    expect([hasLeft(band, bad, cash), hasLeft(band, good, cash)]).toStrictEqual([true, false]);
    expect(mayLeave(band, { low, high, cash })).toBe(true);
    expect(mayLeave(band, { low: good, high: good, cash })).toBe(false);
  }); // prettier-ignore

  it('leaves weights outside 0 to 1 to the decimal computation', () => {
    const band = bandOf([ratio('1.5'), ratio('-0.5')], { driftType: 'absolute', threshold: '0.1' });
    const worth = Float64Array.of(1500);

    for (const cash of [-500, 0, 500]) {
      expect([mayLeaveAt(band, worth, cash), hasLeft(band, worth, cash)]).toStrictEqual([true, false]);
      expect(mayLeave(band, { low: worth, high: worth, cash })).toBe(true);
    }
  });
});
