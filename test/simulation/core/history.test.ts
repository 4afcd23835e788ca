import { describe, expect, it } from 'vitest';
import { simulationA } from './history.ts';

describe('simulation A', () => {
  it('finds nothing wrong in its first two hundred histories', () => {
    const wrong = Array.from({ length: 200 }, (_, seed) => simulationA.run(seed + 1)).flatMap(
      ({ violations, plan }) => violations.map(({ invariant }) => `${plan.seed} ${invariant}`),
    );

    expect(wrong).toStrictEqual([]);
  });

  it('plays a seed as it played it before, and its plan as the seed', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const first = simulationA.run(seed);

      expect(simulationA.run(seed)).toStrictEqual(first);
      expect(simulationA.run(first.plan).traceHash).toBe(first.traceHash);
    }
  });
});
