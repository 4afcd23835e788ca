import { aPolicy } from './harness.ts';
import { describe, expect, it } from 'vitest';
import { price, quantity, text } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { aStrategy, START, started, afterEachDeath, untilDeath, flat } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { faultsOf, ledgerTrades } from './oracle.ts';

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

/** The next process on the same journal, clock and exchange. */
function next(before: Bench, until: Instant, options: Partial<BenchOptions> = {}): Bench {
  before.kill();
  const { clock, exchange, journal } = before;
  return ran(until, { clock, exchange, journal, ...options });
}

const trades = (bench: Bench): readonly string[] =>
  ledgerTrades(bench.exchange).map(({ side, quantity: amount, pair }) => `${side} ${text(amount)} ${pair}`);
/** The decisions of the journal: what each wake asked for. */
const decisions = (bench: Bench): readonly (readonly string[])[] =>
  bench
    .bodies('wake')
    .flatMap((body) =>
      body.intents.length > 0 ? [body.intents.map(({ side, size, pair }) => `${side} ${size} ${pair}`)] : [],
    );
const wrongOf = (bench: Bench): readonly string[] => faultsOf(bench).filter((fault) => fault !== 'not done');

describe('a rebalancing on a desk', () => {
  it('complaint 17: sells before it buys, with the decided sizes', () => {
    const bench = ran(END);
    expect(wrongOf(bench)).toEqual([]);
    expect(decisions(bench)).toEqual([DECIDED.slice(0, 2), DECIDED.slice(2)]);
    expect(trades(bench).toSorted()).toEqual(DECIDED.toSorted());
    const sides = ledgerTrades(bench.exchange).map(({ side }) => side);
    expect(sides).toEqual(['sell', 'sell', 'buy', 'buy']);
  });

  it('completes its decision and makes no other, wherever the process dies', () => {
    const appends = ran(END).appends();
    const expected = [DECIDED.toSorted(), [DECIDED.slice(0, 2), DECIDED.slice(2)]];
    const wrong = afterEachDeath(
      [2, appends],
      (death, inFlight) => {
        const first = started({ strategies: plan(), policy: calm, venue, at: BEFORE, death, inFlight });
        untilDeath(first, END - START);
        const second = next(first, END);
        const found = JSON.stringify([trades(second).toSorted(), decisions(second)]);
        return found === JSON.stringify(expected) ? wrongOf(second) : [found];
      },
      ['arrives', 'lost'],
    );
    expect(wrong).toEqual([]);
    expect(appends).toBeGreaterThan(15);
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
      const { exchange, clock } = bench;
      exchange.ledger.move(
        exchange.accounts[0]?.name ?? '',
        { currency: 'usd', amount: quantity(amount) },
        clock.wall(),
      );
      clock.run(instant(START + 2 * HOUR_MS));
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
