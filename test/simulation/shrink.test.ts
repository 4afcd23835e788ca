import { describe, expect, it } from 'vitest';
import { Chance, Trace, site } from './chance.ts';
import type { Fault, Plan } from './scenario.ts';
import { shrink } from './shrink.ts';

const fault = (at: string): Fault => ({ at, kind: 'lost', value: 0.7 });
const planOf = (names: readonly string[], settings = {}): Plan => ({
  scenario: 'A',
  seed: 1,
  settings,
  faults: names.map(fault),
});

describe('shrinking a plan', () => {
  it('leaves the two faults that only together go wrong, the least work and the smallest values', () => {
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

  it('gives a plan back that is not wrong', () => {
    const plan = planOf(['a', 'b']);

    expect(shrink(plan, () => false)).toBe(plan);
  });
});

describe('chance', () => {
  const where = site('order.answer', { lost: 0.5, late: 0.4 });
  const faultsOf = (from: number | Plan): Chance => {
    const chance = new Chance(from);
    chance.setting('slices', 1, 4);
    for (let key = 0; key < 200; key++) chance.at(where, key);
    return chance;
  };

  it('plays the plan of a seed as the seed itself', () => {
    const seed = Array.from({ length: 50 }, (_, i) => i).find(
      (i) => faultsOf(i).plan('A').faults.length > 20,
    );
    const plan = faultsOf(seed ?? 0).plan('A');

    expect(faultsOf(plan).plan('A')).toStrictEqual(plan);
  });

  it('leaves every other fault where it was when one is taken out', () => {
    const seed = Array.from({ length: 50 }, (_, i) => i).find(
      (i) => faultsOf(i).plan('A').faults.length > 20,
    );
    const plan = faultsOf(seed ?? 0).plan('A');
    const less = { ...plan, faults: plan.faults.slice(1) };

    expect(faultsOf(less).plan('A')).toStrictEqual(less);
  });

  it('is uniformly distributed', () => {
    let sum = 0;
    for (let seed = 0; seed < 10_000; seed++) sum += new Chance(seed).draw('price', 3);

    expect(sum / 10_000).toBeCloseTo(0.5, 1);
  });

  it('makes another hash of another history', () => {
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
