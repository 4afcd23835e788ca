import { describe, expect, it } from 'vitest';
import { money, text } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { isDone } from '../../src/engine/run.ts';
import { aPolicy, aTwap, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, fillsOf, ledgerTrades } from './oracle.ts';

const ran = (options: BenchOptions, ms = 15 * MINUTE_MS): Bench => started(options, ms);

describe('a twap on a desk', () => {
  it('sells exactly its total in the quote currency', () => {
    const bench = ran({
      strategies: [
        aTwap('twap', {
          side: 'sell',
          total_quantity: undefined,
          total_notional: { amount: '12345.67', currency: 'usd' },
          slices: 3,
        }),
      ],
    });
    const amounts = ledgerTrades(bench.exchange).map((trade) => trade.amount.toFixed());
    expect(amounts).toEqual(['4115.22', '4115.22', '4115.23']);
    expect(faultsOf(bench)).toEqual([]);
  });

  it('records the decision price of the slice with each fill', () => {
    const bench = ran({ strategies: [aTwap()] });
    const decided = bench.bodies('wake').flatMap((body) => body.intents);
    const told = fillsOf(bench.records()).map((fill) => fill.decision_price);
    expect(told).toEqual(decided.map((intent) => intent.decision_price));
    expect(new Set(told).size).toBeGreaterThan(1);
  });

  it('cuts a slice above the venue maximum into pieces that sum to it', () => {
    const bench = ran({
      strategies: [
        aTwap('twap', { slices: 1, duration: 'PT10M', total_quantity: { amount: '13.5', currency: 'btc' } }),
      ],
    });
    expect(faultsOf(bench)).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('13.5');
    const trades = ledgerTrades(bench.exchange);
    expect(trades.length).toBeGreaterThan(3);
    expect(trades.every((trade) => trade.amount.lt('250000'))).toBe(true);
    expect(bench.bodies('maximum')).toHaveLength(1);
    expect(bench.bodies('slice')).toHaveLength(1);
  });
});

describe('strategies that share a desk', () => {
  it('never commit the same funds twice', () => {
    const venue = { accounts: [{ balances: { usd: '60500' } }] };
    const strategies = Array.from({ length: 8 }, (_, i) =>
      aTwap(`s${i}`, { slices: 1, duration: 'PT5M', total_quantity: { amount: '0.4', currency: 'btc' } }),
    );
    const refusals: string[] = [];
    const bench = ran({
      strategies,
      venue,
      observer: {
        ordered: (_pair, result) => {
          if (result !== 'filled') refusals.push(result);
        },
      },
    });
    expect(refusals).toEqual([]);
    expect(bench.balance('usd')).toBeGreaterThanOrEqual(0);
    expect(ledgerTrades(bench.exchange).length).toBeGreaterThan(1);
    expect(isDone(bench.desk)).toBe(true);
  });

  it('stay below the daily limit together, including orders in flight', () => {
    const { limits } = aPolicy();
    const bench = ran({
      strategies: Array.from({ length: 6 }, (_, i) => aTwap(`s${i}`, { slices: 2, duration: 'PT2M' })),
      policy: { limits: { ...limits, dayNotionalMax: money('100000') } },
    });
    const total = ledgerTrades(bench.exchange).reduce((sum, trade) => sum + Number(trade.amount), 0);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThanOrEqual(100_000);
    const reasons = bench.bodies('slice').map((body) => body.reason);
    expect(reasons).toContain('day_limit');
  });

  it('use nearly all of the quote limit when they always request quotes, and never exceed it', () => {
    const { retry } = aPolicy();
    const forMs = 10 * MINUTE_MS;
    const bench = ran(
      {
        strategies: Array.from({ length: 20 }, (_, i) =>
          aTwap(`s${i}`, { slices: 1, duration: 'PT1H', limit_price: '1' }),
        ),
        policy: { retry: { ...retry, requoteMs: 0 } },
        venue: { limits: { enforced: true } },
        observer: {
          quoted: (_pair, result) => {
            expect(result).toBe('quote');
          },
        },
      },
      forMs,
    );
    const arrivals = bench.sent.quotes;
    const perSecond = arrivals.length / (forMs / SECOND_MS);
    expect(perSecond / 10).toBeGreaterThan(0.97);
    const busiest = arrivals.map(
      ({ at }, i) => arrivals.slice(i, i + 11).filter((other) => other.at < at + 1_000).length,
    );
    expect(Math.max(...busiest)).toBeLessThanOrEqual(10);
    const attempts = [...bench.desk.state.slices.values()].map((slice) => slice.attempts);
    expect(attempts).toHaveLength(20);
    expect(Math.min(...attempts) / Math.max(...attempts)).toBeGreaterThan(0.95);
  });
});

describe('a slice that retries without a wait', () => {
  it('expires at its deadline although its attempt numbers run out before', () => {
    const { retry } = aPolicy();
    const bench = ran(
      {
        strategies: [aTwap('twap', { slices: 1, duration: 'PT2H', limit_price: '1' })],
        quoteLatencyMs: 0,
        policy: { retry: { ...retry, requoteMs: 0 } },
        venue: { limits: { enforced: false } },
      },
      3 * 60 * MINUTE_MS,
    );
    expect(bench.seen.error).toBeUndefined();
    const ends = bench.bodies('slice');
    expect(ends).toMatchObject([{ result: 'expired', reason: 'retry_budget' }]);
    // A hundred thousand attempts: many seconds on a busy machine.
  }, 120_000);
});
