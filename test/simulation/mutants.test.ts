import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BUDGET } from './kill.ts';
import { deaths, withMutants } from './killed.ts';
import { mutants } from './mutants.ts';

const files = new Map<string, string>();
const sourceOf = (file: string): string => {
  const known = files.get(file) ?? readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  files.set(file, known);
  return known;
};

describe('the mutants', () => {
  it('are at least thirty and have unique names', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(30);
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });

  it('are each killed by a known seed within the budget of a pull request', () => {
    const known = deaths();
    const alive = mutants.filter(
      ({ name, killedBy }) => !((known[name]?.seed ?? Infinity) <= BUDGET[killedBy]),
    );
    expect(alive.map(({ name }) => name)).toStrictEqual([]);
  });

  it('are listed in docs/simulation.md as --mutants --write writes them', async () => {
    const page = readFileSync(new URL('../../docs/simulation.md', import.meta.url), 'utf8');
    for (const { name } of mutants) expect(page).toContain(`\`${name}\``);
    expect(await withMutants(page)).toBe(page);
  });

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    'match their source text exactly once: %s',
    (_, { patches }) => {
      for (const { file, find, replace } of patches) {
        expect(sourceOf(file).split(find).length - 1, `${file} must hold this exactly once: ${find}`).toBe(1);
        expect(replace).not.toBe(find);
      }
    },
  );
});
