import type { AddressInfo } from 'node:net';
import { invariant } from '../core/errors.ts';
import type { Clock } from '../engine/ports.ts';
import { Exchange } from './exchange.ts';
import type { AccountAccess } from './exchange.ts';
import { Feeds } from './feeds.ts';
import type { FeedFaults } from './feeds-line.ts';
import { venueOptions } from './options.ts';
import type { VenueInput, VenueOptions } from './options.ts';
import { venueServer } from './server.ts';
import type { ServerHooks } from './server.ts';
import { steadyTime } from './steady-time.ts';
import { loadTape } from './tape.ts';
import type { PriceTape } from './tape.ts';

export interface RunningVenue {
  /** `http://127.0.0.1:PORT` */
  readonly baseUrl: string;
  /** `ws://127.0.0.1:PORT/ws`; with `specOnly` it has authentication and no feeds. */
  readonly wsUrl: string;
  readonly accounts: readonly AccountAccess[];
  /** Token of each account, in the order of the settings. */
  readonly tokens: readonly string[];
  readonly exchange: Exchange;
  /** Breaks off every connection and frees the port. */
  close(): Promise<void>;
}

export interface VenueWorld extends ServerHooks {
  readonly clock: Clock;
  /** What goes wrong with messages of the WebSocket. */
  readonly feedFaults?: FeedFaults | undefined;
}

/**
 * Starts the simulated venue on loopback, unless told otherwise.
 *
 * @throws OperatorError when the settings do not fit together or a tape cannot be read.
 */
export async function startVenue(
  input: VenueInput,
  { clock, onRequest, script, feedFaults }: VenueWorld,
): Promise<RunningVenue> {
  const options = venueOptions(input);
  const tapes = await loadTapes(options);
  const now = steadyTime(clock);
  const exchange = new Exchange({ options, tapes, startedAt: now() });
  const app = venueServer({ exchange, options, clock, now, onRequest, script });
  const feeds = new Feeds(app.server, { exchange, options, clock, now, faults: feedFaults });
  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (cause) {
    feeds.close();
    throw cause;
  }
  const authority = authorityOf(app.server.address());
  return {
    baseUrl: `http://${authority}`,
    wsUrl: `ws://${authority}/ws`,
    accounts: exchange.accounts,
    tokens: exchange.accounts.map(({ token }) => token),
    exchange,
    async close() {
      feeds.close();
      await app.close();
    },
  };
}

/** The tapes that the settings name, by pair. */
export async function loadTapes({
  prices,
}: Pick<VenueOptions, 'prices'>): Promise<ReadonlyMap<string, PriceTape>> {
  const loaded = await Promise.all(
    Object.entries(prices).map(async ([pair, file]): Promise<[string, PriceTape]> => [
      pair,
      await loadTape(file),
    ]),
  );
  return new Map(loaded);
}

function authorityOf(address: AddressInfo | string | null): string {
  invariant(address !== null && typeof address === 'object', 'the venue listens on an address with a port');
  return address.family === 'IPv6'
    ? `[${address.address}]:${address.port}`
    : `${address.address}:${address.port}`;
}
