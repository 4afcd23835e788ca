import type { AddressInfo } from 'node:net';
import { interval } from 'rxjs';
import { invariant } from '../core/errors.ts';
import type { Clock } from '../engine/ports.ts';
import { startAdmin } from './http/admin.ts';
import { DrillOverrides } from './faults/drill-overrides.ts';
import { Exchange } from './exchange/exchange.ts';
import { faultOf } from './faults/apply-faults.ts';
import type { Faults } from './faults/fault-plan.ts';
import type { AccountAccess } from './http/access.ts';
import { Feeds } from './feeds/feeds.ts';
import type { FeedFaults } from './feeds/feed-connection.ts';
import { venueOptions } from './options/options.ts';
import type { VenueInput, VenueOptions } from './options/options.ts';
import { venueServer } from './http/server.ts';
import type { ServerHooks } from './http/server.ts';
import { steadyTime } from './exchange/steady-time.ts';
import type { LoadTape, PriceTape } from './market/price-tape.ts';

/** Time between two checks for due events, ms. */
const ADVANCE_MS = 500;

export interface RunningVenue {
  /** `http://127.0.0.1:PORT` */
  readonly baseUrl: string;
  /** `ws://127.0.0.1:PORT/ws`; with `specOnly` it has authentication and no feeds. */
  readonly wsUrl: string;
  readonly accounts: readonly AccountAccess[];
  /** Token of each account, in the order of the settings. */
  readonly tokens: readonly string[];
  /** Token of the enterprise partner, who issues tokens for the accounts. */
  readonly partnerToken: string;
  readonly exchange: Exchange;
  /** `http://127.0.0.1:PORT` of the admin API; `undefined` if it was not requested. */
  readonly adminUrl: string | undefined;
  /** Drops every connection and frees the port. */
  close(): Promise<void>;
}

export interface VenueWorld extends ServerHooks {
  readonly clock: Clock;
  /** Faults of WebSocket messages. */
  readonly feedFaults?: FeedFaults | undefined;
  /** A plan of faults for requests, and for messages unless `feedFaults` is given. */
  readonly faults?: Faults | undefined;
  /** Whether to start the admin API on loopback, which needs `faults`. */
  readonly admin?: { readonly token: string; readonly port?: number | undefined } | undefined;
  /** Reads the price files that the options name. Without this function, the options may name none. */
  readonly loadTape?: LoadTape | undefined;
}

/**
 * Starts the simulated venue, on loopback by default.
 *
 * @throws OperatorError when the settings contradict one another or a tape cannot be read.
 */
export async function startVenue(
  input: VenueInput,
  { clock, onRequest, script, faults, feedFaults = faults, admin, loadTape }: VenueWorld,
): Promise<RunningVenue> {
  const { options, drilling } = new DrillOverrides(venueOptions(input));
  const tapes = await loadTapes(options, loadTape);
  const now = steadyTime(clock);
  const exchange = new Exchange({ options, tapes, startedAt: now() });
  const app = venueServer({
    exchange,
    options,
    clock,
    now,
    onRequest,
    drilling,
    script: scriptOf(script, faults),
  });
  const feeds = new Feeds(app.server, { exchange, options, clock, now, faults: feedFaults });
  // Due events also happen without a request: rows are booked, withdrawals end, and feeds report this.
  const beats = interval(ADVANCE_MS, clock.scheduler).subscribe(() => {
    exchange.advance(now());
  });
  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (cause) {
    beats.unsubscribe();
    feeds.close();
    throw cause;
  }
  const levers =
    admin === undefined || faults === undefined
      ? undefined
      : await startAdmin({ exchange, faults, clock, now, token: admin.token }, admin.port);
  const authority = authorityOf(app.server.address());
  return {
    baseUrl: `http://${authority}`,
    wsUrl: `ws://${authority}/ws`,
    accounts: exchange.accounts,
    tokens: exchange.accounts.map(({ token }) => token),
    partnerToken: exchange.access.partner.token,
    exchange,
    adminUrl: levers?.url,
    async close() {
      beats.unsubscribe();
      feeds.close();
      await levers?.close();
      await app.close();
    },
  };
}

/** A script from the code takes precedence over the plan. */
function scriptOf(script: ServerHooks['script'], faults: Faults | undefined): ServerHooks['script'] {
  if (faults === undefined) return script;
  return (seen) =>
    script?.(seen) ??
    faultOf(faults.request({ at: seen.at, what: `${seen.method} ${seen.route}`, account: seen.account }));
}

/** The tapes that the settings name, by pair. */
async function loadTapes(
  { prices }: Pick<VenueOptions, 'prices'>,
  loadTape: LoadTape | undefined,
): Promise<ReadonlyMap<string, PriceTape>> {
  const loaded = await Promise.all(
    Object.entries(prices).map(async ([pair, file]): Promise<[string, PriceTape]> => {
      invariant(loadTape !== undefined, 'the caller of a venue with price files reads them');
      return [pair, await loadTape(pair, file)];
    }),
  );
  return new Map(loaded);
}

function authorityOf(address: AddressInfo | string | null): string {
  invariant(address !== null && typeof address === 'object', 'the venue listens on an address with a port');
  return address.family === 'IPv6'
    ? `[${address.address}]:${address.port}`
    : `${address.address}:${address.port}`;
}
