import { Chance } from './chance.ts';
import type { Fault, Plan } from './scenario.ts';
import type { Failure } from './tally.ts';
import { World } from './whole/world.ts';

/**
 * Every place at which a process of simulation B can die, one after the other, and every pair of them: before and after each
 * request, at each answer, at each append. Nothing else goes wrong but what is named here. Seeds sample; this proves a small
 * scope.
 */

const FIRST_ORDER = 'order p0/0/0';
const LOST: Fault = { at: `answer@${FIRST_ORDER}`, kind: 'answer lost', value: 0.5 };
const DUPLICATED: Fault = { at: `request@${FIRST_ORDER}`, kind: 'duplicated', value: 0.5 };

/** Writes take their time, and what was sent meanwhile may be answered first. */
const SLOW: readonly Fault[] = [1, 2, 3].flatMap((boot) =>
  Array.from({ length: 40 }, (_, n) => ({ at: `disk@${boot}.${n}`, kind: 'slow sync beside', value: 0.1 })),
);

/** A record that is being written as the process dies is there in part. */
const TORN: readonly Fault[] = [1, 2].map((boot) => ({ at: `crash@${boot}`, kind: 'torn', value: 0.5 }));

const SEED = 7;

/** What else goes wrong, and what the venue does with a second copy of an order, as in `setting.ts`. */
const WORLDS: readonly { readonly faults: readonly Fault[]; readonly duplicates: number }[] = [
  { faults: [LOST], duplicates: 0 },
  { faults: SLOW, duplicates: 0 },
  { faults: [...SLOW, LOST], duplicates: 0 },
  { faults: [...SLOW, DUPLICATED], duplicates: 2 },
];

function worlds(): readonly Plan[] {
  const drawn = new Chance(SEED);
  new World(drawn).run();
  const plain = Object.fromEntries(Object.keys(drawn.plan('B').settings).map((name) => [name, 0]));
  return WORLDS.map(({ faults, duplicates }) => ({
    scenario: 'B',
    seed: SEED,
    settings: { ...plain, market: 99, 'heals as it runs': 1, duplicates },
    faults: [...faults, ...TORN],
  }));
}

export interface CrashTally {
  singles: number;
  pairs: number;
  failed: number;
  readonly failures: (Failure & { readonly crashAt: readonly number[]; readonly plan: Plan })[];
}

/** Plays its part of all of them: every `parts`-th place of the first crash. */
export function crashPoints({ part, parts }: { readonly part: number; readonly parts: number }): CrashTally {
  const tally: CrashTally = { singles: 0, pairs: 0, failed: 0, failures: [] };
  /** How many places the process passed. */
  const play = (plan: Plan, ...crashAt: readonly number[]): number => {
    const world = new World(new Chance(plan), { crashAt: new Set(crashAt) });
    world.run();
    const [violation] = world.witness.violations;
    if (violation !== undefined) tally.failed++;
    if (violation !== undefined && tally.failures.length < 5)
      tally.failures.push({ seed: plan.seed, violation, crashAt, plan });
    return world.steps;
  };
  for (const plan of worlds()) {
    const steps = play(plan);
    for (let first = 1 + part; first <= steps; first += parts) {
      const stepsLeft = play(plan, first);
      tally.singles++;
      for (let second = first + 1; second <= stepsLeft; second++) {
        play(plan, first, second);
        tally.pairs++;
      }
    }
  }
  return tally;
}
