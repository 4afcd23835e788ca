import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { aBench, aPolicy, aStrategy, aTwap, START } from '../engine/harness.ts';
import type { Bench, BenchOptions } from '../engine/harness.ts';
import { faultsOf, ledgerTrades } from '../engine/oracle.ts';

const wakesOf = (bench: Bench) => bench.records().flatMap(({ body }) => (body.kind === 'wake' ? [body] : []));
const flat = (startPrice: string) => ({ startPrice, volatilityPctYear: 0, halfSpreadBps: 0, impactBps: 0 });
/** Half btc, half cash, with 600 usd too much in btc. */
const venue = {
  accounts: [{ balances: { usd: '49400', btc: '1.012' } }],
  pairs: { btcusd: flat('50000') },
};
const held = (minimum: string): NonNullable<BenchOptions['strategies']> => [
  aStrategy('r', 'rebalance', {
    target_weights: { btc: '0.5', usd: '0.5' },
    drift_threshold: '0.001',
    min_trade_notional: { amount: minimum, currency: 'usd' },
    schedule: { cron: '0 * * * *' },
  }),
];
const calm = { accountPollMs: 10 * MINUTE_MS };

describe('requests and complaints of users of other systems', () => {
  it('complaint 16: strategies share one quote budget in turn, and none requests a quote during a ban', () => {
    const asked: { readonly at: number; readonly pair: string }[] = [];
    const [banned, free] = [START + 90 * SECOND_MS, START + 100 * SECOND_MS];
    const strategies = Array.from({ length: 14 }, (_, n) =>
      aTwap(`t${n}`, { total_quantity: { amount: '0.14', currency: 'btc' }, slices: 4, duration: 'PT4M' }),
    );
    const bench = aBench({
      strategies,
      wrap: (port, clock) => ({
        ...port,
        quote: (request) => {
          asked.push({ at: clock.wall(), pair: request.pair });
          const retryAfterMs = free - clock.wall();
          return clock.wall() >= banned && clock.wall() < free
            ? of({ kind: 'error', status: 429, error: 'too many requests', retryAfterMs } as const)
            : port.quote(request);
        },
      }),
    });
    bench.start();
    bench.clock.run(instant(START + 89 * SECOND_MS));
    // A request in this time is told to wait: at most one is sent until the end of the ban.
    bench.clock.run(instant(START + 20 * MINUTE_MS));
    const inSecond = asked.map(
      ({ at }) => asked.filter((other) => other.at >= at && other.at < at + SECOND_MS).length,
    );
    expect(Math.max(...inSecond)).toBeLessThanOrEqual(10);
    expect(asked.filter(({ at }) => at >= banned && at < free).length).toBeLessThanOrEqual(1);
    const slots = wakesOf(bench).filter(({ intents }) => intents.length > 0);
    expect(new Set(slots.map(({ strategy }) => strategy)).size).toBe(14);
    expect(faultsOf(bench).filter((fault) => fault !== 'not done')).toEqual([]);
    expect(ledgerTrades(bench.exchange).length).toBeGreaterThan(14 * 3);
  });

  it('complaint 18: a rebalancing below its own minimum or that of the venue reports its figures', () => {
    const ours = aBench({ strategies: held('1000'), venue, policy: calm });
    ours.start();
    ours.clock.run(instant(START + HOUR_MS + MINUTE_MS));
    expect(wakesOf(ours).at(-1)).toMatchObject({
      reason: 'below_min_trade',
      note: 'btc 0.600 %, usd -0.600 %',
      intents: [],
    });
    const theirs = aBench({
      strategies: held('10'),
      venue,
      policy: { ...calm, minimumOf: () => ({ notional: aPolicy().limits.orderNotionalMax }) },
    });
    theirs.start();
    theirs.clock.run(instant(START + HOUR_MS + MINUTE_MS));
    const ends = theirs.records().flatMap(({ body }) => (body.kind === 'slice' ? [body] : []));
    expect(ends).toMatchObject([
      {
        result: 'skipped',
        reason: 'below_minimum',
        detail: expect.stringContaining('600.00 usd of at least 1000000') as string,
      },
    ]);
  });

  it('complaint 19: an edited minimum applies from the next start', () => {
    const before = aBench({ strategies: held('1000'), venue, policy: calm });
    before.start();
    before.clock.run(instant(START + HOUR_MS + MINUTE_MS));
    expect(ledgerTrades(before.exchange)).toEqual([]);
    before.kill();
    const { clock, exchange, journal } = before;
    const after = aBench({ strategies: held('100'), venue, policy: calm, clock, exchange, journal });
    after.start();
    clock.run(instant(START + 2 * HOUR_MS + MINUTE_MS));
    expect(ledgerTrades(exchange)).toMatchObject([{ pair: 'btcusd', side: 'sell' }]);
    const documents = after
      .records()
      .flatMap(({ body }) => (body.kind === 'strategy' ? [body.document] : []));
    expect(documents).toMatchObject([
      { min_trade_notional: { amount: '1000', currency: 'usd' } },
      { min_trade_notional: { amount: '100', currency: 'usd' } },
    ]);
  });
});
