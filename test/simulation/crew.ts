import { fork } from 'node:child_process';
import { emptyTally, merge } from './tally.ts';
import type { Batch, Tally } from './tally.ts';
import type { CrashTally } from './crash-points.ts';
import type { Answer, Job } from './worker.ts';

/** Gives one job to a process of its own, with a mutant laid over the source if one is named. */
export async function hand(job: Job, mutant?: string, told?: (tally: Tally) => void): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const child = fork(new URL('worker.ts', import.meta.url), {
    // Histories are short: a large nursery lets nearly all of one die before it is looked at.
    execArgv: ['--max-semi-space-size=64', '--import', new URL('mutate.ts', import.meta.url).href],
    env: { ...process.env, ...(mutant === undefined ? {} : { SIMULATION_MUTANT: mutant }) },
    serialization: 'advanced',
  });
  child.on('message', (answer: Answer) => {
    if (answer.is === 'so far') {
      told?.(answer.tally);
      return;
    }
    resolve(answer);
    child.disconnect();
  });
  child.on('error', reject);
  child.on('exit', (code) => {
    if (code !== 0) reject(new Error(`a worker of the simulation ended with ${code ?? 'a signal'}`));
  });
  child.send(job);
  return await promise;
}

export interface Seeds extends Omit<Batch, 'step'> {
  readonly scenario: string;
  readonly workers: number;
}

/** Plays seeds on several processes. `told` hears, now and then, of all of them together. */
export async function seeds(
  { scenario, workers, ...batch }: Seeds,
  told?: (tally: Tally) => void,
): Promise<Tally> {
  // The last of them may be the first to report.
  const latest = Array.from({ length: workers }, emptyTally);
  const all = (): Tally => {
    const sum = emptyTally();
    for (const each of latest) merge(sum, each);
    return sum;
  };
  const shares = Array.from({ length: workers }, (_, index) => ({
    ...batch,
    from: batch.from + index,
    step: workers,
    count: Math.ceil((batch.count - index) / workers),
  }));
  await Promise.all(
    shares.map(async (share, index) => {
      const answer = await hand({ do: 'seeds', scenario, batch: share }, undefined, (tally) => {
        latest[index] = tally;
        told?.(all());
      });
      if (answer.is === 'tally') latest[index] = answer.tally;
    }),
  );
  return all();
}

/** Every single and every pair of crashes, on several processes. */
export async function allCrashPoints(parts: number): Promise<CrashTally> {
  const sum: CrashTally = { singles: 0, pairs: 0, failed: 0, failures: [] };
  const jobs = Array.from(
    { length: parts },
    async (_, part) => await hand({ do: 'crash points', part, parts }),
  );
  for (const answer of await Promise.all(jobs)) {
    if (answer.is !== 'crash points') continue;
    sum.singles += answer.tally.singles;
    sum.pairs += answer.tally.pairs;
    sum.failed += answer.tally.failed;
    sum.failures.push(...answer.tally.failures);
  }
  return sum;
}
