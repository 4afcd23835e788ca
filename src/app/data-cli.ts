import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { formats, units } from '../backtest/import/plan.ts';
import type { Undisturbed } from '../backtest/store.ts';
import type { CommandIo } from './commands/io.ts';
import type { RunIo } from './commands/run.ts';
import { numberAbove0, numberFrom0, wholeNumber } from './option-values.ts';
import { cacheOption } from './tape-options.ts';

/** `tranche data …`: what market history tells. */
export function addData(
  cli: Command,
  { io, done, recording }: Data & { readonly recording?: Recording | undefined },
): void {
  const data = cli.command('data').description('what market history tells');
  data
    .command('profile')
    .description(
      'learn the profile of a vwap: how volume spreads over the day; prints YAML to paste into the strategy',
    )
    .argument('<file>', 'bars or trades with their volume: a tape, or a file that data import reads')
    .option('--parts <n>', 'parts of a day, a number that divides 1440', wholeNumber(4), 24)
    .option('--time-zone <zone>', 'IANA time zone in which the day begins', 'UTC')
    .option('--week', 'weekdays apart: a profile of a week')
    .option('--max-gap <duration>', 'longest hole between bars that is taken, ISO 8601; left out: none')
    .option('--out <file>', 'write to this file, which is not there yet, instead of stdout')
    .option('--json', 'as JSON, with what it was learnt from')
    .action(async (file, options) => {
      const { dataProfile } = await import('./commands/data-profile.ts');
      done(await dataProfile(file, options, io));
    });
  const undisturbed = recording === undefined ? undefined : writing(recording.io);
  addImport(data, { io, done, undisturbed });
  addInfo(data, { io, done });
  addGenerate(data, { io, done, undisturbed });
  if (recording !== undefined) addRecord(data, done, recording);
}

/** What recording needs of the process besides files: signals, and where the config is. */
export interface Recording {
  readonly io: RunIo;
  readonly config: () => Option<'--config <file>', undefined, string>;
}

function addRecord(data: Command, done: Data['done'], { io, config }: Recording): void {
  data
    .command('record')
    .description(
      'write the reference prices of the venue as bars, until it is told to stop; asks for no quote',
    )
    .argument('<pairs...>', 'pairs, such as btcusd')
    .addOption(config())
    .addOption(
      new Option('--mode <mode>', 'instead of that of the config').choices([
        'live',
        'dry_run',
        'paper',
      ] as const),
    )
    .option('--bar <duration>', 'length of a bar, ISO 8601', 'PT1S')
    .option('--for <duration>', 'end after this long, ISO 8601')
    .requiredOption('--out <folder>', 'folder for PAIR.csv of each pair; files that are there are continued')
    .action(async (pairs, options) => {
      const { dataRecord } = await import('./commands/data-record.ts');
      done(await dataRecord(pairs, options, io));
    });
}

interface Data {
  readonly io: CommandIo;
  readonly done: (code: number) => void;
  readonly undisturbed?: Undisturbed | undefined;
}

/** A signal that comes while a file is written is passed by: what is written is whole, and then all is done. */
const writing =
  (io: RunIo): Undisturbed =>
  (write) => {
    const forget = io.onSignal(() => undefined);
    try {
      write();
    } finally {
      forget();
    }
  };

const pairOption = () =>
  new Option('--pair <pair>', 'pair of the files, such as btcusd; left out: as the file says').argParser(
    (text): string => {
      if (/^[a-z0-9]{2,24}$/u.test(text)) return text;
      throw new InvalidArgumentError('write it in small letters, such as btcusd');
    },
  );
const formatOption = () =>
  new Option('--format <format>', 'layout of the files; left out: told by their content').choices(formats);
const unitOption = () =>
  new Option('--unit <unit>', 'unit of Unix times; left out: told by their digits').choices(units);
const barOption = () =>
  new Option('--bar <duration>', 'length of a bar, ISO 8601; left out: told by the times');
const scaleOption = () =>
  new Option(
    '--price-scale <n>',
    'prices are divided by this (10000 for equities of LEAN); left out: not',
  ).argParser(numberAbove0);
const keepOption = () =>
  new Option(
    '--keep <which>',
    'of bars of one time with other figures, keep this one; left out: refuse them',
  ).choices(['first', 'last'] as const);
const sortOption = () => new Option('--sort', 'sort rows that are in no order; left out: refuse them');
const jsonOption = () => new Option('--json', 'print one JSON object on stdout');

function addImport(data: Command, { io, done, undisturbed }: Data): void {
  data
    .command('import')
    .description('read market history of one pair into a tape, once; says what is missing, double or damaged')
    .argument('<files...>', 'bars or trades: CSV, JSON, Parquet, Arrow, plain or in gzip or zip')
    .addOption(pairOption())
    .addOption(formatOption())
    .addOption(unitOption())
    .addOption(barOption())
    .addOption(scaleOption())
    .addOption(keepOption())
    .addOption(sortOption())
    .option('--out <file>', 'write the tape to this file, which is not there yet, instead of the cache')
    .addOption(cacheOption())
    .addOption(jsonOption())
    .action(async (files, options) => {
      const { dataImport } = await import('./commands/data-tape.ts');
      done(await dataImport(files, { ...options, undisturbed }, io));
    });
}

function addInfo(data: Command, { io, done }: Data): void {
  data
    .command('info')
    .description('what is in a tape, or would be in one of these files; writes nothing')
    .argument('<files...>', 'a tape, or files that data import reads')
    .addOption(pairOption())
    .addOption(formatOption())
    .addOption(unitOption())
    .addOption(barOption())
    .addOption(scaleOption())
    .addOption(keepOption())
    .addOption(sortOption())
    .addOption(jsonOption())
    .action(async (files, options) => {
      const { dataInfo } = await import('./commands/data-tape.ts');
      done(await dataInfo(files, options, io));
    });
}

function addGenerate(data: Command, { io, done, undisturbed }: Data): void {
  data
    .command('generate')
    .description('invent tapes: a seeded random walk a pair, the same on every machine')
    .argument('<pairs...>', 'pairs, each with its first price where that matters: btcusd=60000')
    .option('--rows <n>', 'number of bars', wholeNumber(8), 525_600)
    .option('--bar <duration>', 'length of a bar, ISO 8601', 'PT1M')
    .option('--start <time>', 'start of the first bar', '2021-01-01T00:00:00Z')
    .option('--seed <text>', 'the same seed gives the same tapes', '1')
    .option('--volatility <n>', 'standard deviation of the logarithm a day: 0.03 is 3 %', numberAbove0, 0.03)
    .option('--correlation <n>', 'of the steps of the pairs, 0 to 1', numberFrom0, 0.5)
    .requiredOption('--out <folder>', 'folder for PAIR.arrow of each pair')
    .option('--json', 'print one JSON object a pair on stdout')
    .action(async (pairs, options) => {
      const { dataGenerate } = await import('./commands/data-tape.ts');
      done(dataGenerate({ ...options, pairs, undisturbed }, io));
    });
}
