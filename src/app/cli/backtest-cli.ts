import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { RunIo } from '../commands/io.ts';
import { cacheOption, collect } from './options.ts';
import type { CliWorld } from './options.ts';

/** Adds `tranche backtest`, which runs strategies on market history. */
export function addBacktest(cli: Command, { io, config, done }: CliWorld<RunIo>): void {
  cli
    .command('backtest')
    .description('run strategies on market history through the live pipeline')
    .argument('[files...]', 'strategy files, instead of those in the config')
    .addOption(config())
    .option(
      '--data <pair=file>',
      'prices of a pair: a tape or a file that data import reads; repeatable',
      collect,
      [],
    )
    .addOption(cacheOption())
    .option(
      '--against <journal>',
      'play the strategies of this journal once, and show each parent of the desk beside the model',
    )
    .option('--from <time>', 'start: a day or time (default: when all tapes have started)')
    .option('--until <time>', 'end: a day or time (default: when the first tape ends)')
    .addOption(
      new Option('--delisted <choice>', 'handling of pairs whose prices end before the window ends')
        .choices(['refuse', 'liquidate', 'freeze'] as const)
        .default('refuse' as const),
    )
    .option('--holdings <amounts>', 'opening balances, such as usd=100000,btc=1 (default: from the config)')
    .option('--model <model>', 'model of the venue: tight, normal, stressed, or a YAML file', 'normal')
    .option(
      '--assume <setting=value>',
      'one setting of the model, such as half_spread_bps=5; repeatable',
      collect,
      [],
    )
    .option('--seed <text>', "seed of the venue's randomness and of jitter", '1')
    .option(
      '--every-tick',
      'process every row of the tapes instead of jumping between wakes; slower, with the same result',
    )
    .option(
      '--journal <file>',
      'write the journal to this new file, to read with tranche journal and tranche why',
    )
    .option('--out <folder>', 'also write report.json, fills.csv and the other report files to this folder')
    .option('--overwrite', 'replace an existing report')
    .option('--json', 'print report.json to stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (files, { against, ...options }, command) => {
      const asked = { ...options, files, isConfigNamed: isNamed(command) };
      if (against === undefined) {
        const { runBacktest } = await import('../commands/backtest.ts');
        done(await runBacktest(asked, io));
        return;
      }
      const { backtestAgainst } = await import('../research/against.ts');
      done(await backtestAgainst(against, asked, io));
    });
}

/** Returns whether the user named the config. */
export const isNamed = (command: { getOptionValueSource(name: string): string | undefined }): boolean =>
  command.getOptionValueSource('config') !== 'default';

const EXAMPLES = `
Examples:
  tranche backtest my-twap.yaml --data btcusd=btcusd-1m.csv.gz --holdings usd=250000 --from 2018-03-05 --until 2018-03-12 --out found
  tranche backtest my-twap.yaml --data btcusd=btcusd-1m.csv.gz --holdings usd=250000 --model ./model.yaml          use the model that tranche calibrate wrote
  tranche backtest --against var/live.db --model ./model.yaml --out found                                          compare a desk with the model`;
