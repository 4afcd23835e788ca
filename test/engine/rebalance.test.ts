import { aPolicy, nextProcess } from './harness.ts';
import { describe, expect, it } from 'vitest';
import { price, quantity, text, money } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { aStrategy, START, started, flat } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { ledgerTrades, wrongOf } from './oracle.ts';

const venue = {
  accounts: [{ balances: { usd: '10000', btc: '1', eth: '16', ltc: '100' } }],
  pairs: { btcusd: flat('50000'), ethusd: flat('2500'), ltcusd: flat('100'), solusd: flat('100') },
};
/** Of 110000 usd: sells 22500 of btc and 12500 of eth, buys 17500 of ltc and 16500 of sol. */
const plan = (over: object = {}): BenchOptions['strategies'] => [
  aStrategy('r', 'rebalance', {
    target_weights: { btc: '0.25', eth: '0.25', ltc: '0.25', sol: '0.15', usd: '0.1' },
    drift_threshold: '0.02',
    schedule: { cron: '0 1 * * *' },
    leg_timeout: 'PT30M',
    ...over,
  }),
];
const DECIDED = ['sell 0.45 btcusd', 'sell 5 ethusd', 'buy 175 ltcusd', 'buy 165 solusd'] as const;
const calm = {
  continuity: { ...aPolicy().continuity, everyMs: HOUR_MS, lateMs: DAY_MS },
  accountPollMs: 10 * MINUTE_MS,
  minimumOf: () => ({}),
};
const [BEFORE, DUE, END] = [HOUR_MS - 30 * SECOND_MS, HOUR_MS, 2 * HOUR_MS].map((ms) =>
  instant(START + ms),
) as [Instant, Instant, Instant];

function ran(until: Instant, options: Partial<BenchOptions> = {}): Bench {
  const bench = started({ strategies: plan(), policy: calm, venue, at: BEFORE, ...options });
  bench.clock.run(until);
  return bench;
}

const next = (before: Bench, until: Instant, options: Partial<BenchOptions> = {}): Bench => {
  const bench = nextProcess(before, 0, { strategies: plan(), policy: calm, ...options });
  bench.clock.run(until);
  return bench;
};

const trades = (bench: Bench): readonly string[] =>
  ledgerTrades(bench.exchange).map(({ side, quantity: amount, pair }) => `${side} ${text(amount)} ${pair}`);
/** The decisions of the journal: what each wake asked for. */
const decisions = (bench: Bench): readonly (readonly string[])[] =>
  bench
    .bodies('wake')
    .flatMap((body) =>
      body.intents.length > 0 ? [body.intents.map(({ side, size, pair }) => `${side} ${size} ${pair}`)] : [],
    );

describe('a rebalancing on a desk', () => {
  it('complaint 17: sells before it buys, with the decided sizes', () => {
    const bench = ran(END);
    expect(wrongOf(bench)).toEqual([]);
    expect(decisions(bench)).toEqual([DECIDED.slice(0, 2), DECIDED.slice(2)]);
    expect(trades(bench).toSorted()).toEqual(DECIDED.toSorted());
    const sides = ledgerTrades(bench.exchange).map(({ side }) => side);
    expect(sides).toEqual(['sell', 'sell', 'buy', 'buy']);
  });

  it('completes its decision after a restart, whatever the prices are by then', () => {
    const first = ran(instant(DUE + 100));
    expect(trades(first)).toHaveLength(2);
    first.kill();
    first.exchange.market.pin('ltcusd', price('130'));
    first.exchange.market.pin('btcusd', price('20000'));
    const second = next(first, END);
    expect(trades(second).toSorted()).toEqual(DECIDED.toSorted());
    expect(decisions(second)).toHaveLength(2);
  });

  it('does not trade while the venue reports a different portfolio value, and records that', () => {
    const first = started(
      { strategies: plan({ schedule: { cron: '30 1 * * *' } }), policy: calm, venue },
      HOUR_MS + 10 * MINUTE_MS,
    );
    // The venue's figure is of the last full hour: a price has jumped since.
    first.exchange.market.pin('btcusd', price('80000'));
    first.until(2 * HOUR_MS);
    expect(trades(first)).toEqual([]);
    const told = first.bodies('wake');
    expect(told.at(-1)).toMatchObject({
      reason: 'valuation_mismatch',
      note: "ours 140000.00, the venue's 110000.00 usd",
    });
  });

  it.each([
    ['300000', 'is traded into the weights'],
    ['-9000', 'is covered by sells'],
  ])(
    'includes a transfer of %s usd, which %s, although the venue has not valued the account since',
    (amount) => {
      const bench = started(
        {
          strategies: plan({ schedule: { cron: '30 1 * * *' }, valuation_tolerance: '0.01' }),
          policy: calm,
          venue,
        },
        HOUR_MS + 10 * MINUTE_MS,
      );
      const { exchange, clock, account } = bench;
      exchange.ledger.move(account, { currency: 'usd', amount: quantity(amount) }, clock.wall());
      bench.until(2 * HOUR_MS);
      expect(trades(bench).length).toBeGreaterThan(1);
      expect(wrongOf(bench)).toEqual([]);
    },
  );
});

describe('a rebalancing through another currency', () => {
  const cross = {
    accounts: [{ balances: { usd: '5000', btc: '1', sol: '450' } }],
    pairs: { btcusd: flat('50000'), solbtc: flat('0.002') },
  };
  const strategies = plan({
    target_weights: { sol: '0.25', btc: '0.5', usd: '0.25' },
    via: { sol: 'btc' },
  });
  const legs = ['sell 200 solbtc', 'sell 0.4 btcusd'];

  it('sells for the intermediate currency first, and that currency for cash', () => {
    const bench = ran(END, { strategies, venue: cross });
    expect(wrongOf(bench)).toEqual([]);
    expect(trades(bench)).toEqual(legs);
  });

  it('values the portfolio through the intermediate currency if it is continuous', () => {
    const continuous = plan({
      target_weights: { sol: '0.25', btc: '0.5', usd: '0.25' },
      via: { sol: 'btc' },
      schedule: undefined,
      cash_buffer: { amount: '1', currency: 'usd' },
    });
    const bench = ran(instant(BEFORE + 20 * SECOND_MS), { strategies: continuous, venue: cross });
    expect(bench.seen.error).toBeUndefined();
    expect(trades(bench)).toEqual(['sell 200.0025 solbtc', 'sell 0.400015 btcusd']);
  });
});

const { limits } = aPolicy();
/** Of 150000 usd: sells 62500 of btc, buys 35000 of eth. */
const largePlan = (over: object = {}): BenchOptions['strategies'] =>
  plan({ target_weights: { btc: '0.25', eth: '0.5', usd: '0.25' }, ...over });
const WHOLE = ['sell btcusd 1.25', 'buy ethusd 14'];

/** No order above 20000 usd, unless told otherwise. */
const large = (options: Partial<BenchOptions> = {}): Bench =>
  ran(END, {
    strategies: largePlan(),
    policy: { ...calm, limits: { ...limits, orderNotionalMax: money('20000') } },
    venue: { ...venue, accounts: [{ balances: { usd: '10000', btc: '2', eth: '16' } }] },
    ...options,
  });

const sidesOf = (bench: Bench): readonly string[] =>
  ledgerTrades(bench.exchange).map(({ side, pair }) => `${side} ${pair}`);
/** What was traded of each pair and side, in the order of its first trade. */
function totals(bench: Bench): readonly string[] {
  const sums = new Map<string, number>();
  for (const { side, quantity: amount, pair } of ledgerTrades(bench.exchange))
    sums.set(`${side} ${pair}`, (sums.get(`${side} ${pair}`) ?? 0) + Number(amount));
  return [...sums].map(([leg, sum]) => `${leg} ${Number(sum.toFixed(8))}`);
}
const times = (count: number, leg: string): readonly string[] => Array.from({ length: count }, () => leg);

describe('a leg above a limit per order', () => {
  it('is traded completely in pieces within the notional limit, sells before buys', () => {
    const bench = large();
    expect(totals(bench)).toEqual(WHOLE);
    expect(sidesOf(bench)).toEqual([...times(4, 'sell btcusd'), ...times(2, 'buy ethusd')]);
    for (const { quantity: amount, pair } of ledgerTrades(bench.exchange))
      expect(Number(text(amount)) * (pair === 'btcusd' ? 50_000 : 2_500)).toBeLessThanOrEqual(20_000);
    expect(wrongOf(bench)).toEqual([]);
  });

  it('is traded in pieces within the quantity limit of its pair', () => {
    const orderQuantityMax = new Map([['btcusd', quantity('0.3')]]);
    const bench = large({ policy: { ...calm, limits: { ...limits, orderQuantityMax } } });
    expect(totals(bench)).toEqual(WHOLE);
    expect(sidesOf(bench)).toEqual([...times(5, 'sell btcusd'), 'buy ethusd']);
  });

  it('is refused if the limit would cut it into more than 40 pieces', () => {
    const bench = large({ policy: { ...calm, limits: { ...limits, orderNotionalMax: money('1000') } } });
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
    const bench = large({ strategies: [one] });
    expect(totals(bench)).toEqual([]);
  });
});

describe('a rebalancing spread over time', () => {
  it('trades each leg in slices like a twap, and starts the buys when the sells are over', () => {
    const bench = large({ strategies: largePlan({ legs: { slices: 5, duration: 'PT10M' } }), policy: calm });
    expect(totals(bench)).toEqual(WHOLE);
    expect(sidesOf(bench)).toEqual([...times(5, 'sell btcusd'), ...times(5, 'buy ethusd')]);
    const starts = bench
      .timed('wake')
      .flatMap(({ at, intents }) => (intents.length > 0 ? [(at - HOUR_MS) / MINUTE_MS] : []));
    // The fifth sell ends at once, and the buys begin.
    expect(starts.map((one) => Math.round(one))).toEqual([0, 2, 4, 6, 8, 8, 10, 12, 14, 16]);
    expect(wrongOf(bench)).toEqual([]);
  });
});
