import { fork } from 'node:child_process';
import { ODDITIES } from './oddities.ts';
import type { Job, Sofar } from './worker.ts';

/** What several processes have found. */
export interface Found {
  readonly played: number;
  readonly broken: number;
  readonly counts: readonly number[];
  /** The lowest seed that broke the property. */
  readonly first: Sofar['first'];
}

/** Gives one job to a process of its own, with a mutant laid over the source if one is named. */
export async function hand(job: Job, mutant?: string, told?: (sofar: Sofar) => void): Promise<Sofar> {
  const { promise, resolve, reject } = Promise.withResolvers<Sofar>();
  const child = fork(new URL('worker.ts', import.meta.url), {
    // Sets are short: a large nursery lets nearly all of one die before it is looked at.
    execArgv: ['--max-semi-space-size=64', '--import', new URL('mutate.ts', import.meta.url).href],
    env: { ...process.env, ...(mutant === undefined ? {} : { PROPERTIES_MUTANT: mutant }) },
  });
  child.on('message', (sofar: Sofar) => {
    told?.(sofar);
    if (!sofar.isOver) return;
    resolve(sofar);
    child.disconnect();
  });
  child.on('error', reject);
  child.on('exit', (code) => {
    if (code !== 0) reject(new Error(`a worker of the properties ended with ${code ?? 'a signal'}`));
  });
  child.send(job);
  return await promise;
}

/** Plays sets on several processes. `told` hears, now and then, of all of them together. */
export async function play(
  of: { readonly from: number; readonly sets: number; readonly workers: number },
  told: (found: Found) => void,
): Promise<Found> {
  const latest: (Sofar | undefined)[] = Array.from({ length: of.workers });
  const all = (): Found => sum(latest.filter((one) => one !== undefined));
  await Promise.all(
    latest.map(async (_, index) => {
      const job: Job = {
        from: of.from + index,
        step: of.workers,
        sets: Math.ceil((of.sets - index) / of.workers),
        isFirstEnough: false,
      };
      await hand(job, undefined, (sofar) => {
        latest[index] = sofar;
        told(all());
      });
    }),
  );
  return all();
}

function sum(parts: readonly Sofar[]): Found {
  const firsts = parts.flatMap(({ first }) => (first === undefined ? [] : [first]));
  return {
    played: parts.reduce((total, { played }) => total + played, 0),
    broken: parts.reduce((total, { broken }) => total + broken, 0),
    counts: ODDITIES.map((_, index) => parts.reduce((total, { counts }) => total + (counts[index] ?? 0), 0)),
    first: firsts.toSorted((a, b) => a.seed - b.seed)[0],
  };
}
