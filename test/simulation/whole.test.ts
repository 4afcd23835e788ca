import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import type { RunResult } from './scenario.ts';
import { owned } from './owners/scenario.ts';
import { peopled, whole } from './whole/scenario.ts';

const SEEDS = 60;

/** The trace of the same run in another process. */
function traceElsewhere(name: string, seed: number): string {
  const module = JSON.stringify(new URL('registry.ts', import.meta.url).href);
  const program = `import { scenarioOf } from ${module}; console.log(scenarioOf('${name}').run(${seed}).traceHash);`;
  const options = { encoding: 'utf8' } as const;
  return execFileSync(process.execPath, ['--input-type=module', '--eval', program], options).trim();
}

describe.each([whole, peopled, owned])('the whole engine in simulation $name', (scenario) => {
  const runs: readonly RunResult[] = Array.from({ length: SEEDS }, (_, seed) => scenario.run(seed));

  it('breaks no invariant under any faults', () => {
    const wrong = runs.flatMap(({ violations, plan }) =>
      violations.map(({ invariant, detail }) => `seed ${plan.seed}: ${invariant} ${detail}`),
    );
    expect(wrong).toEqual([]);
  });

  it('meets enough faults, crashes and probes', () => {
    const faults = runs.reduce((sum, { plan }) => sum + plan.faults.length, 0);
    const crashes = runs.reduce((sum, run) => sum + run.crashes, 0);
    expect(faults).toBeGreaterThan(5 * SEEDS);
    expect(crashes).toBeGreaterThan(SEEDS / 4);
    expect(new Set(runs.flatMap(({ probes }) => probes)).size).toBeGreaterThan(8);
  });

  it('has the same trace for the same seed', () => {
    for (const seed of [7, 31]) expect(scenario.run(seed).traceHash).toBe(runs[seed]?.traceHash);
  });

  it('has the same trace in another process', () => {
    expect(traceElsewhere(scenario.name, 31)).toBe(runs[31]?.traceHash);
  });

  it('has the same trace for the plan of a run', () => {
    const [run] = runs.toSorted((a, b) => b.plan.faults.length - a.plan.faults.length);
    expect(run && scenario.run(run.plan).traceHash).toBe(run?.traceHash);
  });
});
