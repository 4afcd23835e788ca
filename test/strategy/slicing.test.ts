import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, decimalsOf, fraction, ONE, quantity, ratioOf, subtract, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { dueSize, plannedSize, slotMs, smallestSize } from '../../src/strategy/worker/slicing.ts';
import { uniform } from '../../src/core/uniform.ts';
import type { Curve, Jitter, SlicePlan } from '../../src/strategy/worker/slicing.ts';

const aPlan = (over: Partial<SlicePlan> = {}): SlicePlan => ({
  total: quantity('10'),
  slices: 4,
  startMs: 1_000_000,
  durationMs: 3_600_000,
  precision: 8,
  ...over,
});
const sizes = (plan: SlicePlan): readonly Quantity[] =>
  Array.from({ length: plan.slices }, (_, k) => plannedSize(plan, k));
const slots = (plan: SlicePlan): readonly number[] =>
  Array.from({ length: plan.slices }, (_, k) => slotMs(plan, k));
const smaller = (all: readonly Quantity[], k: number): Quantity => {
  const [a, b] = [all[k] ?? quantity('0'), all[k % 2 === 0 ? k + 1 : k - 1] ?? quantity('0')];
  return a.lt(b) ? a : b;
};
const sum = (all: readonly Quantity[]): Quantity => all.reduce((a, b) => add(a, b), quantity('0'));

const jitter = fc.record<Jitter>({
  timePct: fc.double({ min: 0, max: 95, noNaN: true }),
  sizePct: fc.double({ min: 0, max: 50, noNaN: true }),
  seed: fc.nat(),
});
/** A curve over slices that are as large as these weights say. */
const along = (weights: readonly number[]): Curve => {
  const sums = [0];
  for (const weight of weights) sums.push((sums.at(-1) ?? 0) + weight);
  const shares = sums.map((part) => fraction(ratioOf(part), ratioOf(sums.at(-1) ?? 1)));
  return (k) => shares[k] ?? ONE;
};
const plan = fc
  .record({
    units: fc.bigInt({ min: 1n, max: 10n ** 16n }),
    slices: fc.integer({ min: 1, max: 200 }),
    startMs: fc.integer({ min: 0, max: 2e12 }),
    durationMs: fc.integer({ min: 1_000, max: 1e9 }),
    precision: fc.integer({ min: 0, max: 10 }),
    noise: fc.option(jitter, { nil: undefined }),
    weights: fc.option(fc.array(fc.integer({ min: 1, max: 1e6 }), { minLength: 200, maxLength: 200 }), {
      nil: undefined,
    }),
  })
  .map(({ units, slices, startMs, durationMs, precision, noise, weights }) => ({
    total: quantity(`${units}e-${precision}`),
    slices,
    startMs,
    durationMs,
    precision,
    jitter: noise,
    curve: weights && along(weights.slice(0, slices)),
  }));

describe('a slice plan', () => {
  it('sums to the total exactly, in whole units and without negative slices, with and without jitter', () => {
    fc.assert(
      fc.property(plan, (one) => {
        const all = sizes(one);
        expect(text(sum(all))).toBe(text(one.total));
        expect(all.every((size) => size.gte(0) && decimalsOf(size) <= one.precision)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps its slots in order, each inside its own interval and all inside the window', () => {
    fc.assert(
      fc.property(plan, (one) => {
        const gap = one.durationMs / one.slices;
        const isInside = slots(one).every(
          (at, k) =>
            at >= Math.floor(one.startMs + k * gap) &&
            at <= one.startMs + (k + 0.95) * gap &&
            at < one.startMs + one.durationMs,
        );
        expect(isInside).toBe(true);
        expect(slots(one)).toEqual(slots(one).toSorted((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });

  it('changes each size by at most size_pct of the smaller slice of its pair', () => {
    fc.assert(
      fc.property(plan, (one) => {
        const bare = sizes({ ...one, jitter: undefined });
        const pct = one.jitter?.sizePct ?? 0;
        const isBounded = sizes(one).every((size, k) =>
          // Of the smaller of the two that trade places. One unit of slack at the hundredth digit: the percentage itself is a float.
          subtract(size, bare[k] ?? size)
            .abs()
            .lte(smaller(bare, k).times(pct).div(100).plus('1e-30')),
        );
        expect(isBounded).toBe(true);
        const least = smallestSize(one);
        expect(sizes(one).every((size) => size.gte(least) || one.slices === 1)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('depends on its parameters only: the same seed yields the same schedule, another seed another one', () => {
    const noisy = (seed: number): SlicePlan =>
      aPlan({ slices: 12, jitter: { timePct: 50, sizePct: 20, seed } });
    expect(slots(noisy(7))).toEqual(slots(noisy(7)));
    expect(sizes(noisy(7)).map(text)).toEqual(sizes(noisy(7)).map(text));
    expect(slots(noisy(7))).not.toEqual(slots(noisy(8)));
    expect(sizes(noisy(7)).map(text)).not.toEqual(sizes(noisy(8)).map(text));
    // The total does not change where the slots are, nor the window how large the slices are.
    expect(slots(noisy(7))).toEqual(slots({ ...noisy(7), total: quantity('999') }));
    expect(sizes(noisy(7)).map(text)).toEqual(sizes({ ...noisy(7), startMs: 5 }).map(text));
  });
});

describe('the due size of a slice', () => {
  it('spreads missed quantity along a curve in proportion to the remaining slices', () => {
    const curved = aPlan({ curve: along([1, 2, 4, 3]), precision: 2 });
    // 1 missed, 9 planned: a ninth of each slice on top of it.
    expect(text(dueSize(curved, 1, quantity('10'), true))).toBe('2.22');
    expect(text(dueSize(curved, 1, quantity('10'), false))).toBe('2');
    // 3 missed, 7 planned: 4 and 4/7 of 3 would be 5.71; 1.5 times the plan is 6.
    expect(text(dueSize(curved, 2, quantity('10'), true))).toBe('5.71');
    expect(text(dueSize(curved, 3, quantity('10'), true))).toBe('4.5');
  });
});

describe('a random draw for jitter', () => {
  it('lies in [0, 1) and is close to uniform', () => {
    const draws = Array.from({ length: 20_000 }, (_, n) => uniform(n % 200, Math.floor(n / 200)));
    expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true);
    const mean = draws.reduce((total, draw) => total + draw, 0) / draws.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.01);
    const tenths = draws.filter((draw) => draw < 0.1).length / draws.length;
    expect(Math.abs(tenths - 0.1)).toBeLessThan(0.01);
  });
});
