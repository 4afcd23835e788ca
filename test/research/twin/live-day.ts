import { map, timer } from 'rxjs';
import { money, quantity } from '../../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS, after, instant } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import type { StrategiesPort, VenuePort } from '../../../src/engine/ports.ts';
import type { StrategySource } from '../../../src/engine/state/strategy-source.ts';
import type { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { compare } from '../../../src/research/twin/compare.ts';
import type { CompareSetup, Comparison } from '../../../src/research/twin/compare.ts';
import { recordedOf } from '../../../src/research/twin/recorded.ts';
import { presetModel, venueOf } from '../../../src/research/run/model.ts';
import type { ExecutionModel } from '../../../src/research/run/model.ts';
import { TapeReader, tapeMarket, venueTape } from '../../../src/research/run/tape-market.ts';
import { generateTape } from '../../../src/research/tape/generate.ts';
import type { Tape } from '../../../src/research/tape/tape.ts';
import { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import { strategies } from '../../../src/strategy/registry.ts';
import { START, aBench, aPolicy, aStrategy, aTwap } from '../../engine/harness.ts';
import type { Bench } from '../../engine/harness.ts';

/** Prices from a minute before the desk starts: it needs one then. */
const aTape = (): Tape =>
  generateTape({
    pair: 'btcusd',
    rows: 26 * 120,
    barMs: MINUTE_MS / 2,
    startsAt: instant(START - HOUR_MS),
    seed: 'live day',
    startPrice: 60_000,
    volatility: 0.04,
    correlation: 0,
  });

/** A dealer that answers immediately on the clock of the twin and never refuses at random. */
export const MODEL: ExecutionModel = {
  ...presetModel('tight'),
  quoteLatencyMs: 200,
  orderLatencyMs: 200,
};

/** One slice every ten minutes for twenty hours, each two seconds before the price changes. */
export const aDayOfSlices = (over: Record<string, unknown> = {}): StrategySource =>
  aTwap('twap', {
    total_quantity: { amount: '12', currency: 'btc' },
    start_time: new Date(START + 28_000).toISOString(),
    duration: 'PT20H',
    slices: 120,
    catch_up: 'skip',
    ...over,
  });

export interface LiveDay {
  /** The differences between the venue of live and the model of the twin. */
  readonly venue?: Partial<ExecutionModel>;
  readonly wrap?: (venue: VenuePort, clock: VirtualClock) => VenuePort;
  readonly files?: StrategiesPort;
  readonly holdings?: Readonly<Record<string, string>>;
  readonly strategies?: readonly StrategySource[];
  /** Events during the run. */
  readonly events?: readonly { readonly at: Instant; readonly happens: (bench: Bench) => void }[];
  readonly tape?: Tape;
}

/** The hour `hours` of the day. */
export const hour = (hours: number): Instant => after(START, hours * HOUR_MS);

/** A desk that trades for a day against the simulated venue. */
export function live(day: LiveDay): Bench {
  const tape = day.tape ?? aTape();
  const model = { ...MODEL, ...day.venue };
  const holdings = new Map(
    Object.entries(day.holdings ?? { usd: '2000000', btc: '10' }).map(([name, held]) => [
      name,
      quantity(held),
    ]),
  );
  const readers = new Map([[tape.pair, new TapeReader(tape)]]);
  const exchange = new Exchange({
    options: venueOf(model, { seed: 'live', from: START, pairs: [tape.pair], holdings }),
    tapes: new Map([[tape.pair, venueTape(tape, readers.get(tape.pair))]]),
    startedAt: START,
  });
  const bench = aBench({
    exchange,
    strategies: day.strategies ?? [aDayOfSlices()],
    policy: { areLimitsKept: true },
    quoteLatencyMs: model.quoteLatencyMs,
    orderLatencyMs: model.orderLatencyMs,
    wrap: day.wrap,
    files: day.files,
    market: (_, clock) => tapeMarket({ clock, tapes: [tape], readers, until: hour(25) }),
  });
  bench.start();
  for (const { at, happens } of day.events ?? []) {
    bench.clock.run(at);
    happens(bench);
  }
  bench.clock.run(hour(21));
  return bench;
}

/** The twin of a live day, with the model `MODEL`. */
export const setupOf = (bench: Bench, { tape, since }: Compared = {}): CompareSetup => ({
  recorded: recordedOf(bench.records()),
  policy: aPolicy(),
  model: MODEL,
  tapes: [tape ?? aTape()],
  until: hour(21),
  since,
  journal: memoryJournal,
  revive: ({ strategy: id, type: kind, hash, document }) => {
    const own = document as Record<string, unknown>;
    const params = Object.fromEntries(Object.entries(own).filter(([key]) => key !== 'id' && key !== 'kind'));
    const bound = strategies.get(kind)?.bind(params);
    return bound === undefined ? undefined : { id, kind, hash, document: own, bound };
  },
});

interface Compared {
  readonly tape?: Tape;
  readonly since?: Instant;
}

export const compared = (bench: Bench, options: Compared = {}): Comparison =>
  compare(setupOf(bench, options));

type Event = NonNullable<LiveDay['events']>[number];

export const anHourly = (usd: string): StrategySource =>
  aStrategy('hourly', 'recurring', {
    pair: 'btcusd',
    side: 'buy',
    each_notional: { amount: usd, currency: 'usd' },
    schedule: { every: 'PT1H', first: new Date(START + 17 * MINUTE_MS).toISOString() },
    window: 'PT8M',
    slices: 2,
  });

/** One file is edited, a second one is added, and a third is untouched. */
export function edited(): {
  readonly strategies: readonly StrategySource[];
  readonly files: StrategiesPort;
  readonly event: Event;
} {
  const first = aDayOfSlices();
  const more = aTwap('more', {
    total_quantity: { amount: '6', currency: 'btc' },
    start_time: new Date(after(hour(11), 28_000)).toISOString(),
    duration: 'PT5H',
    slices: 50,
  });
  const [small, large] = [anHourly('1000'), anHourly('2500')];
  let sources = [first, small];
  return {
    strategies: sources,
    files: {
      read: () => ({ sources, off: [], notes: [] }),
      revive: ({ hash }) => [first, more, small, large].find((source) => source.hash === hash),
    },
    event: {
      at: after(hour(10), 5 * MINUTE_MS),
      happens: ({ operator$ }) => {
        sources = [first, more, large];
        operator$.next({ do: 'reload', by: 'ana', why: 'more' });
      },
    },
  };
}

/** The config is edited: an order may be worth less than a slice. */
export function tightened(): LiveDay {
  const { limits: wide } = aPolicy();
  let limits = wide;
  const sources = [aDayOfSlices()];
  return {
    files: { read: () => ({ sources, limits, off: [], notes: [] }), revive: () => aDayOfSlices() },
    events: [
      {
        at: after(hour(10), 5 * MINUTE_MS),
        happens: ({ operator$ }) => {
          limits = { ...wide, orderNotionalMax: money('4000') };
          operator$.next({ do: 'reload', by: 'ana', why: 'less risk' });
        },
      },
    ],
  };
}

/** The answers of some orders are lost; every second one of these orders traded. */
export const losing =
  (isLost: (order: number) => boolean) =>
  (venue: VenuePort, clock: VirtualClock): VenuePort => {
    let orders = 0;
    return {
      ...venue,
      order: (request) => {
        if (!isLost(++orders)) return venue.order(request);
        if (orders % 2 === 0) {
          const answer = venue.order(request);
          if ('subscribe' in answer) answer.subscribe();
        }
        return timer(8_000, clock.scheduler).pipe(
          map(() => ({ kind: 'lost', sent: true, why: 'test' }) as const),
        );
      },
    };
  };

/** An outage, refusals, two doubts, a halt and an added strategy. */
export function aHardDay(): LiveDay {
  const { strategies: sources, files, event } = edited();
  const at = (hours: number): Instant => after(hour(hours), 5 * MINUTE_MS);
  return {
    strategies: sources,
    files,
    venue: { unavailableShare: 0, rejectedShare: 0.05 },
    wrap: losing((order) => order === 31 || order === 60),
    events: [
      {
        at: at(2),
        happens: ({ exchange }) => {
          exchange.setAvailability('all', 'unavailable');
        },
      },
      {
        at: at(4),
        happens: ({ exchange }) => {
          exchange.setAvailability('all', 'available');
        },
      },
      {
        at: at(6),
        happens: ({ operator$ }) => {
          operator$.next({ do: 'halt', by: 'ana', why: 'odd prices' });
        },
      },
      {
        at: at(7),
        happens: ({ operator$ }) => {
          operator$.next({ do: 'rearm', by: 'ana', why: 'all is well', withOpenDoubts: true });
        },
      },
      event,
    ],
  };
}
