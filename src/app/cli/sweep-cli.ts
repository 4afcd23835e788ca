import { availableParallelism } from 'node:os';
import { isNamed } from './backtest-cli.ts';
import type { Command } from '@commander-js/extra-typings';
import { OperatorError } from '../../core/errors.ts';
import type { RunIo } from '../commands/io.ts';
import { cacheOption, collect, wholeFrom } from './options.ts';
import type { CliWorld } from './options.ts';

/** Adds `tranche sweep`, which runs a backtest for every setting of some fields, and `tranche worker`. */
export function addSweep(cli: Command, { io, config, done }: CliWorld<RunIo>): void {
  const sweep = cli
    .command('sweep')
    .description('backtest many settings of the strategies on all cores; compare cost and risk')
    .argument('[files...]', 'strategy files, instead of those in the config')
    .addOption(config())
    .option(
      '--vary <field=values>',
      'a field of a strategy (id.field with several strategies) and its values: 0.01..0.10/0.01, 12,24,48 or random(58000..62000); join fields that change together: a+b=0.6+0.4,0.5+0.5; repeatable',
      collect,
      [],
    )
    .option(
      '--samples <n>',
      'number of random draws; without random fields, number of grid settings to sample',
      wholeFrom(1, 10_000),
    )
    .option('--skip-invalid', 'skip invalid settings instead of refusing the whole sweep')
    .option(
      '--by <figure>',
      'figure that ranks settings: execution_bps, cost_bps, risk_bps, tracking_error, drawdown, gain_usd, … (default: portfolio_bps for portfolios, cost_bps with a limit price, else execution_bps)',
    )
    .option(
      '--risk <figure>',
      'risk axis of the efficient frontier: risk_bps, tracking_error, drawdown, … (default: tracking_error for portfolios, else risk_bps)',
    )
    .option(
      '--walk-forward <n>',
      'walk-forward test: select on one window, evaluate on the next, n times',
      wholeFrom(1, 100),
    )
    .option(
      '--out <folder>',
      'store each result in this folder as soon as it is known, and resume from there',
    )
    .option(
      '--workers <n>',
      'number of threads (default: one per core)',
      wholeFrom(1, 256),
      availableParallelism(),
    )
    .option(
      '--store <url>',
      'let "tranche worker" processes run the settings, through this database: postgres://user@host/database',
    )
    .option('--top <n>', 'number of settings to list', wholeFrom(1, 10_000), 20)
    .option('--data <pair=file>', 'prices of a pair, as for tranche backtest; repeatable', collect, [])
    .addOption(cacheOption())
    .option('--from <time>', 'start: a day or time (default: when all tapes have started)')
    .option('--until <time>', 'end: a day or time (default: when the first tape ends)')
    .option('--holdings <amounts>', 'opening balances, such as usd=100000,btc=1 (default: from the config)')
    .option('--model <model>', 'model of the venue: tight, normal, stressed, or a YAML file', 'normal')
    .option(
      '--assume <setting=value>',
      'one setting of the model, such as half_spread_bps=5; repeatable',
      collect,
      [],
    )
    .option('--seed <text>', "seed of random draws, of the venue's randomness, and of jitter", '1')
    .option('--json', 'print one JSON object to stdout')
    .action(async (files, options, command) => {
      const { runSweep } = await import('../commands/sweep.ts');
      done(await runSweep({ ...options, files, isConfigNamed: isNamed(command) }, io));
    });
  sweep
    .command('prepare')
    .description('create or migrate the tables of sweeps in PostgreSQL; run it as their owner')
    .option('--grant <role>', 'grant this role the rights that it needs to submit sweeps and to work on them')
    .action(async ({ grant }) => {
      const { store } = sweep.opts();
      if (store === undefined) throw new OperatorError('usage', 'name the database with --store postgres://user@host/database'); // prettier-ignore
      const { prepareSweeps } = await import('../sweep/store/sweep-queue.ts');
      await prepareSweeps(store, grant);
      io.stdout.write(`the tables of sweeps are ready${grant === undefined ? '' : `; ${grant} may submit sweeps and work on them`}\n`);
      done(0);
    }); // prettier-ignore
  addWorker(cli, { io, done });
}

/** Adds `tranche worker`, which runs the settings of sweeps that `tranche sweep` submits to a database. */
function addWorker(cli: Command, { io, done }: Omit<CliWorld<RunIo>, 'config'>): void {
  cli
    .command('worker')
    .description('run settings of sweeps that "tranche sweep --store" submits, until stopped')
    .requiredOption('--store <url>', 'database: postgres://user@host/database')
    .option(
      '--threads <n>',
      'number of settings to run at a time (default: one per core)',
      wholeFrom(1, 256),
      availableParallelism(),
    )
    .action(async (options) => {
      const { runWorker } = await import('../sweep/store/sweep-service.ts');
      done(await runWorker(options, io));
    });
}
