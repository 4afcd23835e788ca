import { describe, expect, it } from 'vitest';
import { quantity, text } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { aStrategy, START, started, nextProcess } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, ledgerTrades } from './oracle.ts';

/** Buys 1.00000007 btc in ten minutes, a slice a minute. */
const PLAN = {
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: '1.00000007', currency: 'btc' },
  duration: 'PT10M',
  slices: 10,
};
const kinds = {
  twap: { jitter: { time_pct: 0, size_pct: 20, seed: 5 } },
  vwap: { profile: { weights: Array.from({ length: 1440 }, (_, minute) => 1 + ((minute * 7) % 10)) } },
  shortfall: {
    risk_aversion: 30,
    volatility: '0.8',
    impact: { bps: 1, per_hour: { amount: '10', currency: 'btc' } },
  },
};

describe.each(Object.entries(kinds))('a %s on a desk', (kind, own) => {
  const strategy = aStrategy(kind, kind, { ...PLAN, ...own });
  const strategies = [strategy];
  const planned = strategy.bound.slots(START, undefined).map(({ size }) => size);
  const sizes = (bench: Bench): readonly string[] =>
    ledgerTrades(bench.exchange).map((trade) => text(trade.quantity));

  function ran(untilMs: number, over: Partial<BenchOptions> = {}): Bench {
    return started({ strategies, ...over }, untilMs);
  }

  function next(before: Bench, untilMs: number, downMs = 0): Bench {
    const bench = nextProcess(before, downMs, { strategies });
    bench.until(untilMs);
    return bench;
  }

  it('fills the sizes of its curve, according to the ledger of the exchange', () => {
    const bench = ran(15 * MINUTE_MS);
    expect(faultsOf(bench)).toEqual([]);
    expect(sizes(bench)).toEqual(planned);
    expect(new Set(planned).size).toBeGreaterThan(5);
    expect(text(executedTotal(bench.exchange))).toBe('1.00000007');
    expect(bench.desk.state.lives.get(kind)?.finished).toBe('finished');
  });

  it('waits for proof of an order that may have left before a crash, and catches up within bounds', () => {
    const before = ran(4 * MINUTE_MS + 30);
    const after = next(before, 25 * MINUTE_MS);
    expect(faultsOf(after).filter((fault) => fault !== 'not done')).toEqual([]);
    expect(sizes(after).slice(0, 4)).toEqual(planned.slice(0, 4));
    expect(sizes(after).length).toBeGreaterThan(4);
    expect(after.desk.state.lives.get(kind)?.finished).toBe('window_over');
    const decided = after.bodies('wake').flatMap((body) => body.intents);
    expect(decided.length).toBeGreaterThan(5);
    expect(new Set(decided.map(({ slice }) => slice)).size).toBe(decided.length);
    for (const { slice, size } of decided)
      expect(Number(size)).toBeLessThanOrEqual(1.5 * Number(planned[slice]));
  });

  it('spreads slices missed in a downtime over later ones, none above 1.5 times its plan', () => {
    const before = ran(3 * MINUTE_MS + 30 * SECOND_MS);
    const after = next(before, 15 * MINUTE_MS, 2 * MINUTE_MS);
    const missed = after.bodies('wake').flatMap((body) => body.missed);
    expect(missed.map(({ slice }) => slice)).toEqual([4]);
    const later = ledgerTrades(after.exchange).slice(4);
    expect(later.length).toBe(5);
    for (const [n, trade] of later.entries()) {
      const plan = quantity(planned[n + 5] ?? '0');
      expect(trade.quantity.gt(plan) && trade.quantity.lte(plan.times('1.5'))).toBe(true);
    }
    expect(faultsOf(after)).toEqual([]);
    expect(text(executedTotal(after.exchange))).toBe('1.00000007');
  });
});
