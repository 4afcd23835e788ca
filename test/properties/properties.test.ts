import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mutants } from './mutants.ts';
import { ODDITIES, Tally } from './oddities.ts';
import { Player } from './play.ts';

/** `npm run properties` plays a million sets; this is a taste of them. */
const SETS = 20_000;
/** A mutant must be killed within the sets that .ci/run plays. */
const BUDGET = 1_000_000;

const textOf = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');
const sourceOf = (file: string): string => textOf(`../../${file}`);

describe('the rule about orders in doubt', () => {
  it('agrees with the truth and with the plain rule over random account rows', () => {
    const tally = new Tally();
    const player = new Player((oddity) => {
      tally.note(oddity);
    });
    for (let seed = 1; seed <= SETS; seed++) player.play(seed);

    expect(ODDITIES.filter((_, index) => tally.counts[index] === 0)).toStrictEqual([]);
  });

  it('is compared with a rule of at most 150 lines', () => {
    expect(textOf('plain-rule.ts').split('\n').length - 1).toBeLessThanOrEqual(150);
  });
});

describe('the mutants of the rule', () => {
  it('are at least twelve and have unique names', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(12);
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });

  it('are each killed by a known seed', () => {
    const killed = JSON.parse(textOf('killed.json')) as Record<string, { readonly seed: number }>;
    const alive = mutants.filter(({ name }) => !((killed[name]?.seed ?? Infinity) <= BUDGET));

    expect(alive.map(({ name }) => name)).toStrictEqual([]);
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
