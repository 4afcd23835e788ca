import { describe, expect, it } from 'vitest';
import { add, money, NO_QUANTITY, quantity, text } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { faultyVenue } from './faulty-venue.ts';
import { aPolicy, aStrategy, aTwap, flat, nextProcess, START, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, ledgerTrades, wrongOf } from './oracle.ts';

/** What a process works on when it dies. */
interface Story {
  readonly options: BenchOptions;
  /** Happens right after the start. */
  readonly begin?: (bench: Bench) => void;
  /** Deaths before this are of no interest, ms after the start. */
  readonly fromMs?: number;
  /** When the work is done, and when the next process must have done it. */
  readonly endMs: number;
  readonly untilMs?: number;
  /** Somebody who trusts the desk lifts every halt and pause within ten seconds. */
  readonly isLifted?: boolean;
  /** What is wrong then, beside a run of which no process died. */
  readonly wrong?: (bench: Bench, whole: Bench) => readonly string[];
}

const { limits, continuity, pts } = aPolicy();

const total = (wanted: string) => (bench: Bench) => {
  const traded = text(executedTotal(bench.exchange));
  return traded === wanted ? wrongOf(bench) : [traded];
};

/** What was traded of each pair and side, and what was decided. */
function sums(bench: Bench): readonly string[] {
  const all = new Map<string, ReturnType<typeof quantity>>();
  for (const { side, quantity: size, pair } of ledgerTrades(bench.exchange))
    all.set(`${side} ${pair}`, add(all.get(`${side} ${pair}`) ?? NO_QUANTITY, size));
  return [...all].map(([leg, sum]) => `${leg} ${text(sum)}`).toSorted();
}
const decided = (bench: Bench): string =>
  bench.bodies('wake').flatMap(({ intents }) => intents.map(({ leg, size }) => `${leg} ${size}`)).join(); // prettier-ignore

const sold = (bench: Bench): number =>
  ledgerTrades(bench.exchange).reduce(
    (sum, { side, amount }) => sum + (side === 'sell' ? Number(amount) : 0),
    0,
  );

/** Parts of an order that the venue books one after the other; the answers to the given orders, from 0, are lost. */
function inParts(delaysMs: readonly number[], lost: readonly number[]): Story {
  let orders = 0;
  const plan = { slices: 3, duration: 'PT3M', catch_up: 'pace' };
  return {
    options: {
      strategies: [aTwap('t', plan)],
      venue: { booking: { tradesPerOrder: 3, shares: ['0.5', '0.4995'], delaysMs: [...delaysMs] } },
      policy: { onDifference: 'alert' },
      wrap: faultyVenue({ order: () => (lost.includes(orders++) ? 'answer lost' : undefined) }),
    },
    begin: () => (orders = 0),
    endMs: 30 * MINUTE_MS,
    isLifted: true,
    wrong: (bench, whole) => {
      const fills = [...bench.bodies('fill'), ...bench.bodies('correction')];
      const booked = new Map(fills.map((fill) => [fill.client_order_id, fill.quantity]));
      const ours = [...booked.values()].reduce((sum, each) => sum + Number(each), 0);
      const theirs = Number(executedTotal(bench.exchange));
      // A doubt may outlast the plan of the next process: then less is bought, and never more.
      const isSame = Math.abs(ours - theirs) < 1e-9 && theirs <= 1 && (bench !== whole || theirs > 0.3);
      return isSame && bench.seen.error === undefined
        ? []
        : [`booked ${ours} of ${theirs}`, String(bench.seen.error)];
    },
  };
}

/** Sells 62,500 usd of btc and buys 35,000 usd of eth. */
function rebalancing(over: object, orderMax = '1000000'): Story {
  const plan = {
    target_weights: { btc: '0.25', eth: '0.5', usd: '0.25' },
    drift_threshold: '0.02',
    schedule: { cron: '0 1 * * *' },
    leg_timeout: 'PT30M',
    ...over,
  };
  return {
    options: {
      strategies: [aStrategy('r', 'rebalance', plan)],
      venue: {
        accounts: [{ balances: { usd: '10000', btc: '2', eth: '16' } }],
        pairs: { btcusd: flat('50000'), ethusd: flat('2500') },
      },
      policy: {
        continuity: { ...continuity, everyMs: HOUR_MS, lateMs: DAY_MS },
        accountPollMs: 10 * MINUTE_MS,
        minimumOf: () => ({}),
        limits: { ...limits, orderNotionalMax: money(orderMax) },
      },
      at: instant(START + HOUR_MS - 30 * SECOND_MS),
    },
    endMs: 2 * HOUR_MS,
    wrong: (bench, whole) => {
      // A slice whose time passes while its order is in doubt may leave less.
      const beyond = sums(bench).filter(
        (one) => Number(one.split(' ').at(-1)) > (one.startsWith('sell') ? 1.25 : 14),
      );
      const anew = bench
        .bodies('wake')
        .flatMap(({ intents }) => intents.filter(({ leg }) => !leg.startsWith('1.')));
      const isWhole = 'legs' in over || sums(bench).join() === sums(whole).join();
      return [...wrongOf(bench), ...beyond, ...anew.map(({ leg }) => leg), ...(isWhole ? [] : sums(bench))];
    },
  };
}

const RATE = { annualRate: '0.0876', graceMinutes: 60, frequencyMinutes: 60 };

const stories: Readonly<Record<string, Story>> = {
  'a twap': { options: { strategies: [aTwap('twap', { slices: 4, duration: 'PT4M' })] }, endMs: HOUR_MS },
  'a twap whose orders are often canceled': {
    options: {
      strategies: [aTwap('twap', { slices: 3, duration: 'PT6M' })],
      venue: { cancelProbability: 0.4, unavailableProbability: 0.2 },
    },
    endMs: HOUR_MS,
  },
  'two twaps on opposite sides of one pair': {
    options: {
      strategies: [
        aTwap('buys', { slices: 2, duration: 'PT2M' }),
        aTwap('sells', { slices: 2, duration: 'PT2M', side: 'sell' }),
      ],
    },
    endMs: HOUR_MS,
  },
  'a slice that the venue cuts into pieces': {
    options: {
      strategies: [
        aTwap('pieces', { slices: 1, duration: 'PT5M', total_quantity: { amount: '10', currency: 'btc' } }),
      ],
    },
    endMs: HOUR_MS,
  },
  'orders whose parts all appear within the booking margin, with some answers lost': inParts(
    [0, 3_000, 9_000],
    [0, 2],
  ),
  'orders whose last part appears after the booking margin, with one answer lost': inParts(
    [0, 3_000, 70_000],
    [0],
  ),
  'a limit order': {
    options: {
      strategies: [
        aStrategy('l', 'limit', {
          pair: 'btcusd',
          side: 'buy',
          total_quantity: { amount: '1.00000003', currency: 'btc' },
          limit_price: '60000',
          max_slice_quantity: { amount: '0.3', currency: 'btc' },
        }),
      ],
      pins: { btcusd: '59000' },
    },
    endMs: 3 * MINUTE_MS,
    untilMs: 18 * MINUTE_MS,
    wrong: (bench) => [...total('1.00000003')(bench), ...faultsOf(bench)],
  },
  'a sweep': {
    options: {
      strategies: [
        aStrategy('s', 'sweep', {
          from: 'btc',
          to: 'usd',
          keep: { amount: '2', currency: 'btc' },
          max_slice_notional: { amount: '60000', currency: 'usd' },
        }),
      ],
      venue: { accounts: [{ name: 'main', balances: { usd: '50000', btc: '2' } }] },
      pins: { btcusd: '50000' },
    },
    begin: ({ exchange, clock }) => exchange.deposit('main', 'btc', quantity('2.00000001'), clock.wall()),
    endMs: 3 * MINUTE_MS,
    untilMs: 18 * MINUTE_MS,
    wrong: total('2.00000001'),
  },
  'the closing of a position': {
    options: {
      strategies: [
        aTwap('b', { start_time: '2026-01-05T00:01:00Z', duration: 'PT1M', slices: 1 }),
        aStrategy('s', 'settle', {
          pairs: ['btcusd'],
          before_grace_ends: 'PT10M',
          max_slice_notional: { amount: '12000', currency: 'usd' },
        }),
      ],
      venue: {
        accounts: [{ name: 'main', balances: { usd: '20000' } }],
        pts: { modes: { btcusd: 'Enabled' }, rates: { usd: RATE, btc: RATE } },
      },
      policy: { pts: { ...pts, use: 'when_enabled' } },
      pins: { btcusd: '50000' },
    },
    fromMs: 50 * MINUTE_MS,
    endMs: 56 * MINUTE_MS,
    untilMs: 90 * MINUTE_MS,
    wrong: (bench, whole) => {
      const charged = bench.exchange.interest('main', bench.clock.wall());
      const isClosed = bench.balance('usd') === 0 && sold(bench) === sold(whole);
      return isClosed && charged.ok && charged.value.length <= 1
        ? wrongOf(bench)
        : [`${bench.balance('usd')} ${sold(bench)}`];
    },
  },
  'an occurrence of a recurring strategy': {
    options: {
      strategies: [
        aStrategy('r', 'recurring', {
          pair: 'btcusd',
          side: 'buy',
          each_quantity: { amount: '0.5', currency: 'btc' },
          schedule: { cron: '0 9 * * *', time_zone: 'Europe/London' },
          slices: 4,
          window: 'PT40M',
        }),
      ],
      at: instant(START + 9 * HOUR_MS - MINUTE_MS),
    },
    endMs: 10 * HOUR_MS,
    wrong: total('0.5'),
  },
  'a rebalancing': {
    ...rebalancing({}),
    wrong: (bench, whole) =>
      sums(bench).join() === sums(whole).join() && decided(bench) === decided(whole)
        ? wrongOf(bench)
        : sums(bench),
  },
  'a rebalancing in pieces within a limit': rebalancing({}, '20000'),
  'a rebalancing in slices over time': rebalancing({ legs: { slices: 5, duration: 'PT10M' } }),
  'a rebalancing in slices over time, each in pieces': rebalancing(
    { legs: { slices: 2, duration: 'PT4M' } },
    '20000',
  ),
};

function begun({ options, begin }: Story, over: Partial<BenchOptions> = {}): Bench {
  const bench = started({ ...options, ...over });
  begin?.(bench);
  return bench;
}

/** Runs until the process dies, or until so long after the start. */
function run(bench: Bench, untilMs: number, { isLifted = false }: Story): void {
  while (!bench.life.isOver && bench.clock.wall() < START + untilMs) {
    bench.run(isLifted ? 10 * SECOND_MS : SECOND_MS);
    const { control } = bench.desk;
    if (!isLifted || control === 'active') continue;
    bench.tell({ do: control === 'halted' ? 'rearm' : 'resume', withOpenDoubts: true });
  }
}

describe.each(Object.entries(stories))('a process that dies while it works on %s', (_, story) => {
  const { fromMs, endMs, untilMs = endMs, wrong: wrongIn = faultsOf } = story;
  const whole = begun(story);
  if (fromMs !== undefined) run(whole, fromMs, story);
  const from = fromMs === undefined ? 0 : whole.appends();
  run(whole, endMs, story);
  const end = whole.appends();

  it('completes the undisturbed reference run without error', () => {
    expect(whole.seen.error).toBeUndefined();
    expect(wrongIn(whole, whole)).toEqual([]);
    expect(ledgerTrades(whole.exchange).length).toBeGreaterThan(0);
  });

  it.each(['lost', 'durable'] as const)(
    'never executes twice and loses no fill, at whichever append it dies (records %s)',
    (records) => {
      const wrong: string[] = [];
      for (const inFlight of ['arrives', 'lost'] as const)
        for (let at = from + 1; at <= end; at++) {
          const first = begun(story, { death: { at, records }, inFlight });
          run(first, endMs, story);
          const second = nextProcess(first, 1_500, story.options);
          run(second, untilMs, story);
          const faults = first.life.isOver ? wrongIn(second, whole) : ['did not die'];
          wrong.push(...faults.map((fault) => `append ${at} ${records}, in flight ${inFlight}: ${fault}`));
        }
      expect(wrong).toEqual([]);
      expect(end - from).toBeGreaterThan(10);
    },
  );
});
