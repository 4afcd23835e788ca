/**
 * Runs the drill of hard days with real processes in real time, and checks their median against the goals: test/system/hard-day.slow.test.ts.
 *
 * Run: `npm run drill:hard-day -- [--seeds 10] [--minutes 10] [--lanes 2] [--first 1] [--out FOLDER]`
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    minutes: { type: 'string', default: '10' },
    lanes: { type: 'string', default: '2' },
    first: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});

if (values.out !== undefined) mkdirSync(values.out, { recursive: true });
const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'slow', 'test/system/hard-day'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    HARD_DAY_SEEDS: values.seeds,
    HARD_DAY_MINUTES: values.minutes,
    HARD_DAY_LANES: values.lanes,
    HARD_DAY_FIRST: values.first,
    ...(values.out === undefined ? {} : { HARD_DAY_OUT: resolve(values.out) }),
  },
});
process.exitCode = status ?? 1;
