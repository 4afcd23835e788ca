import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { CommandIo } from './commands/io.ts';

/** `tranche data …`: what market history tells. */
export function addData(
  cli: Command,
  { io, done }: { readonly io: CommandIo; readonly done: (code: number) => void },
): void {
  const data = cli.command('data').description('what market history tells');
  data
    .command('profile')
    .description(
      'learn the profile of a vwap: how volume spreads over the day; prints YAML to paste into the strategy',
    )
    .argument(
      '<file>',
      'bars (timestamp_ms,open,high,low,close,volume) or trades (timestamp_ms,price,quantity,side): CSV, plain or gzip, or Parquet',
    )
    .option('--parts <n>', 'parts of a day, a number that divides 1440', wholeNumber, 24)
    .option('--time-zone <zone>', 'IANA time zone in which the day begins', 'UTC')
    .option('--week', 'weekdays apart: a profile of a week')
    .option('--max-gap <duration>', 'longest hole between bars that is taken, ISO 8601; left out: none')
    .option('--out <file>', 'write to this file, which is not there yet, instead of stdout')
    .option('--json', 'as JSON, with what it was learnt from')
    .action(async (file, options) => {
      const { dataProfile } = await import('./commands/data-profile.ts');
      done(await dataProfile(file, options, io));
    });
}

function wholeNumber(text: string): number {
  if (!/^\d{1,4}$/u.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
}
