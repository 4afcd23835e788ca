import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { COMMON_CURRENCIES, sidesOf } from '../../core/pairs.ts';
import { delistedTape } from '../../research/run/delisting.ts';
import { TAPES } from '../cli/options.ts';
import { windowOf } from './backtest-window.ts';
import type { NamedTape, WindowFacts, WindowOptions } from './backtest-window.ts';
import { readName, readTape } from './tape-file.ts';
import type { NamedFile } from './tape-file.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Quantity } from '../../core/money.ts';
import { quantity, text } from '../../core/money.ts';
import { isoOf, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { readConfig } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import type { CommandIo, Given } from '../commands/io.ts';
import { readHoldings } from '../config/holdings.ts';
import type { FileProblem } from '../config/problems.ts';
import { simulatedCurrencies } from '../config/rates.ts';
import { readStrategies } from '../strategies/strategies.ts';
import type { LoadedStrategy } from '../strategies/strategies.ts';

export type InputOptions = WindowOptions &
  Given<'cache' | 'holdings', 'isConfigNamed'> & {
    readonly config: string;
    readonly files?: readonly string[] | undefined;
    readonly data: readonly string[];
  };

/** Everything that a backtest reads before it begins. */
export interface BacktestInput {
  readonly config: Config;
  readonly configHash: string;
  /** Absolute paths of the strategy files. */
  readonly strategyFiles: readonly string[];
  readonly strategies: readonly LoadedStrategy[];
  readonly tapes: readonly NamedTape[];
  readonly from: Instant;
  readonly until: Instant;
  readonly holdings: ReadonlyMap<string, Quantity>;
  /** Cache folder of market history, absolute. */
  readonly window: WindowFacts;
}

/** Reads tapes, config, strategies, window and holdings, or returns every problem of the files. @throws OperatorError for all others. */
export async function readInput(
  options: InputOptions,
  io: CommandIo,
): Promise<BacktestInput | { readonly problems: readonly FileProblem[] }> {
  if (options.data.length === 0)
    throw new OperatorError('usage', 'no prices given: add --data PAIR=FILE for each traded pair');
  const named = options.data.map(readName);
  const cacheFolder = resolve(io.cwd, options.cache ?? TAPES);
  const tapeFiles = named.map(({ pair, file }) => ({ pair, name: file, cwd: io.cwd, cacheFolder }));
  // A backtest connects to no venue, so the config of a live desk must be readable without its token.
  const env = { TRANCHE_TOKEN: 'none-in-a-backtest', ...io.env };
  const settings = { env, cwd: io.cwd, now: io.now, mode: 'paper' as const };
  const read = readConfig(options.config, { ...settings, text: withoutConfig(options, io) });
  const config =
    read.loaded &&
    onTapes(
      read.loaded.config,
      named.map(({ pair }) => pair),
      holdingsOf(options, read.loaded.config),
    );
  const files = (options.files ?? []).map((file) => resolve(io.cwd, file));
  const strategyFiles = files.length > 0 ? files : read.strategyFiles;
  const checked = readStrategies(strategyFiles, config, io);
  const problems = [...read.problems, ...checked.problems];
  if (config === undefined || read.loaded === undefined || problems.length > 0) return { problems };
  const strategies = checked.strategies.filter(({ enabled }) => enabled);
  if (strategies.length === 0)
    throw new OperatorError('usage', 'no strategy to run: name a file whose strategy is enabled');
  const holdings = holdingsOf(options, config);
  refuseWorthless({ config, strategies, holdings, named });
  const tapes: NamedTape[] = [];
  for (const file of tapeFiles) tapes.push({ file: file.name, tape: await readTape(file) });
  const window = windowOf(options, tapes);
  for (const note of window.window.notes) io.stderr.write(`warning: ${note}\n`);
  warnOfLateStarts(strategies, window.until, io);
  const gone = new Set(window.window.delisted.map(({ pair }) => pair));
  return {
    config,
    configHash: read.loaded.hash,
    strategyFiles,
    strategies,
    tapes: tapes.map((one) => (gone.has(one.tape.pair) ? { ...one, tape: delistedTape(one.tape) } : one)),
    holdings,
    ...window,
  };
}

/** Returns the text of a default config, or `undefined` if there is a config. @throws OperatorError `config` if a config is needed. */
function withoutConfig(
  { config, isConfigNamed = true, files = [], holdings }: InputOptions,
  io: CommandIo,
): string | undefined {
  if (isConfigNamed || existsSync(resolve(io.cwd, config))) return undefined;
  if (files.length === 0 || holdings === undefined)
    throw new OperatorError(
      'config',
      `there is no ${config}: a backtest without a config needs strategy files and --holdings, such as --holdings usd=100000; or create one with "tranche init", or name one with --config`,
    );
  io.stderr.write('no config: using limits of a billion usd per order and a collar of 10 %; use --config for the limits of a desk\n'); // prettier-ignore
  return NO_DESK;
}

/** Config of a backtest for which none is given. Its limits are so large that they do not matter. */
const NO_DESK = `
mode: paper
venue: { sell_path: /v1/orders/sell, simulated: { seed: 1 } }
controls:
  max_order_notional: { amount: '1000000000', currency: usd }
  max_day_notional: { amount: '1000000000000', currency: usd }
  collar_bps: 1000
journal: 'memory:'
strategies: []
`;

/** Returns the config, with a simulated venue that trades exactly the pairs with tapes, whatever their currencies. */
function onTapes(config: Config, pairs: readonly string[], holdings: ReadonlyMap<string, Quantity>): Config {
  const { simulated } = config.venue;
  if (simulated === undefined) return config;
  const known = Object.entries(simulated.pairs).filter(([pair]) => pairs.includes(pair));
  const settings = Object.fromEntries(known);
  const [some] = Object.values(simulated.pairs);
  const plain = some && { ...some, base: undefined, quote: undefined, startPrice: undefined };
  const all = pairs.flatMap((pair) => {
    const sides = sidesOf(pair, [
      ...Object.keys(simulated.currencies),
      ...holdings.keys(),
      ...COMMON_CURRENCIES,
    ]);
    const setting = settings[pair] ?? (plain && { ...plain, ...sides });
    return setting === undefined ? [] : [[pair, setting] as const];
  });
  return {
    ...config,
    modules: 'this_process',
    venue: { ...config.venue, isTaped: true, simulated: { ...simulated, pairs: Object.fromEntries(all) } },
  };
}

/** Returns the holdings of the command line, or the opening balances of the config's simulated venue. */
function holdingsOf({ holdings }: InputOptions, config: Config): ReadonlyMap<string, Quantity> {
  if (holdings !== undefined) {
    const held = readHoldings(holdings);
    for (const [currency, amount] of held)
      if (amount.isNegative())
        throw new OperatorError(
          'usage',
          `--holdings: a backtest starts without debts, got ${currency}=${text(amount)}: write 0 or more`,
        );
    return held;
  }
  const [account] = config.venue.simulated?.accounts ?? [];
  return new Map(
    Object.entries(account?.balances ?? {}).map(([currency, held]) => [currency, quantity(held)]),
  );
}

interface Valued extends Pick<BacktestInput, 'config' | 'strategies' | 'holdings'> {
  readonly named: readonly NamedFile[];
}

/** Refuses currencies that neither the tapes nor a rate in the config can convert to USD, the currency of the venue's maximums. */
function refuseWorthless({ config, strategies, holdings, named }: Valued): void {
  const listed = simulatedCurrencies(config) ?? {};
  // The venue refuses a name that cannot be split, and explains why.
  const pairs = named.flatMap(({ pair }) => {
    const { base, quote } = sidesOf(pair, [...Object.keys(listed), ...holdings.keys()]);
    return base === undefined || quote === undefined ? [] : [{ base, quote }];
  });
  if (pairs.length < named.length) return;
  const rated = Object.entries(listed).flatMap(([name, { usdRate }]) =>
    usdRate === undefined ? [] : [name],
  );
  const valued = new Set(['usd', ...rated]);
  for (const known of valued)
    for (const { base, quote } of pairs) {
      if (quote === known) valued.add(base);
      if (base === known) valued.add(quote);
    }
  const used = new Set([...holdings.keys(), ...pairs.flatMap(({ base, quote }) => [base, quote])]);
  const worthless = [...used].find((currency) => !valued.has(currency));
  if (worthless === undefined) return;
  const isTraded = strategies.some(({ bound }) => bound.pairs.some((pair) => pair.includes(worthless)));
  const leave = isTraded ? '' : `, use --holdings without ${worthless}`;
  throw new OperatorError(
    'config',
    `the value of ${worthless} in USD is unknown: add --data ${worthless}usd=FILE${leave}, or set rates: { ${worthless}: { usd: "1" } } with its value in usd in the config`,
  );
}

/** Warns about strategies that start after the window. Otherwise, a user would look for the fault elsewhere. */
function warnOfLateStarts(strategies: readonly LoadedStrategy[], until: Instant, io: CommandIo): void {
  for (const { id, bound, document } of strategies) {
    const { start_time: written } = document;
    const startsAt = typeof written === 'string' ? parseTime(written) : undefined;
    if (startsAt !== undefined && startsAt >= until && bound.slots(startsAt, undefined).length > 0)
      io.stderr.write(
        `warning: strategy ${id} has start_time ${isoOf(startsAt)}, but the window ends at ${isoOf(until)}: it will not trade\n`,
      );
  }
}
