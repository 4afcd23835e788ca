import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { cacheOption, collect, journalCommand } from './options.ts';
import type { CliWorld } from './options.ts';

const EXAMPLES = `
Examples:
  tranche calibrate var/dry_run.db --out model.yaml                what the venue quotes, from a dry run
  tranche calibrate --since P30D --data btcusd=btcusd-1m.csv.gz    with prices: separates last look from other refusals
  tranche backtest my.yaml --data btcusd=btcusd-1m.csv.gz --holdings usd=250000 --model ./model.yaml`;

/** Adds `tranche calibrate`, which fits the execution model of backtests to a journal. */
export function addCalibrate(cli: Command, { io, config, done }: CliWorld): void {
  journalCommand(config)(
    cli,
    'calibrate',
    'fit the model of the venue to a journal, for backtests; safe while the daemon runs',
  )
    .addOption(
      new Option('--base <preset>', 'preset for the settings that the journal has too few records to fit')
        .choices(['tight', 'normal', 'stressed'] as const)
        .default('normal' as const),
    )
    .option(
      '--since <time>',
      'only quotes requested at or after this: a day, a time, or a duration before now such as P30D',
    )
    .option('--until <time>', 'only quotes requested before this: a day, a time, or a duration before now')
    .option(
      '--data <pair=file>',
      'prices of a pair, to distinguish last look from other refusals: a tape or a file that data import reads; repeatable',
      collect,
      [],
    )
    .addOption(cacheOption())
    .option('--out <file>', 'write the model to this file, for backtest --model and sweep --model')
    .option('--overwrite', 'replace an existing file')
    .option('--json', 'print one JSON object to stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (file, options) => {
      const { calibrate } = await import('../commands/calibrate.ts');
      done(await calibrate({ ...options, file }, io));
    });
}
