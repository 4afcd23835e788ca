import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { isAmountText } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import { readConfig } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { shownPath } from '../config/files.ts';
import { formatProblems } from '../config/problems.ts';
import { readStrategies, worldOf } from '../strategies/strategies.ts';
import { Argument } from '@commander-js/extra-typings';
import { BY, WHY, daemonCommand } from '../cli/options.ts';
import type { AddCommands } from '../cli/options.ts';
import { ask, tell } from './desk/daemon-client.ts';
import { whoami } from './io.ts';
import type { CommandIo, Given } from './io.ts';
import { plain } from './desk/status.ts';
import type { SignedOptions } from './desk/steer.ts';

/** Adds `tranche execute`. */
export const addExecute: AddCommands = (cli, { io, config, done }) => {
  daemonCommand(config)(
    cli,
    'execute',
    'place one order now, as a strategy of its own, through the same limits and journal',
  )
    .addArgument(new Argument('<side>', 'buy or sell').choices(['buy', 'sell'] as const))
    .argument('<amount>', 'plain decimal, such as 0.5')
    .argument('<currency>', 'currency of the amount: base or quote of the pair')
    .option('--pair <pair>', "pair (default: the desk's only pair with this base currency)")
    .option('--limit <price>', 'worst acceptable price, quote per base (default: none)')
    .option('--within <duration>', 'time to trade, ISO 8601 (default: PT5M)')
    .option('--slices <n>', 'number of equal slices within that time (default: 1)')
    .option(...WHY)
    .option(...BY)
    .option('--yes', 'place the order; without this, only show what would be placed')
    .action(async (side, amount, currency, options) => {
      done(await execute({ ...options, side, amount, currency }, io));
    });
};

type ExecuteOptions = SignedOptions &
  Given<'pair' | 'limit' | 'within' | 'slices', 'yes'> & {
    readonly side: Side;
    readonly amount: string;
    readonly currency: string;
  };

/**
 * Places one order for a person: writes a strategy for it into the desk's folder, and reloads the desk. The order is
 * subject to the limits, the gate and the journal like every other order. Exit codes: 0, 64 for invalid arguments or
 * without `--yes`, 69 when no daemon runs, 75 when the desk refuses, 78 when the order is not possible with this
 * config.
 */
async function execute(options: ExecuteOptions, io: CommandIo): Promise<number> {
  const { config, folder } = deskOf(options, io);
  const id = `execute-${isoOf(io.now).replaceAll(/\D/gu, '').slice(0, 14)}`;
  const document = documentOf(id, options, config);
  const words = wordsOf(document, config);
  if (options.yes !== true)
    throw new OperatorError('usage', `this would ${words}. Add --yes to place the order`);
  await refuseOtherChanges(options, io);
  const file = join(folder, `${id}.yaml`);
  const draft = join(folder, `.${id}.draft`);
  if (existsSync(file)) throw new OperatorError('usage', `${id} exists: try again in a second`);
  const text = `# Placed with "tranche execute" by ${whoami(io)}: ${JSON.stringify(options.why ?? 'no reason given')}\n${JSON.stringify(document, undefined, 2)}\n`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    const checked = readStrategies([draft], config, io);
    if (checked.problems.length > 0) {
      io.stderr.write(formatProblems(checked.problems, { colour: io.colour }));
      return exitCodes.config;
    }
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
  return await begin(options, io, { id, file, words, document });
}

interface Placed {
  readonly id: string;
  readonly file: string;
  readonly words: string;
  readonly document: object;
}

/** Reloads the desk, so that it starts the strategy of the file. Deletes the file unless the desk accepts it. */
async function begin(
  options: ExecuteOptions,
  io: CommandIo,
  { id, file, words, document }: Placed,
): Promise<number> {
  let isBegun = false;
  try {
    const why = `execute ${id}: ${options.why ?? words}`;
    const by = options.by ?? whoami(io);
    const answer = await ask(options, io, { path: '/api/v1/reload', body: { why, by } });
    isBegun = answer.status === 200;
    const says = isBegun
      ? [
          `${id}: ${words}`,
          `written to ${shownPath(file, io.cwd)}`,
          `tranche status shows its progress; tranche stop ${id} --why "…" stops it`,
        ]
      : plain(answer.body['says']).split('\n');
    tell(io, options.json, { ...answer.body, strategy: id, file, document }, says);
    return isBegun ? 0 : exitCodes.again;
  } finally {
    if (!isBegun) rmSync(file, { force: true });
  }
}

/** Reads the config of the desk and the folder of its strategies. */
function deskOf(
  options: ExecuteOptions,
  io: CommandIo,
): { readonly config: Config; readonly folder: string } {
  if (options.url !== undefined)
    throw new OperatorError('usage', "tranche execute writes into the strategy folder of the desk: run it on the desk's machine, without --url"); // prettier-ignore
  // Only the daemon needs the token.
  const env = { TRANCHE_TOKEN: 'none-of-this-command', ...io.env };
  const read = readConfig(options.config, { env, cwd: io.cwd, now: io.now, mode: options.mode });
  if (read.loaded === undefined)
    throw new OperatorError('config', formatProblems(read.problems, { colour: false }).trimEnd());
  const folder = read.strategiesFolder;
  if (folder === undefined)
    throw new OperatorError(
      'config',
      'the config lists single strategy files: name a folder with strategies: …, so that an order can be added to it',
    );
  return { config: read.loaded.config, folder };
}

/** Refuses if other strategy files have changed, because a reload starts all changes, and an order must not start any of them. */
async function refuseOtherChanges(options: ExecuteOptions, io: CommandIo): Promise<void> {
  const { status, body } = await ask(options, io, {
    path: '/api/v1/reload',
    body: { why: 'execute', dry_run: true, by: options.by ?? whoami(io) },
  });
  const changes = Array.isArray(body['changes']) ? body['changes'] : [];
  if (status === 200 && changes.length === 0) return;
  throw new OperatorError(
    'config',
    `other changes to the strategy files wait for a reload and would take effect with this order:\n${plain(body['says'])}\nReload them first (tranche reload), or undo them`,
  );
}

const WITHIN = 'PT5M';

function documentOf(
  id: string,
  { side, amount, currency: given, limit, within = WITHIN, slices = '1', ...options }: ExecuteOptions,
  config: Config,
): Readonly<Record<string, unknown>> {
  if (!isAmountText(amount))
    throw new OperatorError('usage', `expected an amount such as 0.5, got "${amount}"`);
  if (!/^[1-9]\d{0,4}$/u.test(slices))
    throw new OperatorError('usage', '--slices: expected a whole number from 1');
  const currency = given.toLowerCase();
  const { pair, isBase } = pairFor(currency, options.pair, config);
  return {
    id,
    kind: 'twap',
    pair,
    side,
    [isBase ? 'total_quantity' : 'total_notional']: { amount, currency },
    duration: within,
    slices: Number(slices),
    ...(limit === undefined ? {} : { limit_price: limit }),
  };
}

/** Returns the named pair, or the only pair of the desk with this currency as its base. */
function pairFor(
  currency: string,
  named: string | undefined,
  config: Config,
): { readonly pair: string; readonly isBase: boolean } {
  const world = worldOf(config);
  const traded = [...(config.controls.pairs ?? Object.keys(config.venue.simulated?.pairs ?? {}))];
  const sides = (pair: string): { readonly base?: string; readonly quote?: string } =>
    world.currencies(pair) ?? {};
  const candidates = named === undefined ? traded.filter((pair) => sides(pair).base === currency) : [named];
  const [pair, ...others] = candidates;
  if (pair === undefined || others.length > 0)
    throw new OperatorError(
      'usage',
      pair === undefined
        ? `no pair of this desk has ${currency} as its base: name a pair with --pair; the desk trades ${traded.join(', ')}`
        : `${candidates.join(' and ')} trade ${currency}: choose one with --pair`,
    );
  const { base, quote } = sides(pair);
  if (currency !== (base ?? currency) && currency !== quote)
    throw new OperatorError('usage', `${pair} does not trade ${currency}`);
  return { pair, isBase: currency === base };
}

type Total = Readonly<Record<'amount' | 'currency', string>>;

function wordsOf(document: Readonly<Record<string, unknown>>, { desk, mode }: Config): string {
  const { side, pair, duration, slices, limit_price: limit } = document;
  const { total_quantity: base, total_notional: quote } = document as {
    readonly total_quantity?: Total;
    readonly total_notional?: Total;
  };
  const { amount, currency } = base ?? quote ?? { amount: '', currency: '' };
  const price = limit === undefined ? 'at the market' : `at ${plain(limit)} or better`;
  const pieces = slices === 1 ? 'in one order' : `in ${plain(slices)} slices`;
  return `${plain(side)} ${plain(amount)} ${plain(currency)} in ${plain(pair)} ${price}, ${pieces} within ${plain(duration)}, on desk ${desk} (${mode})`;
}
