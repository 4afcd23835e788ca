import { NEVER, Subject, concatMap, filter, from, interval, merge, startWith } from 'rxjs';
import type { Observable } from 'rxjs';
import { OperatorError } from '../../../src/core/errors.ts';
import { Desk } from '../../../src/engine/desk.ts';
import { noObserver } from '../../../src/engine/observer.ts';
import type {
  AccountFeedPort,
  Command,
  HaltPort,
  KeptState,
  MarketPort,
  Random,
  StrategiesPort,
} from '../../../src/engine/ports.ts';
import { runDesk } from '../../../src/engine/run.ts';
import type { Line } from '../../../src/journal/proof/chain.ts';
import type { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import { bookPrice } from '../../support/book-market.ts';
import { tradingRoutes } from '../../../src/venue/routes.ts';
import { tradingVenue } from '../../../src/venue/trading.ts';
import type { Outgoing, VenueHttp } from '../../../src/venue/http.ts';
import { diskJournal, linesOf } from './disk-journal.ts';
import type { AppendFate } from './disk-journal.ts';
import type { Disk } from './disk.ts';
import { site } from '../chance.ts';
import type { Chance } from '../chance.ts';
import type { ProcessClock } from './process-clock.ts';
import type { Shelf } from './shelf.ts';
import type { Setting } from './setting.ts';
import { TOKEN } from './setting.ts';

const PRICE = site('price', { stalls: 0.5 });
const HINT = site('hint', { missing: 0.5, storm: 0.1, twice: 0.3 });
const SELL_PATH = '/v1/orders/sell';

export interface ProcessOptions {
  readonly boot: number;
  readonly setting: Setting;
  readonly chance: Chance;
  readonly clock: ProcessClock;
  readonly disk: Disk;
  readonly shelf: Shelf | undefined;
  /** A state was found that an earlier process kept. */
  readonly onKept: (state: KeptState, lines: readonly Line[]) => void;
  readonly exchange: Exchange;
  readonly operator$: Subject<Command>;
  readonly strategies: StrategiesPort | undefined;
  readonly hints$: Observable<unknown>;
  readonly rearm: string | undefined;
  /** Ends by itself once its strategies have; left out: it does. */
  readonly isUntilDone?: boolean | undefined;
  readonly halt: HaltPort;
  readonly clientOf: (process: {
    readonly clock: ProcessClock;
    readonly token: string;
    readonly routes: ReturnType<typeof tradingRoutes>;
    readonly pointOf: (outgoing: Outgoing) => string;
    readonly yieldAt: (point: string) => void;
  }) => VenueHttp;
  readonly pointOf: (outgoing: Outgoing) => string;
  readonly fateOfAppend: (count: number) => AppendFate;
  /** A place where the process may be killed or suspended. */
  readonly yieldAt: (point: string) => void;
  readonly onDurable: (lines: readonly Line[]) => void;
  readonly onAlert: (id: string, facts: unknown) => void;
  readonly onReady: () => void;
  /** The process has ended by itself: in good order, or with an error. */
  readonly onEnd: (error: unknown) => void;
}

/** One process of the product: the real engine on simulated ports. */
export interface SimulatedProcess {
  readonly desk: Desk;
  readonly clock: ProcessClock;
  /** It has ended, one way or the other. */
  readonly isOver: boolean;
  /** It is gone, in the middle of whatever it did. */
  kill(): void;
}

/** @throws OperatorError as the product does before it touches the network. */
export function startProcess(options: ProcessOptions): SimulatedProcess {
  const { boot, setting, chance, clock, disk, operator$, yieldAt } = options;
  const journal = diskJournal({
    disk,
    clock,
    shelf: options.shelf,
    fateOf: options.fateOfAppend,
    yieldAt: (where, count) => {
      yieldAt(`append ${boot}.${count}, ${where}`);
    },
    onDurable: options.onDurable,
  });
  const http = options.clientOf({
    clock,
    token: TOKEN,
    routes: tradingRoutes(setting.capabilities, SELL_PATH),
    pointOf: options.pointOf,
    yieldAt,
  });
  const venue = tradingVenue({
    http,
    capabilities: setting.capabilities,
    sellPath: SELL_PATH,
    orderTimeoutMs: setting.policy.orderTimeoutMs,
    onExtras: () => undefined,
  });
  let drawn = 0;
  const random: Random = {
    next: () => chance.draw('jitter', `${boot}.${drawn++}`),
  };
  const found = journal.states?.read();
  if (found !== undefined && 'seq' in found) options.onKept(found, linesOf(disk.durable).lines);
  const desk = new Desk(
    {
      clock,
      random,
      venue,
      journal,
      market: setting.isMarketOn ? marketOf(options) : undefined,
      accountFeed: setting.isFeedOn ? feedOf(options) : undefined,
      halt: options.halt,
      strategies: options.strategies,
      operator$: merge(operator$, NEVER),
    },
    setting.policy,
    { ...noObserver, alert: options.onAlert, warn: options.onAlert },
    setting.strategies,
  );
  let isOver = false;
  const running = runDesk(desk, {
    isUntilDone: options.isUntilDone ?? true,
    hasClosingRead: true,
    rearm: options.rearm,
  }).subscribe({
    next: () => {
      options.onReady();
    },
    error: (error: unknown) => {
      finish(error);
    },
    complete: () => {
      finish(undefined);
    },
  });
  function finish(error: unknown): void {
    if (clock.isDead) return;
    isOver = true;
    clock.isDead = true;
    journal.close();
    options.onEnd(error);
  }
  return {
    desk,
    clock,
    get isOver() {
      return isOver;
    },
    kill() {
      isOver = true;
      clock.isDead = true;
      journal.close();
      running.unsubscribe();
    },
  };
}

/** What stops another process on the same journal, which must not get as far as the network; `undefined` when nothing does. */
export function refusalOfSecond(
  given: Pick<ProcessOptions, 'boot' | 'setting' | 'chance' | 'clock' | 'disk' | 'exchange' | 'halt' | 'clientOf' | 'pointOf'>,
): unknown {
  try {
    startProcess({
      ...given,
      shelf: undefined,
      onKept: () => undefined,
      operator$: new Subject(),
      strategies: undefined,
      hints$: new Subject(),
      rearm: undefined,
      fateOfAppend: () => ({ syncMs: 0, isBlocking: false }),
      yieldAt: () => undefined,
      onDurable: () => undefined,
      onAlert: () => undefined,
      onReady: () => undefined,
      onEnd: () => undefined,
    });
  } catch (error) {
    return error;
  }
  return undefined;
} // prettier-ignore

export const isStorage = (error: unknown): boolean =>
  (error instanceof OperatorError && (error.exit === 'storage' || error.exit === 'again')) ||
  (error instanceof Error && error.name === 'DiskError');

/** Prices of the feed, which may stall or tell the same thing over and over. */
function marketOf({ exchange, clock, chance, boot }: ProcessOptions): MarketPort {
  const pairs = ['btcusd', 'ethusd'];
  return {
    volume: (pair) => exchange.ticker(pair, exchange.at)?.volume,
    prices$: interval(5_000, clock).pipe(
      startWith(-1),
      filter((count) => chance.at(PRICE, `${boot}.${count}`) === undefined),
      concatMap(() =>
        from(
          pairs.flatMap((pair) => {
            const book = bookPrice(exchange, pair, exchange.at);
            return book === undefined ? [] : [{ ...book, at: clock.wall() }];
          }),
        ),
      ),
    ),
  };
}

/** Hints of the account's feed: some are missing, some come by the dozen. They are only ever hints. */
function feedOf({ hints$, clock, chance, boot }: ProcessOptions): AccountFeedPort {
  let count = 0;
  return {
    hints$: hints$.pipe(
      concatMap(() => {
        const fault = chance.at(HINT, `${boot}.${count++}`)?.kind;
        const many = fault === 'missing' ? 0 : fault === 'storm' ? 20 : fault === 'twice' ? 2 : 1;
        return from(Array.from({ length: many }, () => ({ why: 'balances' as const })));
      }),
      filter(() => !clock.isDead && !clock.isSuspended),
    ),
  };
}
