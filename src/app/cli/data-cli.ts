import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { formats, units } from '../../research/import/plan.ts';
import type { RunIo } from '../commands/io.ts';
import { cacheOption, modeOption, numberAbove0, numberFrom0, wholeNumber } from './options.ts';
import type { CliWorld } from './options.ts';

/** Adds `tranche data …`, the commands for market history. */
export function addData(cli: Command, { io, config, done }: CliWorld<RunIo>): void {
  const data = cli.command('data').description('import, inspect, record and generate market history');
  data
    .command('profile')
    .description('learn a VWAP volume profile from history; prints YAML for the strategy')
    .argument('<file>', 'bars or trades with volume: a tape or a file that data import reads')
    .option('--parts <n>', 'intervals per day; must divide 1440', wholeNumber(4), 24)
    .option('--time-zone <zone>', 'IANA time zone in which the day begins', 'UTC')
    .option('--week', 'learn a weekly profile, with a curve per weekday')
    .option('--max-gap <duration>', 'longest gap between bars to accept, ISO 8601 (default: no gap)')
    .option('--out <file>', 'write to this new file instead of stdout')
    .option('--json', 'print JSON, with a summary of the source data')
    .action(async (file, options) => {
      const { dataProfile } = await import('../commands/data/data-profile.ts');
      done(await dataProfile(file, options, io));
    });
  addImport(data, { io, done });
  addInfo(data, { io, done });
  addGenerate(data, { io, done });
  addRecord(data, { io, config, done });
}

function addRecord(data: Command, { io, config, done }: CliWorld<RunIo>): void {
  data
    .command('record')
    .description("record the venue's reference prices as bars until stopped; requests no quotes")
    .argument('<pairs...>', 'pairs, such as btcusd')
    .addOption(config())
    .addOption(modeOption())
    .option('--bar <duration>', 'length of a bar, ISO 8601', 'PT1S')
    .option('--for <duration>', 'stop after this ISO 8601 duration')
    .requiredOption('--out <folder>', 'folder for one PAIR.csv per pair; bars are appended to existing files')
    .action(async (pairs, options) => {
      const { dataRecord } = await import('../commands/data/data-record.ts');
      done(await dataRecord(pairs, options, io));
    });
}

type Data = Omit<CliWorld, 'config'>;

const pairOption = () =>
  new Option('--pair <pair>', 'pair of the files, such as btcusd (default: from the file)').argParser(
    (text): string => {
      if (/^[a-z0-9]{2,24}$/u.test(text)) return text;
      throw new InvalidArgumentError('write the pair in lower case, such as btcusd');
    },
  );
const formatOption = () =>
  new Option('--format <format>', 'layout of the files (default: detected)').choices(formats);
const unitOption = () => new Option('--unit <unit>', 'unit of Unix times (default: detected)').choices(units);
const barOption = () => new Option('--bar <duration>', 'length of a bar, ISO 8601 (default: detected)');
const scaleOption = () =>
  new Option(
    '--price-scale <n>',
    'divisor of prices, such as 10000 for LEAN equities (default: 1)',
  ).argParser(numberAbove0);
const keepOption = () =>
  new Option(
    '--keep <which>',
    'bar to keep when two have the same time and different figures (default: refuse)',
  ).choices(['first', 'last'] as const);
const sortOption = () => new Option('--sort', 'sort rows that are out of order (default: refuse)');
const maxSizeOption = () =>
  new Option('--max-size <MiB>', 'maximum size of a decompressed file in MiB (default: 1024)').argParser(
    wholeNumber(6),
  );
const jsonOption = () => new Option('--json', 'print one JSON object to stdout');

function addImport(data: Command, { io, done }: Data): void {
  data
    .command('import')
    .description('import market history of one pair into a tape; reports gaps, duplicates and damage')
    .argument('<files...>', 'bars or trades: CSV, JSON, Parquet or Arrow; plain, gzip or zip')
    .addOption(pairOption())
    .addOption(formatOption())
    .addOption(unitOption())
    .addOption(barOption())
    .addOption(scaleOption())
    .addOption(keepOption())
    .addOption(sortOption())
    .addOption(maxSizeOption())
    .option('--out <file>', 'write the tape to this new file instead of the cache')
    .addOption(cacheOption())
    .addOption(jsonOption())
    .action(async (files, options) => {
      const { dataImport } = await import('../commands/data/data-tape.ts');
      done(await dataImport(files, options, io));
    });
}

function addInfo(data: Command, { io, done }: Data): void {
  data
    .command('info')
    .description('describe a tape, or files before import; writes nothing')
    .argument('<files...>', 'a tape or files that data import reads')
    .addOption(pairOption())
    .addOption(formatOption())
    .addOption(unitOption())
    .addOption(barOption())
    .addOption(scaleOption())
    .addOption(keepOption())
    .addOption(sortOption())
    .addOption(maxSizeOption())
    .addOption(jsonOption())
    .action(async (files, options) => {
      const { dataInfo } = await import('../commands/data/data-tape.ts');
      done(await dataInfo(files, options, io));
    });
}

function addGenerate(data: Command, { io, done }: Data): void {
  data
    .command('generate')
    .description('generate tapes: one seeded random walk per pair, identical on every machine')
    .argument('<pairs...>', 'pairs, optionally with a first price: btcusd=60000')
    .option('--rows <n>', 'number of bars', wholeNumber(8), 525_600)
    .option('--bar <duration>', 'length of a bar, ISO 8601', 'PT1M')
    .option('--start <time>', 'start of the first bar', '2021-01-01T00:00:00Z')
    .option('--seed <text>', 'seed; the same seed gives the same tapes', '1')
    .option('--volatility <n>', 'daily standard deviation of log returns: 0.03 is 3 %', numberAbove0, 0.03)
    .option('--correlation <n>', 'correlation between the pairs, 0 to 1', numberFrom0, 0.5)
    .requiredOption('--out <folder>', 'folder for one PAIR.arrow per pair')
    .option('--json', 'print one JSON object per pair to stdout')
    .action(async (pairs, options) => {
      const { dataGenerate } = await import('../commands/data/data-tape.ts');
      done(dataGenerate({ ...options, pairs }, io));
    });
}
