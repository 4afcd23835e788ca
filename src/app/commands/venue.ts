import { randomUUID } from 'node:crypto';
import { ZodError } from 'zod';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { Faults } from '../../simulator/faults/fault-plan.ts';
import { startVenue } from '../../simulator/venue.ts';
import { venueOptions } from '../../simulator/options/options.ts';
import type { VenueInput, VenueOptions } from '../../simulator/options/options.ts';
import { systemClock } from '../daemon/clock.ts';
import { loadFaultPlan, loadVenueOptions } from '../config/venue-file.ts';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { collect, wholeNumber } from '../cli/options.ts';
import type { AddCommands } from '../cli/options.ts';
import type { Given, RunIo } from './io.ts';

/** Adds `tranche venue`. */
export const addVenue: AddCommands = (cli, { io, done }) => {
  cli
    .command('venue')
    .description('run a simulated venue; prints its URL and tokens as JSON once it is ready')
    .option('--config <file>', 'options of the venue; see config/venue.yaml')
    .option('--port <port>', 'port to listen on; 0 picks a free port', portNumber)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)', notEmpty)
    .option(
      '--speed <times>',
      'factor by which market time runs faster than real time; quote life and rate limits stay in real time',
      positiveNumber,
    )
    .option('--seed <text>', 'seed of all randomness')
    .option(
      '--prices <pair=file>',
      'prices of a pair: a tape or a file that data import reads; repeatable',
      collect,
      [],
    )
    .option('--start <time>', 'market time at the start, such as 2018-10-01T00:00:00Z')
    .option('--spec-only', 'serve only the routes of the interface specification')
    .option('--faults <file>', 'fault plan for drills; see config/faults')
    .option('--admin-port <port>', 'port of the admin API on loopback; 0 picks a free port', portNumber)
    .action(async (options) => {
      done(await venue(options, io));
    });
};

function portNumber(text: string): number {
  const port = wholeNumber(9)(text);
  if (port > 65_535) throw new InvalidArgumentError('expected a port from 0 to 65535');
  return port;
}

function positiveNumber(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('expected a number above zero');
  return value;
}

/** Refuses an empty host, which would mean every address of this machine. */
function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('expected an address such as 127.0.0.1');
  return text;
}

type VenueCommandOptions = Given<
  'config' | 'host' | 'seed' | 'start' | 'faults',
  'specOnly',
  'port' | 'speed' | 'adminPort'
> & {
  readonly prices: readonly string[];
};

/**
 * Runs the simulated venue as a server until a signal stops it. Prints one line of JSON on stdout when it is ready:
 * `base_url`, `ws_url`, `tokens`, `partner_token`, `admin_url`, `admin_token`.
 */
async function venue(options: VenueCommandOptions, io: RunIo): Promise<number> {
  const prices = new Map<string, string>();
  for (const each of options.prices) {
    const [, pair, file] = /^([a-z0-9]{4,24})=(.+)$/u.exec(each) ?? [];
    if (pair === undefined || file === undefined) {
      io.stderr.write(`--prices ${each}: expected PAIR=FILE, such as btcusd=btc.csv.gz\n`);
      return exitCodes.usage;
    }
    prices.set(pair, file);
  }
  const base = options.config === undefined ? venueOptions({}) : loadVenueOptions(options.config, io);
  const plan = options.faults === undefined ? {} : loadFaultPlan(options.faults, io);
  const faults = new Faults(plan, systemClock.monotonic());
  const token = randomUUID();
  const chosen = checked({
    ...base,
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.speed === undefined ? {} : { speed: options.speed }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...(options.start === undefined ? {} : { marketStart: options.start }),
    ...(options.specOnly === true ? { specOnly: true } : {}),
    ...(prices.size === 0 ? {} : { prices: { ...base.prices, ...Object.fromEntries(prices) } }),
  });
  const running = await startVenue(chosen, {
    clock: systemClock,
    faults,
    admin: { token, port: options.adminPort },
    loadTape: async (pair, file) => {
      const { loadPriceTape } = await import('../research/price-tape.ts');
      return await loadPriceTape(pair, file, io.cwd);
    },
  });
  const ready = {
    base_url: running.baseUrl,
    ws_url: running.wsUrl,
    tokens: running.tokens,
    partner_token: running.partnerToken,
    admin_url: running.adminUrl,
    admin_token: token,
  };
  io.stdout.write(`${JSON.stringify(ready)}\n`);
  io.stderr.write('simulated venue is ready; press Ctrl-C to stop. No real money is involved.\n');
  await new Promise<void>((resolve) => {
    const forget = io.onSignal(() => {
      forget();
      resolve();
    });
  });
  await running.close();
  return 0;
}

/** Checks the options. @throws OperatorError `usage` that names the option at fault; the file is already checked. */
function checked(options: VenueInput): VenueOptions {
  try {
    return venueOptions(options);
  } catch (cause) {
    if (!(cause instanceof ZodError)) throw cause;
    const said = cause.issues.map(
      ({ path: [name], message }) => `--${OPTIONS.get(name) ?? String(name)}: ${message}`,
    );
    throw new OperatorError('usage', said.join('\n'), cause);
  }
}

/** Settings that have another name on the command line. */
const OPTIONS: ReadonlyMap<unknown, string> = new Map([['market_start', 'start']]);
