/**
 * Runs a busy desk for a day of virtual time: fifty parents that together use the whole limit of ten quotes per second, through
 * the whole engine against the exchange in process. Once per virtual hour, it records memory after a garbage collection, open
 * handles, and the sizes of the desk's collections. From the fourth hour on, when the desk holds its maximum of quote ids, the heap
 * must not grow. The exchange is in the same process and never shortens its ledger: the benchmark removes all but the newest trades
 * once per hour. Exit code 1 when the heap is not flat.
 *
 * Run: `npm run bench:soak [-- --hours N] [--json]`
 */
import { parseArgs } from 'node:util';
import { NEVER, Observable } from 'rxjs';
import { instant } from '../src/core/time.ts';
import { VirtualClock } from '../src/engine/time/virtual-clock.ts';
import { Desk } from '../src/engine/desk.ts';
import type { StrategySource } from '../src/engine/desk.ts';
import { noObserver } from '../src/engine/observer.ts';
import type { JournalPort } from '../src/engine/ports.ts';
import { QuoteIds } from '../src/engine/attempt/quote-ids.ts';
import { runDesk } from '../src/engine/run.ts';
import { EMPTY as EMPTY_CHAIN, tie } from '../src/journal/proof/chain.ts';
import { Exchange } from '../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../src/simulator/options/options.ts';
import { inProcessVenue } from '../src/simulator/port.ts';
import { seededRandom } from '../src/simulator/market/random.ts';
import { benchPolicy, benchTwap } from './desk.ts';
import { table } from './measure.ts';

const PARENTS = 50;
/** Trades that remain in the exchange, more than three hours of them, and the ledger rows of each. */
const KEPT_TRADES = 5_000;
const ROWS_OF_TRADE = 2;
const SLOT_SECONDS = 60;
/** 2026-01-05T00:00:00Z, a Monday. */
const START = instant(Date.UTC(2026, 0, 5));
const HOUR_MS = 3_600_000;
/** Largest growth that counts as flat, MB per hour of 36 000 quotes. It includes ids of two days, 1 500 per hour. */
const FLAT_MB_PER_HOUR = 0.5;

const { values } = parseArgs({
  options: { hours: { type: 'string', default: '24' }, json: { type: 'boolean', default: false } },
});
const hours = Number(values.hours);
const { gc } = globalThis;
if (gc === undefined) throw new Error('run it with --expose-gc');

/**
 * Returns fifty twaps. Half of them trade each minute. The others have a limit that the market does not reach: they keep requesting
 * quotes, and use up the rest of the quote limit.
 */
function twaps(): readonly StrategySource[] {
  const slices = hours * (HOUR_MS / 1000 / SLOT_SECONDS);
  return Array.from({ length: PARENTS }, (_, i) => {
    const isBtc = i % 2 === 0;
    const side = i % 4 < 2 ? 'buy' : 'sell';
    const limit = side === 'buy' ? (isBtc ? '50000' : '2500') : isBtc ? '70000' : '3500';
    return benchTwap(`twap-${i}`, {
      pair: isBtc ? 'btcusd' : 'ethusd',
      side,
      total_quantity: { amount: String(slices * (isBtc ? 0.001 : 0.02)), currency: isBtc ? 'btc' : 'eth' },
      duration: `PT${hours}H`,
      slices,
      ...(i < PARENTS / 2 ? {} : { limit_price: limit }),
    });
  });
}

/** Returns a journal that chains and checks records as every journal does, and stores none: the disk is not measured. */
function forgetfulJournal(): JournalPort & { count: number } {
  let head = EMPTY_CHAIN;
  return {
    count: 0,
    append(bodies, at) {
      return new Observable((subscriber) => {
        const tied = tie(head, bodies, at);
        head = tied.at(-1)?.line ?? head;
        this.count += tied.length;
        subscriber.next(tied.map(({ record }) => record));
        subscriber.complete();
      });
    },
    read: () => [],
    close: () => undefined,
  };
}

interface Look {
  readonly hour: number;
  readonly heapMb: number;
  readonly handles: number;
  /** Sizes of all collections of the desk, by name. */
  readonly kept: Readonly<Record<string, number>>;
  readonly quotes: number;
  readonly fills: number;
  readonly records: number;
  readonly waiting: number;
}

/** Returns the sizes of all maps, sets and lists of an object. */
function sizesOf(owner: object, prefix: string): Record<string, number> {
  return Object.fromEntries(
    Object.entries(owner).flatMap(([name, value]: [string, unknown]) => {
      const isCounted = [Map, Set, QuoteIds].some((kind) => value instanceof kind);
      if (isCounted) return [[prefix + name, (value as { readonly size: number }).size]];
      return Array.isArray(value) ? [[prefix + name, value.length]] : [];
    }),
  );
}

function anExchange(): Exchange {
  const balances = { usd: '100000000', btc: '1000', eth: '20000' };
  const options = venueOptions({ accounts: [{ balances }], limits: { enforced: false } });
  return new Exchange({ options, startedAt: START });
}

/** The data that an exchange keeps forever, by account: every test checks against it. */
interface Kept {
  readonly ledger: {
    readonly accounts: ReadonlyMap<string, { readonly rows: unknown[] }>;
    readonly fills: { readonly clientIds: string[]; readonly quoteIds: string[] };
  };
  readonly registry: {
    readonly accounts: ReadonlyMap<
      string,
      { orders: unknown[]; trades: unknown[]; places: Map<string, number>; placed: number }
    >;
  };
}

/** Removes all but the newest trades from the exchange: the desk reads back at most two hours here. */
function forget(whole: Exchange): void {
  const { ledger, registry } = whole as unknown as Kept; // oxlint-disable-line typescript/no-unsafe-type-assertion -- its private parts, as named above
  for (const { name } of whole.accounts) {
    const rows = ledger.accounts.get(name)?.rows ?? [];
    rows.splice(0, rows.length - KEPT_TRADES * ROWS_OF_TRADE);
    const kept = registry.accounts.get(name);
    if (kept === undefined) continue;
    for (const list of [kept.orders, kept.trades]) list.splice(0, list.length - KEPT_TRADES);
    kept.places.clear();
    kept.placed = 0;
  }
  // The lists keep their length, because rows refer to positions in them; the numbers of the fills lie outside of the heap.
  const { clientIds, quoteIds } = ledger.fills;
  for (const texts of [clientIds, quoteIds]) texts.fill('', 0, Math.max(0, texts.length - KEPT_TRADES));
}

const clock = new VirtualClock(START);
const exchange = anExchange();
const journal = forgetfulJournal();
const real = inProcessVenue(exchange, {
  clock,
  capabilities: 'none',
  quoteLatencyMs: 20,
  orderLatencyMs: 20,
});
let quotes = 0;
const venue = {
  ...real,
  quote: (request: Parameters<typeof real.quote>[0]) => {
    quotes += 1;
    return real.quote(request);
  },
};
const desk = new Desk({ clock, random: seededRandom('1'), venue, journal, operator$: NEVER }, benchPolicy(), noObserver, twaps()); // prettier-ignore
const failures: unknown[] = [];
runDesk(desk).subscribe({ error: (error: unknown) => failures.push(error) });

const looks: Look[] = [];
const begun = performance.now();
for (let hour = 1; hour <= hours; hour++) {
  clock.run(instant(START + hour * HOUR_MS));
  if (failures.length > 0) throw new Error('the desk could not go on', { cause: failures[0] });
  forget(exchange);
  gc();
  const look = {
    hour,
    heapMb: process.memoryUsage().heapUsed / 1e6,
    handles: process.getActiveResourcesInfo().length,
    kept: { ...sizesOf(desk, ''), ...sizesOf(desk.state, 'state.') },
    quotes,
    fills: desk.state.fills,
    records: journal.count,
    waiting: desk.rateLimiter.waiting,
  };
  looks.push(look);
  if (!values.json)
    console.error(`hour ${hour}: ${look.heapMb.toFixed(1)} MB, ${quotes} quotes, ${journal.count} records`);
}

/** Returns the growth of the heap from the fourth hour on, MB per hour, by least squares. */
function slopeOf(all: readonly Look[]): number {
  const points = all.filter(({ hour }) => hour >= 4);
  const mean = (of: (look: Look) => number): number =>
    points.reduce((sum, look) => sum + of(look), 0) / points.length;
  const [x, y] = [mean(({ hour }) => hour), mean(({ heapMb }) => heapMb)];
  const up = points.reduce((sum, look) => sum + (look.hour - x) * (look.heapMb - y), 0);
  return up / points.reduce((sum, look) => sum + (look.hour - x) ** 2, 0);
}

const [second, last] = [looks[3], looks.at(-1)];
const slope = slopeOf(looks);
const ids = (look: Look | undefined): number => look?.kept['state.filledIds'] ?? 0;
/** All growing collections, except those with their own bound: ids of two days, 100 000 quote ids. */
const grown = Object.entries(last?.kept ?? {}).filter(
  ([name, size]) => !/filledIds|quoteIds/u.test(name) && size > 2 * (second?.kept[name] ?? 0) + 10,
);
const isFlat = slope <= FLAT_MB_PER_HOUR && last?.handles === second?.handles && grown.length === 0;
const figures = {
  hours,
  quotes: last?.quotes ?? 0,
  quotesPerSecond: Number(((last?.quotes ?? 0) / (hours * 3_600)).toFixed(2)),
  records: last?.records ?? 0,
  heapMbFourthHour: Number(second?.heapMb.toFixed(1)),
  heapMbEnd: Number(last?.heapMb.toFixed(1)),
  slopeMbPerHour: Number(slope.toFixed(3)),
  idsPerHour: Math.round((ids(last) - ids(second)) / Math.max(1, hours - 4)),
  handles: last?.handles ?? 0,
  seconds: Math.round((performance.now() - begun) / 1000),
};
process.exitCode = isFlat ? 0 : 1;
if (values.json) console.log(JSON.stringify({ bench: 'soak', reached: isFlat, results: figures }));
else {
  console.log(table(looks.map(({ kept, ...row }) => ({ ...row, heapMb: row.heapMb.toFixed(1), ids: kept['state.filledIds'] ?? 0, quoteIds: kept['quoteIds'] ?? 0 })))); // prettier-ignore
  console.log(`kept at the end: ${JSON.stringify(last?.kept)}`);
  console.log(JSON.stringify(figures));
  console.log(
    `target: at most ${FLAT_MB_PER_HOUR} MB an hour, nothing else grows: ${isFlat ? 'flat' : 'NOT FLAT'}`,
  );
}
