import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Command, Option } from '@commander-js/extra-typings';
import type { SweepIo } from './commands/sweep.ts';
import { cacheOption } from './tape-options.ts';

export interface SweepCli {
  readonly io: SweepIo;
  readonly config: () => Option<'--config <file>', undefined, string>;
  readonly done: (code: number) => void;
}

/** `tranche sweep`: a backtest for every setting of some fields. */
export function addSweep(cli: Command, { io, config, done }: SweepCli): void {
  cli
    .command('sweep')
    .description('backtests over many settings of the strategies, on all cores: what they cost and what they risk')
    .argument('[files...]', 'strategy files instead of those that the config names')
    .addOption(config())
    .option('--vary <field=values>', 'a field of a strategy (id.field where several run) and its values: 0.01..0.10/0.01, or 12,24,48, or random(58000..62000); fields that change together are joined: a+b=0.6+0.4,0.5+0.5; may be given again', collect, [])
    .option('--samples <n>', 'how often random fields are drawn; without one, so many settings of the grid', count(1, 10_000))
    .option('--skip-invalid', 'leave out settings that no desk would start with, instead of running none')
    .option('--by <figure>', 'what the best is judged by: cost_bps, slippage_bps, risk_bps, tracking_error, drawdown, gain_usd, …; left out: cost_usd of portfolios, else cost_bps')
    .option('--risk <figure>', 'the other side of the front: risk_bps, tracking_error, drawdown, …; left out: tracking_error of portfolios, else risk_bps')
    .option('--walk-forward <n>', 'choose in one window of time and judge in the next, n times', count(1, 100))
    .option('--out <folder>', 'keep every result there as soon as it is known, and go on with what is there')
    .option('--workers <n>', 'threads; left out: one for each core', count(1, 256), availableParallelism())
    .option('--top <n>', 'settings that are listed', count(1, 10_000), 20)
    .option('--data <pair=file>', 'prices of a pair, as tranche backtest reads them; may be given again', collect, [])
    .addOption(cacheOption())
    .option('--from <time>', 'begin there: a day or a time; left out: where every tape has begun')
    .option('--until <time>', 'end there; left out: where the first tape ends')
    .option('--holdings <amounts>', 'what the account holds at the start, such as usd=100000,btc=1; left out: as in the config')
    .option('--model <model>', 'how quotes are assumed to be: tight, normal, stressed, or a YAML file', 'normal')
    .option('--assume <setting=value>', 'one setting of the model, such as half_spread_bps=5; may be given again', collect, [])
    .option('--seed <text>', 'random draws, chance of the venue and jitter of the desk follow from it', '1')
    .option('--json', 'print one JSON object on stdout')
    .action(async (files, options) => {
      const { runSweep } = await import('./commands/sweep.ts');
      done(await runSweep({ ...options, files }, io));
    });
} // prettier-ignore

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

const count =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,6}$/u.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}`);
    return value;
  }; // prettier-ignore
