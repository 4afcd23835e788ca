import { describe, expect, it } from 'vitest';
import { add, money, NO_QUANTITY, quantity, text } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import {
  aPolicy,
  aStrategy,
  afterEachDeath,
  flat,
  nextProcess,
  START,
  untilDeath,
  started,
} from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { faultsOf, ledgerTrades } from './oracle.ts';

const venue = {
  accounts: [{ balances: { usd: '10000', btc: '2', eth: '16' } }],
  pairs: { btcusd: flat('50000'), ethusd: flat('2500') },
};
/** Of 150000 usd: sells 62500 of btc, buys 35000 of eth. */
const plan = (over: object = {}): BenchOptions['strategies'] => [
  aStrategy('r', 'rebalance', {
    target_weights: { btc: '0.25', eth: '0.5', usd: '0.25' },
    drift_threshold: '0.02',
    schedule: { cron: '0 1 * * *' },
    leg_timeout: 'PT30M',
    ...over,
  }),
];
const SPREAD = { legs: { slices: 5, duration: 'PT10M' } };
const base = aPolicy();
const calm = {
  continuity: { ...base.continuity, everyMs: HOUR_MS, lateMs: DAY_MS },
  accountPollMs: 10 * MINUTE_MS,
  minimumOf: () => ({}),
};
/** No order above 20000 usd. */
const tight = { ...calm, limits: { ...base.limits, orderNotionalMax: money('20000') } };
const BEFORE = instant(START + HOUR_MS - 30 * SECOND_MS);
const END = instant(START + 2 * HOUR_MS);

function ran(until: Instant, options: Partial<BenchOptions> = {}): Bench {
  const bench = started({ strategies: plan(), policy: tight, venue, at: BEFORE, ...options });
  bench.clock.run(until);
  return bench;
}

const wrongOf = (bench: Bench): readonly string[] => faultsOf(bench).filter((fault) => fault !== 'not done');
const sidesOf = (bench: Bench): readonly string[] =>
  ledgerTrades(bench.exchange).map(({ side, pair }) => `${side} ${pair}`);
/** What was traded of each pair and side, in the order of its first trade. */
function totals(bench: Bench): readonly string[] {
  const sums = new Map<string, ReturnType<typeof quantity>>();
  for (const { side, quantity: amount, pair } of ledgerTrades(bench.exchange))
    sums.set(`${side} ${pair}`, add(sums.get(`${side} ${pair}`) ?? NO_QUANTITY, amount));
  return [...sums].map(([leg, sum]) => `${leg} ${text(sum)}`);
}
const times = (count: number, leg: string): readonly string[] => Array.from({ length: count }, () => leg);
const WHOLE = ['sell btcusd 1.25', 'buy ethusd 14'];

describe('a leg above a limit per order', () => {
  it('is traded completely in pieces within the notional limit, sells before buys', () => {
    const bench = ran(END);
    expect(totals(bench)).toEqual(WHOLE);
    expect(sidesOf(bench)).toEqual([...times(4, 'sell btcusd'), ...times(2, 'buy ethusd')]);
    for (const { quantity: amount, pair } of ledgerTrades(bench.exchange))
      expect(Number(text(amount)) * (pair === 'btcusd' ? 50_000 : 2_500)).toBeLessThanOrEqual(20_000);
    expect(wrongOf(bench)).toEqual([]);
  });

  it('is traded in pieces within the quantity limit of its pair', () => {
    const orderQuantityMax = new Map([['btcusd', quantity('0.3')]]);
    const bench = ran(END, { policy: { ...calm, limits: { ...base.limits, orderQuantityMax } } });
    expect(totals(bench)).toEqual(WHOLE);
    expect(sidesOf(bench)).toEqual([...times(5, 'sell btcusd'), 'buy ethusd']);
  });

  it('is refused if the limit would cut it into more than 40 pieces', () => {
    const limits = { ...base.limits, orderNotionalMax: money('1000') };
    const bench = ran(END, { policy: { ...calm, limits } });
    expect(totals(bench)).toEqual([]);
    const reasons = bench.bodies('slice').map((body) => body.reason);
    expect(reasons[0]).toBe('order_size');
  });

  it('is refused if it is a slice of another kind, such as a twap', () => {
    const one = aStrategy('t', 'twap', {
      pair: 'btcusd',
      side: 'sell',
      total_quantity: { amount: '1', currency: 'btc' },
      duration: 'PT10M',
      slices: 1,
    });
    const bench = ran(END, { strategies: [one] });
    expect(totals(bench)).toEqual([]);
  });
});

describe('a rebalancing spread over time', () => {
  it('trades each leg in slices like a twap, and starts the buys when the sells are over', () => {
    const bench = ran(END, { strategies: plan(SPREAD), policy: calm });
    expect(totals(bench)).toEqual(WHOLE);
    expect(sidesOf(bench)).toEqual([...times(5, 'sell btcusd'), ...times(5, 'buy ethusd')]);
    const starts = bench
      .records()
      .flatMap(({ at, body }) =>
        body.kind === 'wake' && body.intents.length > 0 ? [(at - START - HOUR_MS) / MINUTE_MS] : [],
      );
    // The fifth sell ends at once, and the buys begin.
    expect(starts.map((one) => Math.round(one))).toEqual([0, 2, 4, 6, 8, 8, 10, 12, 14, 16]);
    expect(wrongOf(bench)).toEqual([]);
  });

  it.each([
    ['in pieces within a limit', plan(), tight, true],
    ['in slices over time', plan(SPREAD), calm, false],
    ['in slices over time, each in pieces', plan({ legs: { slices: 2, duration: 'PT4M' } }), tight, false],
  ] as const)(
    'continues %s, wherever the process dies, without a repeated trade, a new decision or a lost fill',
    (_, strategies, policy, isWhole) => {
      const appends = ran(END, { strategies, policy }).appends();
      const wrong = afterEachDeath(
        [2, appends],
        (death, inFlight) => {
          const first = started({ strategies, policy, venue, at: BEFORE, death, inFlight });
          untilDeath(first, END - START);
          const second = nextProcess(first, 0, { strategies, policy });
          second.clock.run(END);
          const isShort = isWhole && totals(second).join() !== WHOLE.join();
          return [...wrongOf(second), ...beyond(second), ...anew(second), ...(isShort ? totals(second) : [])];
        },
        ['arrives', 'lost'],
      );
      expect(wrong).toEqual([]);
      expect(appends).toBeGreaterThan(15);
    },
  );
});

/** Trades beyond what was decided. A slice whose time passes while its order is in doubt may leave less. */
const beyond = (bench: Bench): readonly string[] =>
  totals(bench).filter((one) => Number(one.split(' ').at(-1)) > (one.startsWith('sell') ? 1.25 : 14));

/** Legs of another decision than the first. */
const anew = (bench: Bench): readonly string[] =>
  bench
    .bodies('wake')
    .flatMap((body) => body.intents.map(({ leg }) => leg))
    .filter((leg) => !leg.startsWith('1.'));
