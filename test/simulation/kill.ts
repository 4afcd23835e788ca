import { hand } from './crew.ts';
import { mutants } from './mutants.ts';
import type { Mutant } from './mutants.ts';
import { seedText } from './scenario.ts';

/** How many seeds a pull request plays: a mutant must be killed within them. */
export const BUDGET = { B: 10_000, C: 2_500, D: 4_000 } as const;

export interface Killed {
  readonly mutant: Mutant;
  /** Absent when it lives. */
  readonly by?: { readonly seed: number; readonly after: number; readonly invariant: string } | undefined;
}

/** Plays each mutant until something is seen to go wrong. */
export async function killMutants(
  names: readonly string[],
  workers: number,
  told: (killed: Killed) => void,
): Promise<readonly Killed[]> {
  const wanted = mutants.filter(({ name }) => names.length === 0 || names.includes(name));
  const all: Killed[] = [];
  const queue = [...wanted];
  const next = async (): Promise<void> => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const killed = await kill(mutant);
      all.push(killed);
      told(killed);
    }
  };
  await Promise.all(Array.from({ length: workers }, next));
  return all;
}

async function kill(mutant: Mutant): Promise<Killed> {
  const scenario = mutant.killedBy;
  const batch = { from: 1, count: BUDGET[scenario], step: 1, isFirstEnough: true };
  const answer = await hand({ do: 'seeds', scenario, batch }, mutant.name);
  const failure = answer.is === 'tally' ? answer.tally.failures[0] : undefined;
  if (failure === undefined) return { mutant };
  return { mutant, by: { seed: failure.seed, after: failure.seed, invariant: failure.violation.invariant } };
}

export const killedLine = ({ mutant, by }: Killed): string => {
  const how =
    by === undefined ? 'LIVES' : `${by.invariant.padEnd(5)} seed ${seedText(by.seed)} after ${by.after}`;
  const layer = mutant.layerOff === undefined ? '' : ` (also off: ${mutant.layerOff})`;
  return `${mutant.killedBy}  ${mutant.name.padEnd(28)} ${how.padEnd(36)} ${mutant.rule}${layer}`;
};
