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

describe('a plan that went wrong once', () => {
  it('is kept', () => {
    expect(kept.length).toBeGreaterThanOrEqual(2);
  });

  it.each(kept)('goes well now: $file', ({ plan }) => {
    expect(scenarioOf(plan.scenario).run(plan).violations).toStrictEqual([]);
  });

  it.each(kept.filter(({ mutant }) => mutant !== undefined))(
    'still goes wrong where its rule is broken: $file ($mutant)',
    async ({ plan, mutant, invariant }) => {
      expect(await hand({ do: 'plan', plan }, mutant)).toMatchObject({
        is: 'plan',
        invariants: expect.arrayContaining([invariant]) as unknown,
      });
    },
  );
});
