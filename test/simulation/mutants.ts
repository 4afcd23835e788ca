import { ownedMutants } from './owners/mutants.ts';
import { peopledMutants, wholeMutants } from './whole/mutants.ts';
import type { Mutant as WholeMutant } from './whole/mutants.ts';

/**
 * Rules of the real source, each with a patch that breaks it. A patch is laid over the source when it is loaded
 * (`mutate.ts`), so that the product itself has no switches. A simulation must detect every broken rule: a surviving mutant
 * means that no simulation checks its rule.
 */
export interface Mutant {
  readonly name: string;
  /** The rule that the patches break. */
  readonly rule: string;
  readonly killedBy: 'B' | 'C' | 'D';
  readonly patches: readonly Patch[];
  /** Another layer that hides it, and is off too. */
  readonly layerOff?: string | undefined;
}

export interface Patch {
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs exactly once. */
  readonly find: string;
  readonly replace: string;
}

const ofWhole =
  (killedBy: 'B' | 'C') =>
  ({ name, file, find, put, also = [] }: WholeMutant): Mutant => ({
    name: name.replaceAll(' ', '-'),
    rule: `not: ${name}`,
    killedBy,
    patches: [{ file, find, put }, ...also].map((each) => ({
      file: each.file,
      find: each.find,
      replace: each.put,
    })),
    ...(also.length === 0 ? {} : { layerOff: also.map((each) => `\`${each.find.trim()}\``).join(' and ') }),
  });

/** All of them: those of the engine for B and C, those of owners for D. */
export const mutants: readonly Mutant[] = [
  ...wholeMutants.map(ofWhole('B')),
  ...peopledMutants.map(ofWhole('C')),
  ...ownedMutants,
];

export function mutantOf(name: string): Mutant {
  const found = mutants.find((each) => each.name === name);
  if (found === undefined) throw new RangeError(`there is no mutant ${name}`);
  return found;
}
