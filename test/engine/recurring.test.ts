import { aPolicy } from './harness.ts';
import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant, isoOf } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { aStrategy, START, started, nextProcess } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, ledgerTrades, wrongOf } from './oracle.ts';

/** Half a btc at nine in London on every day of the week that trades. */
const plan = (over: object = {}, schedule: object = {}): BenchOptions['strategies'] => [
  aStrategy('r', 'recurring', {
    pair: 'btcusd',
    side: 'buy',
    each_quantity: { amount: '0.5', currency: 'btc' },
    schedule: { cron: '0 9 * * *', time_zone: 'Europe/London', calendar: {}, ...schedule },
    ...over,
  }),
];

/** For runs of months: the clocks and the account are checked only once a day, to save time. */
const calm = {
  continuity: { ...aPolicy().continuity, everyMs: DAY_MS, lateMs: DAY_MS },
  accountPollMs: DAY_MS,
};
const venue = { accounts: [{ balances: { usd: '100000000' } }] };

function ran(until: Instant, options: Partial<BenchOptions> = {}): Bench {
  const bench = started({ strategies: plan(), policy: calm, venue, ...options });
  bench.clock.run(until);
  return bench;
}

const next = (before: Bench, downMs: number, options: Partial<BenchOptions> = {}): Bench =>
  nextProcess(before, downMs, { strategies: plan(), policy: calm, ...options });

/** When each order was sent, to the minute, in UTC. */
const minutes = (bench: Bench): readonly string[] =>
  bench.timed('intent').map(({ at }) => isoOf(instant(START + at)).slice(0, 16));
const reasons = (bench: Bench): readonly string[] =>
  bench.bodies('wake').flatMap((body) => (body.reason !== undefined ? [body.reason] : []));

describe('a recurring strategy on a desk', () => {
  it('buys the same size at nine in London on every weekday of three months, across the clock change', () => {
    const from = instant(Date.UTC(2026, 1, 1));
    const bench = ran(instant(Date.UTC(2026, 4, 1)), { at: from });
    const wanted: string[] = [];
    for (let day = from; day < Date.UTC(2026, 4, 1); day = instant(day + DAY_MS)) {
      const weekday = new Date(day).getUTCDay();
      // Summer time begins on the twenty-ninth of March: nine o'clock is eight in UTC.
      const hour = day >= Date.UTC(2026, 2, 29) ? '08:00' : '09:00';
      if (weekday !== 0 && weekday !== 6) wanted.push(`${isoOf(day).slice(0, 10)}T${hour}`);
    }
    expect(minutes(bench)).toEqual(wanted);
    expect(wanted.length).toBeGreaterThan(60);
    const trades = ledgerTrades(bench.exchange).map((trade) => text(trade.quantity));
    expect(trades).toEqual(wanted.map(() => '0.5'));
    expect(wrongOf(bench)).toEqual([]);
    // Each day of a weekend leaves a record with the reason.
    expect(reasons(bench)).toEqual(Array.from({ length: 25 }, () => 'blackout'));
  });
});

describe('a restart of a recurring strategy', () => {
  it.each([
    // Down from Tuesday noon to Friday noon: Wednesday, Thursday and Friday passed.
    ['skip', ['2026-01-06T09:00', '2026-01-12T09:00']],
    ['once', ['2026-01-06T09:00', '2026-01-09T12:00', '2026-01-12T09:00']],
    [
      'all',
      ['2026-01-06T09:00', '2026-01-09T12:00', '2026-01-09T12:00', '2026-01-09T12:01', '2026-01-12T09:00'],
    ],
  ])('handles occurrences missed during days of downtime as misfire: %s states', (misfire, orders) => {
    const strategies = plan({}, { misfire });
    const first = ran(instant(START + DAY_MS + 12 * HOUR_MS), { strategies });
    const second = next(first, 3 * DAY_MS, { strategies });
    second.until(7 * DAY_MS + 12 * HOUR_MS);
    expect(minutes(second).filter((at) => at > '2026-01-06')).toEqual(orders);
    expect(reasons(second)).toContain('missed_slot');
    expect(text(executedTotal(second.exchange))).toBe(String(0.5 * (orders.length + 1)));
    expect(wrongOf(second)).toEqual([]);
  });
});
