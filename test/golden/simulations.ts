import { fileURLToPath } from 'node:url';
import type { Job } from './job.ts';
import { node } from './job.ts';

/** Seeds of each simulation, and how many of them one process plays. */
const SEEDS = 2_000;
const SEEDS_A_PROCESS = 250;

const PROGRAM = fileURLToPath(new URL('traces.ts', import.meta.url));

/** The trace of every seed of the simulations B and C, ten seeds a line. */
export const simulationJobs = (): readonly Job[] =>
  ['C', 'B'].flatMap((letter) =>
    Array.from({ length: SEEDS / SEEDS_A_PROCESS }, (_, n): Job => ({
      name: `simulation ${letter}`,
      adds: (each) => {
        const [, seed] = each.split(`simulation ${letter} from seed `);
        return Math.floor((Number(seed) - 1) / SEEDS_A_PROCESS) === n;
      },
      async run(folder) {
        const { code, stdout, stderr } = await node(folder, [
          PROGRAM,
          letter,
          String(1 + n * SEEDS_A_PROCESS),
          String(SEEDS_A_PROCESS),
        ]);
        if (code !== 0) throw new Error(`simulation ${letter} ended with exit code ${code}: ${stderr}`);
        return stdout.trimEnd().split('\n');
      },
    })),
  );
