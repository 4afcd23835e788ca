import { describe, expect, it } from 'vitest';
import { price, quantity, text, money } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { showDesk } from '../../src/app/cli/watch.ts';
import { aPolicy, nextProcess, aStrategy, START, started, flat, aBench } from './harness.ts';
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
const repeated = (count: number, leg: string): readonly string[] => Array.from({ length: count }, () => leg);

describe('a leg above a limit per order', () => {
  it('is traded completely in pieces within the notional limit, sells before buys', () => {
    const bench = large();
    expect(totals(bench)).toEqual(WHOLE);
    expect(sidesOf(bench)).toEqual([...repeated(4, 'sell btcusd'), ...repeated(2, 'buy ethusd')]);
    for (const { quantity: amount, pair } of ledgerTrades(bench.exchange))
      expect(Number(text(amount)) * (pair === 'btcusd' ? 50_000 : 2_500)).toBeLessThanOrEqual(20_000);
    expect(wrongOf(bench)).toEqual([]);
  });

  it('is traded in pieces within the quantity limit of its pair', () => {
    const orderQuantityMax = new Map([['btcusd', quantity('0.3')]]);
    const bench = large({ policy: { ...calm, limits: { ...limits, orderQuantityMax } } });
    expect(totals(bench)).toEqual(WHOLE);
    expect(sidesOf(bench)).toEqual([...repeated(5, 'sell btcusd'), 'buy ethusd']);
  });

  it('is traded in 40 pieces if the limit would need more, and the rest is left with that reason', () => {
    const bench = large({ policy: { ...calm, limits: { ...limits, orderNotionalMax: money('1000') } } });
    const [sold, bought] = [
      bench.bodies('fill').filter(({ side }) => side === 'sell'),
      bench.bodies('slice')[1],
    ];
    expect(sold).toHaveLength(40);
    expect(bench.bodies('slice')[0]).toMatchObject({ result: 'filled', reason: 'order_size' });
    // Cash that the sells did not bring is not spent.
    expect(Number(bought?.filled_amount ?? 0)).toBeLessThanOrEqual(
      Number(bench.bodies('slice')[0]?.filled_amount),
    );
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
    expect(sidesOf(bench)).toEqual([...repeated(5, 'sell btcusd'), ...repeated(5, 'buy ethusd')]);
    const starts = bench
      .timed('wake')
      .flatMap(({ at, intents }) => (intents.length > 0 ? [(at - HOUR_MS) / MINUTE_MS] : []));
    // The fifth sell ends at once, and the buys begin.
    expect(starts.map((one) => Math.round(one))).toEqual([0, 2, 4, 6, 8, 8, 10, 12, 14, 16]);
    expect(wrongOf(bench)).toEqual([]);
  });
});

/** Constant prices and a portfolio far from its targets: only the block decides when it trades. */
const OPTIONS: BenchOptions = {
  venue: {
    accounts: [{ balances: { usd: '10000', btc: '1' } }],
    pairs: { btcusd: flat('50000') },
  },
  strategies: [
    aStrategy('r', 'rebalance', {
      target_weights: { btc: '0.5', usd: '0.5' },
      drift_threshold: '0.05',
      valuation_tolerance: '0.9',
    }),
  ],
  policy: {
    continuity: { ...aPolicy().continuity, everyMs: HOUR_MS, lateMs: DAY_MS },
    minimumOf: () => ({}),
  },
};
const refused: BenchOptions = {
  ...OPTIONS,
  policy: { ...OPTIONS.policy, limits: { ...aPolicy().limits, pairs: new Set(['ethusd']) } },
};

/** The times of its decisions, and the waits that woke it. */
const decidedAt = (bench: Bench): readonly (readonly [number, string])[] =>
  bench.timed('wake').flatMap(({ at, intents, on }) => (intents.length > 0 ? [[at, on] as const] : []));
const fills = (bench: Bench): number => bench.bodies('fill').length;

describe('a rebalancing that a limit blocks', () => {
  it('is retried ten times at growing intervals, and then waits for a change for at most a day', () => {
    const bench = started(refused, 53 * HOUR_MS);
    const times = decidedAt(bench).map(([ms]) => ms);
    const gaps = times.slice(1).map((ms, i) => Math.round((ms - (times[i] ?? 0)) / MINUTE_MS));
    expect(gaps).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 24 * 60, 24 * 60]);
    expect(fills(bench)).toBe(0);
    expect(bench.alerts().filter((id) => id === 'strategy_blocked')).toHaveLength(1);
  });

  it('is retried at once when a pause is lifted', () => {
    const bench = started(OPTIONS, 1);
    const pair = { pair: 'btcusd', by: 'ops', why: 'test' } as const;
    bench.operator$.next({ do: 'pause', ...pair });
    bench.until(3 * HOUR_MS);
    const before = decidedAt(bench);
    expect(before.length).toBeLessThan(12);
    expect(fills(bench)).toBe(0);
    // In the middle of a rest of an hour.
    bench.operator$.next({ do: 'resume', ...pair });
    bench.until(3 * HOUR_MS + SECOND_MS);
    expect(decidedAt(bench).slice(before.length)).toEqual([[3 * HOUR_MS, 'lifted']]);
    expect(fills(bench)).toBe(1);
  });

  it('is retried at once by the next process, whose config may allow it', () => {
    const first = started(refused, 3 * HOUR_MS);
    const before = decidedAt(first).length;
    const downMs = 5 * MINUTE_MS;
    const second = nextProcess(first, downMs, OPTIONS);
    second.until(3 * HOUR_MS + downMs + 30 * SECOND_MS);
    expect(decidedAt(second).slice(before)).toMatchObject([[expect.any(Number), 'lifted']]);
    expect(fills(second)).toBe(1);
  });

  it('is retried when the balances of the account change', () => {
    const bench = started(refused, 130 * MINUTE_MS);
    const before = decidedAt(bench);
    expect(before.at(-1)?.[0]).toBeGreaterThan(120 * MINUTE_MS);
    bench.exchange.deposit(bench.account, 'usd', quantity('1000'), bench.clock.wall());
    bench.until(170 * MINUTE_MS);
    expect(decidedAt(bench).slice(before.length, before.length + 1)).toEqual([
      [expect.any(Number), 'lifted'],
    ]);
  });

  it('is retried at once when a pause becomes reducing and its trade reduces a debt', () => {
    const bench = aBench({
      ...OPTIONS,
      venue: {
        accounts: [{ balances: { usd: '20000', btc: '1' } }],
        pairs: { btcusd: flat('50000') },
      },
      strategies: [
        aStrategy('r', 'rebalance', {
          target_weights: { btc: '1' },
          drift_threshold: '0.05',
          valuation_tolerance: '0.9',
        }),
      ],
    });
    bench.exchange.deposit(bench.account, 'usd', quantity('-30000'), bench.clock.wall());
    bench.start();
    bench.clock.run(instant(START));
    bench.operator$.next({ do: 'pause', by: 'ops', why: 'test' });
    bench.until(130 * MINUTE_MS);
    const before = decidedAt(bench).length;
    expect(fills(bench)).toBe(0);
    bench.operator$.next({ do: 'pause', isReducing: true, by: 'ops', why: 'test' });
    bench.until(131 * MINUTE_MS);
    const [woken] = decidedAt(bench).slice(before);
    expect(woken).toEqual([expect.closeTo(130 * MINUTE_MS, -3), 'lifted']);
    expect(fills(bench)).toBe(1);
  });

  it('shows its drift from the targets while it waits for a change of weights, and none once it no longer runs', () => {
    const bench = started(refused, 30 * MINUTE_MS);
    const shown: unknown[] = [];
    const metrics = {
      budget: () => undefined,
      portfolioValue: (usd: number | undefined) => shown.push(usd),
      approvals: () => undefined,
      forgetDrifts: () => shown.splice(0),
      portfolioDrift: (_strategy: string, currency: string, drift: number) => shown.push([currency, drift]),
    };
    showDesk(bench.desk, metrics);
    expect(shown).toContainEqual(['btc', expect.closeTo(1 / 3, 4)]);
    bench.desk.strategies.run([]);
    // Nor is a value shown if a holding has no price.
    bench.desk.state.balances?.set('xyz', quantity('1'));
    showDesk(bench.desk, metrics);
    expect(shown).toEqual([undefined]);
  });
});
