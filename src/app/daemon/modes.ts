import { firstValueFrom } from 'rxjs';
import { OperatorError } from '../../core/errors.ts';
import type { FillRecord } from '../../core/record.ts';
import type { AccountFeedPort, MarketPort, VenuePort } from '../../engine/ports.ts';
import type { Observer } from '../../engine/observer.ts';
import { dryRunVenue } from '../../venue/dry-run.ts';
import type { FeedOptions } from '../../venue/socket.ts';
import { HEADERS_TIMEOUT_MS, venueHttp } from '../../venue/http.ts';
import { tradingRoutes } from '../../venue/routes.ts';
import type { TokenTrial } from './token-rotation.ts';
import { tradingVenue } from '../../venue/trading.ts';
import { turnByTurn } from '../../venue/turns.ts';
import { systemClock, systemRandom } from './clock.ts';
import type { Config, Mode } from '../config/config.ts';
import { simulatedCurrencies } from '../config/rates.ts';
import { Secret } from '../config/secret.ts';
import { version } from '../version.ts';

/** The ports that a mode gives the engine: a venue, and prices and account hints if the venue sends them. */
export interface ModeWorld {
  readonly venue: VenuePort;
  readonly market: MarketPort | undefined;
  readonly accountFeed: AccountFeedPort | undefined;
  /** Location of the venue, for people. */
  readonly where: string;
  readonly secrets: readonly Secret[];
  /** Requests the venue's currencies with another token, to test that token. */
  tryToken(this: void, token: Secret): Promise<TokenTrial>;
  close(): Promise<void>;
}

export interface ModeSetup {
  readonly config: Config;
  /** Pairs whose prices the desk needs. */
  readonly pairs: readonly string[];
  readonly onExtras: (resource: string, names: readonly string[]) => void;
  /** Returns whether an order may leave; called in the tick in which it would leave. */
  readonly mayMoveMoney: () => boolean;
  readonly warn: Observer['warn'];
  readonly alert: Observer['alert'];
  /**
   * Returns the journal's fills one at a time, because all records together may take gigabytes. Absent for a command
   * that never trades, which has no journal and keeps no simulated account.
   */
  pastFills?(): Iterable<FillRecord>;
}

/** Creates the ports of each mode. */
export const modes: Readonly<Record<Mode, (setup: ModeSetup) => Promise<ModeWorld>>> = {
  live: async (setup) => await connect(setup, addressOf(setup.config)),

  async dry_run(setup) {
    const world = await connect(setup, addressOf(setup.config));
    return {
      ...world,
      venue: dryRunVenue(world.venue, { clock: systemClock, past: setup.pastFills?.() ?? [] }),
    };
  },

  /** The simulated venue starts with the desk on loopback, and ends with it; the desk reaches it over HTTP. */
  async paper(setup) {
    const { startVenue } = await import('../../simulator/venue.ts');
    const { simulated } = setup.config.venue;
    const currencies = simulatedCurrencies(setup.config) ?? {};
    refusePastFills(setup);
    const embedded = await startVenue(simulated === undefined ? {} : { ...simulated, currencies }, {
      clock: systemClock,
      async loadTape(pair, file) {
        const { loadPriceTape } = await import('../research/price-tape.ts');
        return await loadPriceTape(pair, file, '.');
      },
    });
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

/**
 * Refuses a journal with fills, because their simulated account ended with its process.
 *
 * @throws OperatorError `config`.
 */
function refusePastFills(setup: ModeSetup): void {
  for (const _ of setup.pastFills?.() ?? [])
    throw new OperatorError(
      'config',
      `the journal ${setup.config.journal} has fills of a simulated account, which ended with its process. Name a new journal, such as the default of paper mode: sqlite:./var/paper/{started_at}.db`,
    );
}

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
  { config, pairs, mayMoveMoney, onExtras, warn, alert }: ModeSetup,
  { baseUrl, wsUrl, token }: Address,
): Promise<ModeWorld> {
  const { capabilities, sellPath } = config.venue;
  const options = {
    baseUrl,
    routes: tradingRoutes(capabilities, sellPath),
    clock: systemClock,
    version,
    mayMoveMoney,
    ca: config.venue.ca,
    proxy: config.venue.proxy,
    onCertificateRefused: (why: string) => {
      alert('certificate_refused', { why });
    },
  };
  const http = venueHttp({ ...options, token });
  const venue = tradingVenue({
    http,
    capabilities,
    sellPath,
    orderTimeoutMs: config.venue.orderTimeoutMs,
    turns: turnByTurn(),
    onExtras,
    onUnreadable(list, rows) {
      warn(`some rows of the ${list} are malformed; the desk treats them as unknown`, {
        rows: rows.join(', '),
      });
    },
  });
  const feed =
    wsUrl === undefined
      ? undefined
      : { wsUrl, token, ca: config.venue.ca, proxy: config.venue.proxy, warn, alert };
  return {
    venue,
    market: capabilities.ticker && feed !== undefined ? await marketPrices({ ...feed, pairs }) : undefined,
    accountFeed:
      capabilities.accountFeed && feed !== undefined
        ? await accountHints({ ...feed, hasCredit: config.pts.use !== 'never' })
        : undefined,
    where: baseUrl,
    secrets: [token, config.venue.proxy?.credentials ?? []].flat(),
    async tryToken(another) {
      const trial = venueHttp({ ...options, token: another, mayMoveMoney: () => false });
      try {
        const { status } = await firstValueFrom(
          trial.exchange({ method: 'GET', path: '/v1/currency', timeoutMs: HEADERS_TIMEOUT_MS }),
        );
        if (status === 401 || status === 403) return 'refused';
        return status < 300 ? 'accepted' : 'no_answer';
      } catch {
        return 'no_answer';
      } finally {
        await trial.close();
      }
    },
    close: async () => {
      await http.close();
    },
  };
}

type FeedWorld = Pick<FeedOptions, 'clock' | 'random' | 'onEvent'>;

interface FeedWanted {
  readonly wsUrl: string;
  readonly token: Secret;
  readonly ca: string | undefined;
  readonly proxy: FeedOptions['proxy'];
  readonly warn: Observer['warn'];
  readonly alert: Observer['alert'];
}

async function marketPrices(wanted: FeedWanted & { readonly pairs: readonly string[] }): Promise<MarketPort> {
  const { marketFeed } = await import('../../venue/socket-market.ts');
  return marketFeed({ ...wanted, ...feedWorld('market', wanted) });
}

async function accountHints(wanted: FeedWanted & { readonly hasCredit: boolean }): Promise<AccountFeedPort> {
  const { accountFeed } = await import('../../venue/socket-account.ts');
  return accountFeed({ ...wanted, ...feedWorld('account', wanted) });
}

/** Returns the ports of a venue feed: the system clock, and a handler that reports the feed's problems to the operator. */
const feedWorld = (name: string, { warn, alert }: Pick<FeedWanted, 'warn' | 'alert'>): FeedWorld => ({
  clock: systemClock,
  random: systemRandom,
  onEvent(event) {
    if (event.event === 'closed')
      warn(`the ${name} feed is down; reconnecting`, { why: event.why, retry_ms: event.retryMs });
    if (event.event === 'certificate_refused')
      alert('certificate_refused', { feed: name, why: event.why, retry_ms: event.retryMs });
    if (event.event === 'unreadable')
      warn(`the ${name} feed sent a malformed message`, { why: event.why, head: event.head });
  },
});
