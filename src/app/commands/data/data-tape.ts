import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { OperatorError } from '../../../core/errors.ts';
import { instant, isoOf, parseTime } from '../../../core/time.ts';
import { generateTape } from '../../../research/tape/generate.ts';
import type { Keep } from '../../../research/import/assemble.ts';
import type { Format, TimeUnit } from '../../../research/import/plan.ts';
import { reportOfTape } from '../../../research/import/read.ts';
import { openTape, writeTape } from '../../../research/tape/store.ts';
import type { OpenedTape, OpenTape } from '../../../research/tape/store.ts';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { formats, units } from '../../../research/import/plan.ts';
import { cacheOption, durationOf, numberAbove0, numberFrom0, wholeNumber } from '../../cli/options.ts';
import type { CliWorld } from '../../cli/options.ts';
import { makeFolders } from '../../../files/folders.ts';
import { tapeWords } from '../../research/tape-text.ts';
import type { CommandIo, Given } from '../io.ts';

/** Adds `tranche data import`, `info` and `generate`. */
export function addTape(data: Command, { io, done }: CliWorld): void {
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
      done(await dataImport(files, options, io));
    });
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
      done(await dataInfo(files, options, io));
    });
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
    .action((pairs, options) => {
      done(dataGenerate({ ...options, pairs }, io));
    });
}

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

export type ReadOptions = Given<'pair' | 'bar', 'sort' | 'json', 'priceScale' | 'maxSize'> & {
  readonly format?: Format | undefined;
  readonly unit?: TimeUnit | undefined;
  readonly keep?: Keep | undefined;
};

export interface ImportCommand extends ReadOptions {
  /** Folder of cached tapes. */
  readonly cache: string;
  /** File to write instead of the cache, which must not exist. */
  readonly out?: string | undefined;
}

type Io = Pick<CommandIo, 'stdout' | 'stderr' | 'cwd'>;

/**
 * Reads files of one pair into a tape, stores the tape, and prints what the files contain.
 *
 * @throws OperatorError (`data`, `usage`, `storage`) that names the file and the wrong row.
 */
export async function dataImport(files: readonly string[], options: ImportCommand, io: Io): Promise<number> {
  const { out } = options;
  if (out !== undefined) refuseExisting(resolve(io.cwd, out), out);
  const cacheFolder = out === undefined ? options.cache : undefined;
  const opened = await openTape(files, {
    ...readWith(options),
    cwd: io.cwd,
    cacheFolder,
  });
  if (out !== undefined) save(resolve(io.cwd, out), out, opened);
  const file = out === undefined ? opened.file : resolve(io.cwd, out);
  show(opened, { ...options, file }, io);
  if (opened.said !== undefined) io.stderr.write(`${opened.said}\n`);
  if (options.json !== true) {
    const what = opened.origin === 'cached' ? 'was imported before:' : opened.origin === 'tape' && out === undefined ? 'is a tape:' : 'wrote'; // prettier-ignore
    io.stderr.write(file === undefined ? 'kept only in memory\n' : `${what} ${file}\n`);
  }
  return 0;
}

/** Prints what an import would find in the files; writes nothing. @throws OperatorError as `dataImport` does. */
export async function dataInfo(files: readonly string[], options: ReadOptions, io: Io): Promise<number> {
  const opened = await openTape(files, { ...readWith(options), cwd: io.cwd, anyPair: ANY_PAIR });
  show(opened, { json: options.json, file: opened.file }, io);
  return 0;
}

/** Placeholder for a pair, because a file can be described without one. */
const ANY_PAIR = 'notsaid';

export interface GenerateCommand {
  /** `btcusd` or `btcusd=60000`, with the price at the start. */
  readonly pairs: readonly string[];
  readonly rows: number;
  readonly bar: string;
  readonly start: string;
  readonly seed: string;
  readonly volatility: number;
  readonly correlation: number;
  /** Folder for `PAIR.arrow` of each pair. */
  readonly out: string;
  readonly json?: boolean | undefined;
}

/** Writes tapes of generated prices. @throws OperatorError (`usage`, `storage`). */
export function dataGenerate(options: GenerateCommand, io: Io): number {
  const { rows, seed, volatility, correlation, out } = options;
  const barMs = durationOf('--bar', options.bar);
  const startsAt = timeOf(options.start);
  if (rows < 1 || rows > ROWS_MAX)
    throw new OperatorError('usage', `--rows ${rows}: expected 1 to ${ROWS_MAX}`);
  if (!(volatility > 0 && volatility < 1) || !(correlation >= 0 && correlation <= 1))
    throw new OperatorError('usage', 'expected --volatility between 0 and 1, and --correlation from 0 to 1');
  const wanted = options.pairs.map((text) => {
    const pair = pairWithPrice(text);
    return { ...pair, file: join(resolve(io.cwd, out), `${pair.pair}.arrow`) };
  });
  for (const [n, { pair, file }] of wanted.entries()) {
    if (wanted.slice(0, n).some((other) => other.pair === pair))
      throw new OperatorError('usage', `${pair} is named twice`);
    refuseExisting(file, file);
  }
  for (const { pair, startPrice, file } of wanted) {
    const tape = generateTape({ pair, startPrice, rows, barMs, startsAt, seed, volatility, correlation });
    const note = `generated: a random walk with the seed ${JSON.stringify(seed)}`;
    const report = reportOfTape(tape, [note]);
    const opened = { tape, report, origin: 'tape', file, said: undefined } as const;
    save(file, file, opened);
    show(opened, { json: options.json, file }, io);
    if (options.json !== true) io.stderr.write(`wrote ${file}\n`);
  }
  return 0;
}

const ROWS_MAX = 20_000_000;

function pairWithPrice(text: string): { readonly pair: string; readonly startPrice: number } {
  const [, pair, price = '100'] = /^([a-z0-9]{2,24})(?:=(\d+(?:\.\d+)?))?$/u.exec(text) ?? [];
  if (pair === undefined || !(Number(price) > 0))
    throw new OperatorError('usage', `"${text}": expected a pair, such as btcusd or btcusd=60000`);
  return { pair, startPrice: Number(price) };
}

const MIB = 1_048_576;

function readWith(options: ReadOptions): Omit<OpenTape, 'cwd'> {
  const { pair, format, unit, bar, priceScale, keep, sort, maxSize } = options;
  return {
    pair,
    format,
    unit,
    barMs: bar === undefined ? undefined : durationOf('--bar', bar),
    priceScale,
    keep,
    sort,
    maxBytes: maxSize === undefined ? undefined : maxSize * MIB,
  };
}

function timeOf(text: string): ReturnType<typeof parseTime> {
  try {
    return parseTime(text);
  } catch (cause) {
    throw new OperatorError(
      'usage',
      `--start: ${cause instanceof Error ? cause.message : 'unreadable'}`,
      cause,
    );
  }
}

function refuseExisting(path: string, name: string): void {
  if (existsSync(path)) throw new OperatorError('usage', `${name} exists: nothing was written`);
}

function save(path: string, name: string, { tape, report }: Pick<OpenedTape, 'tape' | 'report'>): void {
  try {
    makeFolders(dirname(path));
    writeTape(path, tape, report);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new OperatorError('storage', `${name} cannot be written: ${why}`, cause);
  }
}

function show(
  { report, origin }: OpenedTape,
  { json, file }: { readonly json?: boolean | undefined; readonly file: string | undefined },
  io: Io,
): void {
  const times = { first: isoOf(instant(report.first)), last: isoOf(instant(report.last)) };
  const pair = report.pair === ANY_PAIR ? undefined : report.pair;
  if (json === true)
    io.stdout.write(`${JSON.stringify(snakeCase({ ...report, pair, ...times, origin, file }))}\n`);
  else
    io.stdout.write(
      `${tapeWords({ ...report, pair: pair ?? 'unknown: an import needs --pair' }).join('\n')}\n`,
    );
}

/** Renames all fields to the style of this program's JSON, such as `bar_ms`. */
function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase);
  if (typeof value !== 'object' || value === null) return value;
  const named = (key: string): string => key.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [named(key), snakeCase(each)]));
}
