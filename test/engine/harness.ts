import { NEVER, Subject, merge, defer, mergeMap, timer } from 'rxjs';
import type { Alert } from '../../src/core/alerts.ts';
import { money, price, quantity, ratio } from '../../src/core/money.ts';
import type { RecordBody, StoredRecord } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { Desk } from '../../src/engine/desk.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import { noObserver } from '../../src/engine/observer.ts';
import type { Observer } from '../../src/engine/observer.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import type {
  AccountFeedPort,
  AlertsPort,
  BarsPort,
  Clock,
  Command,
  CommandAnswer,
  HaltPort,
  MarketPort,
  Ports,
  RequestLogPort,
  StrategiesPort,
  VenuePort,
} from '../../src/engine/ports.ts';
import { Life, mortalJournal, mortalVenue } from './mortal.ts';
import type { Death } from './mortal.ts';
import { runDesk } from '../../src/engine/run.ts';
import type { RunOptions } from '../../src/engine/run.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { frozen } from '../journal/frozen.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../../src/simulator/options/options.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { inProcessVenue } from '../../src/simulator/port.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { strategies } from '../../src/strategy/registry.ts';
import type { OrderRequest, QuoteRequest, TransactionsQuery } from '../../src/core/venue.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

/** 2026-01-05T00:00:00Z, a Monday. */
export const START = instant(Date.UTC(2026, 0, 5));

export const aPolicy = (over: Partial<DeskSettings> = {}): DeskSettings => ({
  desk: 'main',
  mode: 'paper',
  version: 'test',
  configHash: 'c',
  account: 'a',
  limits: {
    currency: 'usd',
    orderNotionalMax: money('1000000'),
    dayNotionalMax: money('100000000'),
    orderQuantityMax: new Map(),
    collarBps: ratio('100'),
    driftBpsMax: undefined,
    openDoubtsMax: 2,
    pairs: undefined,
    sides: new Set(['buy', 'sell']),
  },
  isSellingOn: true,
  minimumOf: () => ({ notional: money('5') }),
  pts: {
    use: 'never',
    maxAgeMs: 300_000,
    pollMs: 60_000,
    creditMax: undefined,
    carryBpsMax: undefined,
    holdingMs: 86_400_000,
  },
  reference: {
    intervalMs: 5_000,
    maxAgeMs: 30_000,
    probe: { amount: money('50'), currency: 'usd' },
    waitMs: 5_000,
  },
  retry: { baseMs: 500, capMs: 30_000, budgetMs: 600_000, requoteMs: 1_000 },
  inDoubt: {
    bookingMarginMs: 10_000,
    pollMs: 10_000,
    lifeMaxMs: 300_000,
  },
  orderTimeoutMs: 8_000,
  orderMarginMs: 500,
  historyMs: 30 * 86_400_000,
  accountPollMs: 60_000,
  pace: {
    windows: {
      quote: { max: 10, perMs: 1_000 },
      order: { max: 60, perMs: 1_000 },
      transactions: { max: 1, perMs: 10_000 },
      read: { max: 250, perMs: 10_000 },
      all: { max: 250, perMs: 10_000 },
    },
    guardMs: 5,
  },
  skew: { warnMs: 2_000, refuseMs: 30_000 },
  continuity: { everyMs: 1_000, divergenceMs: 2_000, lateMs: 4_000 },
  // Tests may restart a process any number of times; the tests of crash-loop detection set their own bound.
  crashLoop: { startsMax: Number.POSITIVE_INFINITY, withinMs: 600_000 },
  onDifference: 'halt',
  adoptFills: false,
  ...over,
});

export function aStrategy(id: string, kind: string, params: Record<string, unknown>): StrategySource {
  const known = strategies.get(kind);
  if (known === undefined) throw new Error(`no kind ${kind}`);
  const document = { id, kind, ...params };
  return { id, kind, hash: JSON.stringify(document), document, bound: known.bind(params) };
}

export const aTwap = (id = 'twap', over: Record<string, unknown> = {}): StrategySource =>
  aStrategy(id, 'twap', {
    pair: 'btcusd',
    side: 'buy',
    total_quantity: { amount: '1', currency: 'btc' },
    duration: 'PT10M',
    slices: 10,
    ...over,
  });

/** An alert, and when it was raised, milliseconds after the start. */
export interface Raised {
  readonly id: Alert;
  readonly at: number;
  readonly facts: Readonly<Record<string, unknown>> | undefined;
}

type BodyOf<K extends RecordBody['kind']> = Extract<RecordBody, { readonly kind: K }>;

/** Requests in order, with their times on the monotonic clock, milliseconds after the start. */
export interface Sent {
  readonly quotes: (QuoteRequest & { readonly at: number })[];
  readonly orders: (OrderRequest & { readonly at: number })[];
  readonly reads: (TransactionsQuery & { readonly at: number })[];
}

export interface Bench {
  readonly clock: VirtualClock;
  readonly exchange: Exchange;
  readonly journal: Journal;
  readonly desk: Desk;
  readonly operator$: Subject<Command>;
  readonly seen: { readonly phases: string[]; error: unknown };
  readonly life: Life;
  /** Appends of this process so far. */
  appends(): number;
  records(): readonly StoredRecord[];
  /** Name of the account that the desk trades. */
  readonly account: string;
  /** What the ledger of the exchange says that the account holds. */
  balance(currency: string): number;
  /** Requests to the venue of this process and of those before it. */
  readonly sent: Sent;
  /** The records of one kind, with their times in milliseconds after the start. */
  timed<K extends RecordBody['kind']>(kind: K): readonly (BodyOf<K> & { readonly at: number })[];
  /** The records of one kind, without their times. */
  bodies<K extends RecordBody['kind']>(kind: K): readonly BodyOf<K>[];
  /** Alerts of this process. */
  readonly raised: readonly Raised[];
  /** The ids of these alerts. */
  alerts(): readonly Alert[];
  /** Runs the clock to so many milliseconds after the start. */
  until(ms: number): void;
  /** Runs the clock for so many milliseconds. */
  run(ms: number): void;
  /** Gives a command by ann, unless it says otherwise. Returns its answer, which shows what is answered later too. */
  tell(command: Record<string, unknown>): CommandAnswer;
  /** Starts the desk; time stands still until `clock.run`. */
  start(options?: RunOptions): void;
  /** As if the process had died: nothing of it runs any more, and nothing of it is written. */
  kill(): void;
}

export interface BenchOptions {
  readonly venue?: VenueInput | undefined;
  readonly policy?: Partial<DeskSettings> | undefined;
  readonly strategies: readonly StrategySource[];
  readonly journal?: Journal | undefined;
  readonly clock?: VirtualClock | undefined;
  readonly exchange?: Exchange | undefined;
  readonly quoteLatencyMs?: number | undefined;
  readonly orderLatencyMs?: number | undefined;
  readonly wrap?: ((venue: VenuePort, clock: VirtualClock) => VenuePort) | undefined;
  readonly observer?: Partial<Observer> | undefined;
  readonly at?: Instant | undefined;
  /** Prices of pairs that are fixed before the start. */
  readonly pins?: Readonly<Record<string, string>> | undefined;
  /** Requests of the processes before this one. */
  readonly sent?: Sent | undefined;
  /** Seed of the engine's own randomness: the jitter of its waits. */
  readonly seed?: string | undefined;
  /** The append at which the process dies. */
  readonly death?: Death | undefined;
  /** What becomes of requests that are under way when the process dies. */
  readonly inFlight?: 'arrives' | 'lost' | undefined;
  /** How far the wall clock of the desk is ahead of the venue's. */
  readonly skewMs?: number | undefined;
  /** Boot of the machine whose boot clock the desk reads; left out: the machine has none. */
  readonly bootId?: string | undefined;
  readonly halt?: HaltPort | undefined;
  readonly alerts?: AlertsPort | undefined;
  readonly requestLog?: RequestLogPort | undefined;
  /** Bars of earlier processes. */
  readonly bars?: BarsPort | undefined;
  /** Files that strategies are read from again. */
  readonly files?: StrategiesPort | undefined;
  readonly market?: ((exchange: Exchange, clock: VirtualClock) => MarketPort) | undefined;
  readonly accountFeed?: ((exchange: Exchange, clock: VirtualClock) => AccountFeedPort) | undefined;
}

const clockOf = (clock: VirtualClock, { skewMs, bootId }: BenchOptions): Clock =>
  skewMs === undefined && bootId === undefined
    ? clock
    : {
        scheduler: clock,
        wall: () => instant(clock.wall() + (skewMs ?? 0)),
        monotonic: () => clock.monotonic(),
        boot: () => (bootId === undefined ? undefined : { id: bootId, ms: Math.floor(clock.monotonic()) }),
      };

/** The whole engine on virtual time against the simulated exchange in the same process. */
export function aBench(options: BenchOptions): Bench {
  const clock = options.clock ?? new VirtualClock(options.at ?? START);
  const exchange =
    options.exchange ?? new Exchange({ options: venueOptions(options.venue ?? {}), startedAt: clock.wall() });
  const journal = options.journal ?? frozen(memoryJournal());
  const operator$ = new Subject<Command>();
  const random = seededRandom(options.seed ?? 'bench');
  const life = new Life();
  const counter = { appends: 0 };
  const venue = inProcessVenue(exchange, {
    clock,
    capabilities: 'none',
    quoteLatencyMs: options.quoteLatencyMs ?? 20,
    orderLatencyMs: options.orderLatencyMs ?? 20,
  });
  for (const [pair, mid] of Object.entries(options.pins ?? {})) exchange.pin(pair, price(mid), clock.wall());
  const sent: Sent = options.sent ?? { quotes: [], orders: [], reads: [] };
  const account = exchange.accounts[0]?.name ?? '';
  const ports: Ports = {
    clock: clockOf(clock, options),
    random: { next: () => random.next() },
    venue: mortalVenue(
      noting(options.wrap?.(venue, clock) ?? venue, clock, sent),
      life,
      options.inFlight ?? 'lost',
    ),
    market: options.market?.(exchange, clock),
    accountFeed: options.accountFeed?.(exchange, clock),
    journal: mortalJournal(journal, life, counter, options.death),
    halt: options.halt,
    requestLog: options.requestLog,
    bars: options.bars,
    strategies: options.files,
    alerts: options.alerts,
    operator$: merge(operator$, NEVER),
  };
  const raised: Raised[] = [];
  const observer: Observer = {
    ...noObserver,
    ...options.observer,
    alert: (id, facts) => {
      raised.push({ id, at: clock.now() - START, facts });
      options.observer?.alert?.(id, facts);
    },
  };
  const desk = new Desk(ports, aPolicy(options.policy), observer, options.strategies);
  const seen: Bench['seen'] = { phases: [], error: undefined };
  let running: { unsubscribe(): void } | undefined;
  return {
    clock,
    exchange,
    journal,
    desk,
    operator$,
    seen,
    account,
    balance: (currency) => Number(exchange.ledger.balance(account, currency)),
    sent,
    records: () => [...journal.read()],
    timed: (kind) =>
      [...journal.read()].flatMap(({ at, body }) => (isOf(body, kind) ? [{ ...body, at: at - START }] : [])),
    bodies: (kind) => [...journal.read()].flatMap(({ body }) => (isOf(body, kind) ? [body] : [])),
    raised,
    alerts: () => raised.map(({ id }) => id),
    until: (ms) => void clock.run(instant(START + ms)),
    run: (ms) => void clock.run(instant(clock.now() + ms)),
    tell(command) {
      const told: CommandAnswer = { isDone: false, says: 'no answer' };
      const answer = (given: CommandAnswer): CommandAnswer => Object.assign(told, given);
      operator$.next({ by: 'ann', why: 'a test', answer, ...command } as unknown as Command);
      return told;
    },
    start(run) {
      running = runDesk(desk, run).subscribe({
        next: (phase) => seen.phases.push(phase),
        error: (error: unknown) => {
          seen.error = error;
        },
        complete: () => seen.phases.push('stopped'),
      });
      life.onDeath(() => running?.unsubscribe());
    },
    life,
    appends: () => counter.appends,
    kill() {
      life.die();
    },
  };
}

/** The venue, with its requests added to `sent`. */
function noting(venue: VenuePort, clock: VirtualClock, sent: Sent): VenuePort {
  const at = (): number => clock.monotonic() - START;
  return {
    ...venue,
    quote: (request) => (sent.quotes.push({ ...request, at: at() }), venue.quote(request)),
    order: (request) => (sent.orders.push({ ...request, at: at() }), venue.order(request)),
    transactions: (query) => (sent.reads.push({ ...query, at: at() }), venue.transactions(query)),
  };
}

const isOf = <K extends RecordBody['kind']>(body: RecordBody, kind: K): body is BodyOf<K> =>
  body.kind === kind;

/** A bench that was started, and has run to so many milliseconds after the start. */
export function started(options: BenchOptions, ms = 0, run?: RunOptions): Bench {
  const bench = aBench(options);
  bench.start(run);
  if (ms > 0) bench.until(ms);
  return bench;
}

/** The next process on the same journal, clock and exchange, `downMs` after this one died. */
export function nextProcess(before: Bench, downMs: number, options: BenchOptions, run?: RunOptions): Bench {
  before.kill();
  const { clock, exchange, journal, sent } = before;
  clock.run(instant(clock.wall() + downMs));
  const bench = aBench({ clock, exchange, journal, sent, ...options });
  bench.start(run);
  return bench;
}

/** A journal whose disk takes this long to write an append. */
export function slowJournal(
  clock: VirtualClock,
  slowMs: (bodies: readonly RecordBody[]) => number,
  journal: Journal = memoryJournal(),
): Journal {
  const append: Journal['append'] = (bodies, at) =>
    defer(() => timer(slowMs(bodies), clock)).pipe(mergeMap(() => toObservable(journal.append(bodies, at))));
  return { ...journal, append };
}

interface Timed {
  readonly at: number;
}

/** The shortest time between two that follow each other. */
export const leastGap = (times: readonly Timed[]): number =>
  Math.min(...times.slice(1).map(({ at }, n) => at - (times[n]?.at ?? 0)));

/** The most of them in any window of `perMs`, which does not include its end. */
export const densest = (times: readonly Timed[], perMs: number): number =>
  Math.max(
    0,
    ...times.map(({ at: from }) => times.filter(({ at }) => at >= from && at < from + perMs).length),
  );

/** The price of a pair that stands still and costs nothing, so that each decision is known to the last digit. */
export const flat = (startPrice: string): NonNullable<VenueInput['pairs']>[string] => ({
  startPrice,
  volatilityPctYear: 0,
  halfSpreadBps: 0,
  impactBps: 0,
});

/** Books a trade that the desk did not make: a buy of 0.1 btc at 60 000 usd, unless `over` says otherwise. */
export function bookTrade(
  { exchange, clock, account }: Pick<Bench, 'exchange' | 'clock' | 'account'>,
  over: Partial<Parameters<Exchange['ledger']['book']>[1]> & { readonly orderId: string },
): void {
  const size = over.quantity ?? quantity('0.1');
  exchange.ledger.book(account, {
    pair: 'btcusd',
    base: 'btc',
    quote: 'usd',
    side: 'buy',
    price: price('60000'),
    tradeId: `t-${over.orderId}`,
    at: clock.wall(),
    clientId: undefined,
    quantity: size,
    amount: money(size.times(60_000).toFixed()),
    fees: money('0'),
    ...over,
  });
}
