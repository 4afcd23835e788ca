import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { CommandIo } from './commands/io.ts';
import { JOURNAL } from './journal-cli.ts';
import { cacheOption } from './tape-options.ts';

export interface CalibrateCli {
  readonly io: CommandIo;
  readonly config: () => Option<'--config <file>', undefined, string>;
  readonly done: (code: number) => void;
}

const EXAMPLES = `
Examples:
  tranche calibrate var/dry_run.db --out model.yaml                what the venue quotes, from a dry run
  tranche calibrate --since P30D --data btcusd=btcusd-1m.csv.gz    with prices: last look told from other refusals
  tranche backtest my.yaml --data btcusd=btcusd-1m.csv.gz --holdings usd=250000 --model ./model.yaml`;

/** `tranche calibrate`: the execution model of backtests, from a journal. */
export function addCalibrate(cli: Command, { io, config, done }: CalibrateCli): void {
  cli
    .command('calibrate')
    .description('learn how the venue quotes from a journal, for backtests; works while the daemon runs')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .option('--journal <journal>', 'the same, as an option')
    .addOption(
      new Option('--mode <mode>', 'the mode whose journal it is').choices([
        'paper',
        'dry_run',
        'live',
      ] as const),
    )
    .addOption(
      new Option('--base <preset>', 'what stays where too little is known')
        .choices(['tight', 'normal', 'stressed'] as const)
        .default('normal' as const),
    )
    .option('--since <time>', 'only quotes asked for from then on: a day, a time, or a duration such as P30D')
    .option('--until <time>', 'only quotes asked for before')
    .option(
      '--data <pair=file>',
      'prices of a pair, to tell last look from other refusals: a tape, or a file that data import reads; may be given again',
      collect,
      [],
    )
    .addOption(cacheOption())
    .option('--out <file>', 'write the model to this file, for --model of backtest and sweep')
    .option('--overwrite', 'replace a file that is there')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (file, options) => {
      const { calibrate } = await import('./commands/calibrate.ts');
      done(await calibrate({ ...options, file }, io));
    });
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];
