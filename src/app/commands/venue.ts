import { randomUUID } from 'node:crypto';
import { ZodError } from 'zod';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { Faults } from '../../simulator/faults/fault-plan.ts';
import { startVenue } from '../../simulator/venue.ts';
import { venueOptions } from '../../simulator/options/options.ts';
import type { VenueInput, VenueOptions } from '../../simulator/options/options.ts';
import { systemClock } from '../daemon/clock.ts';
import { loadFaultPlan, loadVenueOptions } from '../config/venue-file.ts';
import type { Given, RunIo } from './io.ts';

export type VenueCommandOptions = Given<
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
export async function venue(options: VenueCommandOptions, io: RunIo): Promise<number> {
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
