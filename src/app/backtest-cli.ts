import type { Command, Option } from '@commander-js/extra-typings';
import type { BacktestIo } from './commands/backtest.ts';

export interface BacktestCli {
  readonly io: BacktestIo;
  readonly config: () => Option<'--config <file>', undefined, string>;
  readonly done: (code: number) => void;
}

/** `tranche backtest`: strategies over market history. */
export function addBacktest(cli: Command, { io, config, done }: BacktestCli): void {
  cli
    .command('backtest')
    .description(
      'what the strategies would have done over market history, with the pipeline that trades live',
    )
    .argument('[files...]', 'strategy files instead of those that the config names')
    .addOption(config())
    .option(
      '--data <pair=file>',
      'prices of a pair: a tape, or a file that data import reads; may be given again',
      collect,
      [],
    )
    .option('--from <time>', 'begin there: a day or a time; left out: where every tape has begun')
    .option('--until <time>', 'end there; left out: where the first tape ends')
    .option(
      '--holdings <amounts>',
      'what the account holds at the start, such as usd=100000,btc=1; left out: as in the config',
    )
    .option(
      '--model <model>',
      'how quotes are assumed to be: tight, normal, stressed, or a YAML file',
      'normal',
    )
    .option(
      '--assume <setting=value>',
      'one setting of the model, such as half_spread_bps=5; may be given again',
      collect,
      [],
    )
    .option('--seed <text>', 'chance of the venue and jitter of the desk follow from it', '1')
    .option('--every-tick', 'show the desk every row of the tapes: slow, and the same result')
    .option('--journal <file>', 'write the journal to this new file, for tranche journal and tranche why')
    .option('--out <folder>', 'also write report.json, fills.csv and the other files of a report there')
    .option('--overwrite', 'replace a report that is there already')
    .option('--json', 'print report.json on stdout')
    .action(async (files, options) => {
      const { runBacktest } = await import('./commands/backtest.ts');
      done(await runBacktest({ ...options, files }, io));
    });
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];
