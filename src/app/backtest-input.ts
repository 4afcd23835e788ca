import { resolve } from 'node:path';
import { coverOf } from '../backtest/run.ts';
import { TAPES } from './data-cli.ts';
import { readName, readTape } from './tape-file.ts';
import type { NamedFile } from './tape-file.ts';
import { knownAt } from '../backtest/tape.ts';
import type { Tape } from '../backtest/tape.ts';
import { OperatorError } from '../core/errors.ts';
import type { Quantity } from '../core/money.ts';
import { quantity } from '../core/money.ts';
import { instant, isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { readConfig } from './config.ts';
import type { Config } from './config.ts';
import type { CommandIo } from './commands/io.ts';
import { readMoment } from './local-time.ts';
import { readHoldings } from './plan-facts.ts';
import { nearest } from './problems.ts';
import type { FileProblem } from './problems.ts';
import { readStrategies } from './strategies.ts';
import type { LoadedStrategy } from './strategies.ts';

export interface InputOptions {
  readonly config: string;
  readonly files?: readonly string[] | undefined;
  /** `btcusd=FILE`, each. */
  readonly data: readonly string[];
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  readonly holdings?: string | undefined;
}

/** All that a backtest reads before it begins. */
export interface BacktestInput {
  readonly config: Config;
  readonly configHash: string;
  /** Of the strategies, absolute. */
  readonly strategyFiles: readonly string[];
  readonly strategies: readonly LoadedStrategy[];
  readonly tapes: readonly NamedTape[];
  readonly from: Instant;
  readonly until: Instant;
  readonly holdings: ReadonlyMap<string, Quantity>;
}

export interface NamedTape {
  readonly tape: Tape;
  /** As the operator named it. */
  readonly file: string;
}

/** Tapes, config, strategies, window and holdings, or every problem of the files. @throws OperatorError for all others. */
export async function readInput(
  options: InputOptions,
  io: CommandIo,
): Promise<BacktestInput | { readonly problems: readonly FileProblem[] }> {
  if (options.data.length === 0)
    throw new OperatorError(
      'usage',
      'there are no prices: add --data PAIR=FILE for each pair that is traded',
    );
  const named = options.data.map(readName);
  // Nobody is connected to: the config of a live desk is read where its token is not.
  const env = { TRANCHE_TOKEN: 'none-in-a-backtest', ...io.env };
  const settings = { env, cwd: io.cwd, now: io.now, mode: 'paper' as const };
  const read = readConfig(options.config, settings);
  const config =
    read.loaded &&
    onTapes(
      read.loaded.config,
      named.map(({ pair }) => pair),
    );
  const files = (options.files ?? []).map((file) => resolve(io.cwd, file));
  const strategyFiles = files.length > 0 ? files : read.strategyFiles;
  const checked = readStrategies(strategyFiles, config, io);
  const problems = [...read.problems, ...checked.problems];
  if (config === undefined || read.loaded === undefined || problems.length > 0) return { problems };
  const strategies = checked.strategies.filter(({ enabled }) => enabled);
  if (strategies.length === 0)
    throw new OperatorError('usage', 'there is no strategy: name a file, or one that is not switched off');
  refuseUntaped(strategies, named);
  const holdings = holdingsOf(options, config);
  const tapes: NamedTape[] = [];
  for (const { pair, file } of named)
    tapes.push({ file, tape: await readTape({ pair, name: file, cwd: io.cwd, cacheFolder: TAPES }) });
  return {
    config,
    configHash: read.loaded.hash,
    strategyFiles,
    strategies,
    tapes,
    holdings,
    ...windowOf(options, tapes),
  };
}

/** The config with a simulated venue that trades what there are tapes of, and nothing else. */
function onTapes(config: Config, pairs: readonly string[]): Config {
  const { simulated } = config.venue;
  if (simulated === undefined) return config;
  const known = Object.entries(simulated.pairs).filter(([pair]) => pairs.includes(pair));
  const settings = Object.fromEntries(known);
  const [some] = Object.values(simulated.pairs);
  const plain = some && { ...some, base: undefined, quote: undefined, startPrice: undefined };
  const all = pairs.flatMap((pair) => {
    const setting = settings[pair] ?? plain;
    return setting === undefined ? [] : [[pair, setting] as const];
  });
  return {
    ...config,
    venue: { ...config.venue, simulated: { ...simulated, pairs: Object.fromEntries(all) } },
  };
}

function refuseUntaped(strategies: readonly LoadedStrategy[], named: readonly NamedFile[]): void {
  const known = new Set(named.map(({ pair }) => pair));
  for (const { id, bound } of strategies) {
    const missing = bound.pairs.filter((pair) => !known.has(pair));
    const [pair] = missing;
    if (pair === undefined) continue;
    const meant = nearest(pair, known);
    const fix = meant === undefined ? '' : ` (there is one of ${meant})`;
    throw new OperatorError(
      'usage',
      `strategy ${id} trades ${missing.join(', ')}, of which there is no tape${fix}: add --data ${pair}=FILE`,
    );
  }
}

/** Those of the command line; else what the simulated venue of the config begins with. */
function holdingsOf({ holdings }: InputOptions, config: Config): ReadonlyMap<string, Quantity> {
  if (holdings !== undefined) return readHoldings(holdings);
  const [account] = config.venue.simulated?.accounts ?? [];
  return new Map(
    Object.entries(account?.balances ?? {}).map(([currency, held]) => [currency, quantity(held)]),
  );
}

/** The window that is asked for; left out: all that every tape covers. */
function windowOf(
  { from, until }: InputOptions,
  tapes: readonly NamedTape[],
): Pick<BacktestInput, 'from' | 'until'> {
  const cover = coverOf(tapes.map(({ tape }) => tape));
  const asked = {
    from: from === undefined ? cover.from : readMoment(from, { option: '--from', zone: 'UTC' }),
    until: until === undefined ? cover.until : readMoment(until, { option: '--until', zone: 'UTC' }),
  };
  for (const { tape, file } of tapes) {
    const { pair } = tape;
    const first = knownAt(tape, 0);
    const end = coverOf([tape]).until;
    if (asked.from < first)
      throw new OperatorError(
        'usage',
        `--from ${isoOf(asked.from)} is before the first price of ${pair} is known, at ${isoOf(first)} (${file})`,
      );
    if (asked.until > end)
      throw new OperatorError(
        'usage',
        `${until === undefined ? 'the window ends at' : '--until'} ${isoOf(asked.until)}, after the tape of ${pair} has ended, at ${isoOf(end)} (${file})`,
      );
  }
  if (asked.until <= asked.from)
    throw new OperatorError(
      'usage',
      `there is no time between ${isoOf(asked.from)} and ${isoOf(asked.until)}: the tapes must overlap, and --from must be before --until`,
    );
  return { from: instant(asked.from), until: instant(asked.until) };
}
