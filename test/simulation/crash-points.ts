import { playWith } from './core/history.ts';
import type { Plan, RunResult } from './scenario.ts';
import type { Failure } from './tally.ts';

/**
 * Every place at which a process can die, one after the other, and every pair of them: in histories in which nothing else
 * goes wrong but what is named here. Seeds sample; this proves a small scope.
 */

/** What else is true of the world while the process dies. */
const worlds = (): readonly Plan[] => {
  const all: Plan[] = [];
  for (const duplicates of [0, 1, 2])
    for (const answer of ['', 'lost', 'twice', 'failed_after'] as const)
      for (const disk of ['', 'kept', 'torn'] as const)
        for (const resend of [0, 1]) all.push(worldOf({ duplicates, answer, disk, resend }));
  return all;
};

interface Choice {
  readonly duplicates: number;
  readonly answer: '' | 'lost' | 'twice' | 'failed_after';
  readonly disk: '' | 'kept' | 'torn';
  readonly resend: number;
}

function worldOf({ duplicates, answer, disk, resend }: Choice): Plan {
  const at = {
    lost: 'order.answer@a0.0 way',
    twice: 'order.request@a0.0',
    failed_after: 'order.gateway@a0.0',
  };
  return {
    scenario: 'A',
    seed: 7,
    settings: {
      duplicates,
      resend,
      parents: 1,
      slots: 2,
      gapMs: 20_000,
      windowMs: 300_000,
      faultyMs: 60_000,
      lifeMs: 15_000,
      lagMs: 2_000,
      pageRows: 12,
      dayMax: 0,
      breach: -9,
      forgetful: 0,
    },
    faults: [
      ...(answer === '' ? [] : [{ at: at[answer], kind: answer, value: 0.5 }]),
      ...(disk === '' ? [] : [0, 1].map((death) => ({ at: `disk.death@${death}`, kind: disk, value: 0.5 }))),
    ],
  };
}

export interface CrashTally {
  singles: number;
  pairs: number;
  failed: number;
  readonly failures: (Failure & { readonly crashAt: readonly number[]; readonly plan: Plan })[];
}

interface Part {
  readonly part: number;
  readonly parts: number;
  readonly isFirstEnough?: boolean | undefined;
}

/** Plays its part of all of them: every `parts`-th world. */
export function crashPoints({ part, parts, isFirstEnough }: Part): CrashTally {
  const tally: CrashTally = { singles: 0, pairs: 0, failed: 0, failures: [] };
  const judged = (plan: Plan, crashAt: readonly number[], { violations }: RunResult): void => {
    const [violation] = violations;
    if (violation === undefined) return;
    tally.failed++;
    if (tally.failures.length < 5) tally.failures.push({ seed: plan.seed, violation, crashAt, plan });
  };
  for (const plan of worlds().filter((_, index) => index % parts === part)) {
    const { steps } = playWith(plan, {});
    for (let first = 1; first <= steps; first++) {
      const once = playWith(plan, { crashAt: new Set([first]) });
      tally.singles++;
      judged(plan, [first], once.result);
      for (let second = first + 1; second <= once.steps; second++) {
        tally.pairs++;
        judged(plan, [first, second], playWith(plan, { crashAt: new Set([first, second]) }).result);
      }
      if (isFirstEnough === true && tally.failed > 0) return tally;
    }
  }
  return tally;
}
