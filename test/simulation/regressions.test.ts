import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hand } from './crew.ts';
import { scenarioOf } from './registry.ts';
import type { Regression } from './scenario.ts';

const folder = new URL('regressions/', import.meta.url);
const kept = readdirSync(folder).map((file) => {
  const regression = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Regression;
  return { file, ...regression };
});

describe('a recorded plan that once broke an invariant', () => {
  it('exists for at least two failures', () => {
    expect(kept.length).toBeGreaterThanOrEqual(2);
  });

  it.each(kept)('breaks no invariant now: $file', ({ plan }) => {
    expect(scenarioOf(plan.scenario).run(plan).violations).toStrictEqual([]);
  });

  it.each(kept.filter(({ mutant }) => mutant !== undefined))(
    'still breaks its invariant if its rule is removed: $file ($mutant)',
    async ({ plan, mutant, invariant }) => {
      expect(await hand({ do: 'plan', plan }, mutant)).toMatchObject({
        is: 'plan',
        invariants: expect.arrayContaining([invariant]) as unknown,
      });
    },
  );
});
