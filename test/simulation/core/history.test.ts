import { describe, expect, it } from 'vitest';
import { simulationA } from './history.ts';

describe('simulation A', () => {
  it('finds no violation in its first 200 histories', () => {
    const wrong = Array.from({ length: 200 }, (_, seed) => simulationA.run(seed + 1)).flatMap(
      ({ violations, plan }) => violations.map(({ invariant }) => `${plan.seed} ${invariant}`),
    );

    expect(wrong).toStrictEqual([]);
  });

  it('gives the same result for the same seed, and the same trace for the plan of a seed', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const first = simulationA.run(seed);

      expect(simulationA.run(seed)).toStrictEqual(first);
      expect(simulationA.run(first.plan).traceHash).toBe(first.traceHash);
    }
  });
});
