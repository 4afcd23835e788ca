import { describe, expect, it } from 'vitest';
import { Chance, Trace, site } from './chance.ts';
import type { Fault, Plan } from './scenario.ts';
import { shrink } from './shrink.ts';

const fault = (at: string): Fault => ({ at, kind: 'lost', value: 0.7 });
const planOf = (names: readonly string[], settings = {}): Plan => ({
  scenario: 'B',
  seed: 1,
  settings,
  faults: names.map(fault),
});

describe('shrinking a plan', () => {
  it('keeps the two faults that fail only together, with the smallest settings and values', () => {
    const names = Array.from({ length: 41 }, (_, i) => `order.answer@${i}`);
    const isBad = ({ faults, settings }: Plan): boolean =>
      faults.some(({ at }) => at === 'order.answer@7') &&
      faults.some(({ at, value }) => at === 'order.answer@30' && value >= 0.5) &&
      (settings['slices'] ?? 0) >= 2;

    const { faults, settings } = shrink(planOf(names, { slices: 8 }), isBad);

    expect({ faults, settings }).toStrictEqual({
      faults: [
        { at: 'order.answer@7', kind: 'lost', value: 0 },
        { at: 'order.answer@30', kind: 'lost', value: 0.5 },
      ],
      settings: { slices: 2 },
    });
  });

  it('returns a plan that does not fail unchanged', () => {
    const plan = planOf(['a', 'b']);

    expect(shrink(plan, () => false)).toBe(plan);
  });
});

describe('Chance and Trace of a simulation', () => {
  const where = site('order.answer', { lost: 0.5, late: 0.4 });
  const faultsOf = (from: number | Plan): Chance => {
    const chance = new Chance(from);
    chance.setting('slices', 1, 4);
    for (let key = 0; key < 200; key++) chance.at(where, key);
    return chance;
  };

  it('repeat the plan of a seed exactly', () => {
    const seed = Array.from({ length: 50 }, (_, i) => i).find(
      (i) => faultsOf(i).plan('B').faults.length > 20,
    );
    const plan = faultsOf(seed ?? 0).plan('B');

    expect(faultsOf(plan).plan('B')).toStrictEqual(plan);
  });

  it('keep every other fault if one is removed', () => {
    const seed = Array.from({ length: 50 }, (_, i) => i).find(
      (i) => faultsOf(i).plan('B').faults.length > 20,
    );
    const plan = faultsOf(seed ?? 0).plan('B');
    const less = { ...plan, faults: plan.faults.slice(1) };

    expect(faultsOf(less).plan('B')).toStrictEqual(less);
  });

  it('draw uniformly distributed values', () => {
    let sum = 0;
    for (let seed = 0; seed < 10_000; seed++) sum += new Chance(seed).draw('price', 3);

    expect(sum / 10_000).toBeCloseTo(0.5, 1);
  });

  it('have different hashes for different histories', () => {
    const hashes = new Set<string>();
    for (let i = 0; i < 1_000; i++) {
      const trace = new Trace();
      trace.add('order');
      trace.add(i);
      hashes.add(trace.hash);
    }

    expect(hashes.size).toBe(1_000);
  });
});
