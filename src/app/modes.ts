import { splitPair } from '../core/pairs.ts';
import { OperatorError } from '../core/errors.ts';
import type { MarketPort, VenuePort } from '../engine/ports.ts';
import type { Observer } from '../engine/observer.ts';
import { dryRunVenue } from '../venue/dry-run.ts';
import { venueHttp } from '../venue/http.ts';
import { tradingRoutes } from '../venue/routes.ts';
import { tradingVenue } from '../venue/trading.ts';
import { systemClock, systemRandom } from './clock.ts';
import type { Config, Mode } from './config.ts';
import { Secret } from './secret.ts';
import { COMMON_CURRENCIES } from './strategies.ts';
import { version } from './version.ts';

/** What a mode gives the engine: a venue, and prices if the venue sends them. */
export interface ModeWorld {
  readonly venue: VenuePort;
  readonly market: MarketPort | undefined;
  /** Where the venue is, for people. */
  readonly where: string;
  readonly secrets: readonly Secret[];
  close(): Promise<void>;
}

export interface ModeSetup {
  readonly config: Config;
  /** Pairs whose prices are wanted. */
  readonly pairs: readonly string[];
  readonly onExtras: (resource: string, names: readonly string[]) => void;
  readonly warn: Observer['warn'];
}

/** A mode is a row. */
export const modes: Readonly<Record<Mode, (setup: ModeSetup) => Promise<ModeWorld>>> = {
  live: async (setup) => await connect(setup, addressOf(setup.config)),

  async dry_run(setup) {
    const world = await connect(setup, addressOf(setup.config));
    const currencies = (pair: string): { base: string; quote: string } | undefined => {
      const split = splitPair(pair, COMMON_CURRENCIES);
      return 'problem' in split ? undefined : split;
    };
    return { ...world, venue: dryRunVenue(world.venue, { clock: systemClock, currencies }) };
  },

  /** The simulated venue starts with the desk, on loopback, and is spoken to over real HTTP. */
  async paper(setup) {
    const { startVenue } = await import('../simulator/venue.ts');
    const embedded = await startVenue(setup.config.venue.simulated ?? {}, { clock: systemClock });
    const token = new Secret(embedded.tokens[0] ?? '');
    const world = await connect(setup, { baseUrl: embedded.baseUrl, wsUrl: embedded.wsUrl, token });
    return {
      ...world,
      where: `simulated venue at ${embedded.baseUrl}`,
      async close() {
        await world.close();
        await embedded.close();
      },
    };
  },
};

interface Address {
  readonly baseUrl: string;
  readonly wsUrl: string | undefined;
  readonly token: Secret;
}

function addressOf({ venue }: Config): Address {
  const { baseUrl, wsUrl, token } = venue;
  if (baseUrl === undefined || token === undefined) {
    throw new OperatorError('config', 'this mode needs venue.base_url and a token');
  }
  return { baseUrl, wsUrl, token };
}

async function connect(
  { config, pairs, onExtras, warn }: ModeSetup,
  { baseUrl, wsUrl, token }: Address,
): Promise<ModeWorld> {
  const { capabilities, sellPath } = config.venue;
  const http = venueHttp({
    baseUrl,
    token,
    routes: tradingRoutes(capabilities, sellPath),
    clock: systemClock,
    version,
    connectTimeoutMs: config.venue.connectTimeoutMs,
    headersTimeoutMs: config.venue.headersTimeoutMs,
    bodyTimeoutMs: config.venue.bodyTimeoutMs,
  });
  const venue = tradingVenue({
    http,
    capabilities,
    sellPath,
    orderTimeoutMs: config.venue.orderTimeoutMs,
    onExtras,
  });
  return {
    venue,
    market:
      capabilities.ticker && wsUrl !== undefined ? await ticker({ wsUrl, token, pairs, warn }) : undefined,
    where: baseUrl,
    secrets: [token],
    close: async () => {
      await http.close();
    },
  };
}

async function ticker(wanted: {
  readonly wsUrl: string;
  readonly token: Secret;
  readonly pairs: readonly string[];
  readonly warn: Observer['warn'];
}): Promise<MarketPort> {
  const { tickerMarket } = await import('../venue/socket.ts');
  return tickerMarket({
    ...wanted,
    clock: systemClock,
    random: systemRandom,
    onEvent(event) {
      if (event.event === 'closed')
        wanted.warn('the ticker feed is down; connecting again', { why: event.why, retry_ms: event.retryMs });
    },
  });
}
