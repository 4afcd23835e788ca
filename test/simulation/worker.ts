import { crashPoints } from './crash-points.ts';
import type { CrashTally } from './crash-points.ts';
import { scenarioOf } from './registry.ts';
import type { Plan } from './scenario.ts';
import { play } from './tally.ts';
import type { Batch, Tally } from './tally.ts';

/** One process that plays histories for the command line, so that every core has work, and every mutant a process of its own. */
export type Job =
  | { readonly do: 'seeds'; readonly scenario: string; readonly batch: Batch }
  | { readonly do: 'plan'; readonly plan: Plan }
  | {
      readonly do: 'crash points';
      readonly part: number;
      readonly parts: number;
    };

export type Answer =
  | { readonly is: 'so far'; readonly tally: Tally }
  | { readonly is: 'tally'; readonly tally: Tally }
  | { readonly is: 'plan'; readonly invariants: readonly string[] }
  | { readonly is: 'crash points'; readonly tally: CrashTally };

const asker = process.ppid;

function work(job: Job): Answer {
  if (job.do === 'crash points') return { is: 'crash points', tally: crashPoints(job) };
  if (job.do === 'plan') {
    const { violations } = scenarioOf(job.plan.scenario).run(job.plan);
    return { is: 'plan', invariants: violations.map(({ invariant }) => invariant) };
  }
  const told = (tally: Tally): void => {
    // Whoever asked is gone: nobody waits for hours of work.
    if (process.ppid !== asker) process.exit(1);
    process.send?.({ is: 'so far', tally } satisfies Answer);
  };
  return { is: 'tally', tally: play(scenarioOf(job.scenario), job.batch, told) };
}

process.once('message', (job: Job) => {
  process.send?.(work(job));
});
