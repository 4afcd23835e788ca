/**
 * Runs the fleet drill: three machines, their desks, one PostgreSQL with a synchronous standby and one venue, as real processes in real
 * time, in which everything fails: test/system/support/fleet-drill.ts.
 *
 * Run: `npm run drill:fleet -- [--seconds 600] [--desks 12] [--seed 1] [--promote-every 170] [--only 'machine dies'] [--still 1] [--quote-life 10] [--mutant NAME]`
 *
 * `--mutant` breaks the rule of the product with that name in test/simulation/mutants.ts: the run must then show violations.
 */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    desks: { type: 'string', default: '12' },
    seed: { type: 'string', default: '1' },
    'promote-every': { type: 'string', default: '170' },
    only: { type: 'string', default: '' },
    still: { type: 'string', default: '1' },
    'quote-life': { type: 'string', default: '10' },
    mutant: { type: 'string', default: '' },
  },
});

// Excludes the tests for CI that choose the mutants themselves.
const test =
  values.mutant === ''
    ? 'executes each order once'
    : 'violates an invariant with the mutant of FLEET_DRILL_MUTANT';
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--project', 'slow', 'test/system/fleet-drill', '-t', test],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      FLEET_DRILL_SECONDS: values.seconds,
      FLEET_DRILL_DESKS: values.desks,
      FLEET_DRILL_SEED: values.seed,
      FLEET_DRILL_PROMOTE_EVERY: values['promote-every'],
      FLEET_DRILL_ONLY: values.only,
      FLEET_DRILL_STILL_SECONDS: values.still,
      FLEET_DRILL_QUOTE_LIFE_SECONDS: values['quote-life'],
      FLEET_DRILL_MUTANT: values.mutant,
    },
  },
);
process.exitCode = status ?? 1;
