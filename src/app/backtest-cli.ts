import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Command, Option } from '@commander-js/extra-typings';
import type { BacktestIo } from './commands/backtest.ts';
import { cacheOption } from './tape-options.ts';

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
    .addOption(cacheOption())
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
    .option(
      '--every-tick',
      'show the desk every row of the tapes instead of jumping from wake to wake: slow over long tapes, and the same result',
    )
    .option(
      '--bootstrap [n]',
      'also draw history anew so many times (200), in blocks, and say how much every figure varies',
      resamples,
    )
    .option('--block <length>', 'length of a block, such as 1d or 4h; left out: a day, or ten bars')
    .option('--level <percent>', 'what an interval holds, besides 5 % to 95 %', percent, 95)
    .option('--no-trend', 'take the mean return of the window out of what is drawn')
    .option(
      '--workers <n>',
      'threads that draw history anew; left out: one for each core',
      threads,
      availableParallelism(),
    )
    .option('--journal <file>', 'write the journal to this new file, for tranche journal and tranche why')
    .option('--out <folder>', 'also write report.json, fills.csv and the other files of a report there')
    .option('--overwrite', 'replace a report that is there already')
    .option('--json', 'print report.json on stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (files, options) => {
      const { runBacktest } = await import('./commands/backtest.ts');
      const bootstrap = options.bootstrap === true ? RESAMPLES_USUAL : options.bootstrap;
      done(await runBacktest({ ...options, bootstrap, files }, io));
    });
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

const EXAMPLES = `
Examples:
  tranche backtest my-twap.yaml --data btcusd=btcusd-1m.csv.gz --holdings usd=250000 --from 2018-03-05 --until 2018-03-12 --out found
  tranche backtest my-twap.yaml --data btcusd=btcusd-1m.csv.gz --holdings usd=250000 --bootstrap 500 --block 1d    what it would cost over other weeks like it
  tranche backtest my-twap.yaml --data btcusd=btcusd-1m.csv.gz --holdings usd=250000 --model ./model.yaml          with what tranche calibrate wrote`;

const RESAMPLES_USUAL = 200;

const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,6}$/u.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most))
      throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}`);
    return value;
  };
const resamples = whole(20, 10_000);
const threads = whole(1, 256);

function percent(text: string): number {
  const value = /^\d{1,2}(?:\.\d{1,3})?$/u.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 50 && value < 100)) throw new InvalidArgumentError('expected a percentage from 50 to 99.9');
  return value;
}
