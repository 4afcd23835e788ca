import { describe, expect, it } from 'vitest';
import { quantity } from '../../src/core/money.ts';
import { HOUR_MS, isoOf, MINUTE_MS, instant } from '../../src/core/time.ts';
import { aBench, aPolicy, aStrategy, nextProcess, START, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { wrongOf } from './oracle.ts';

/** 8.76 % a year: 0.1 bps of what is owed an hour, the first hour free. */
const RATE = { annualRate: '0.0876', graceMinutes: 60, frequencyMinutes: 60 };
const venue = {
  accounts: [{ name: 'main', balances: { usd: '20000' } }],
  pts: { modes: { btcusd: 'Enabled' as const }, rates: { usd: RATE, btc: RATE } },
};
const onCredit = { ...aPolicy().pts, use: 'when_enabled' as const };
/** Buys 1 btc at 50 000 usd a minute after the start, 30 000 of them on credit. */
const trader = (over: object = {}): BenchOptions['strategies'][number] =>
  aStrategy('b', 'twap', {
    pair: 'btcusd',
    side: 'buy',
    total_quantity: { amount: '1', currency: 'btc' },
    start_time: '2026-01-05T00:01:00Z',
    duration: 'PT1M',
    slices: 1,
    ...over,
  });
const buyer = trader();
const closer = (over: object = {}): BenchOptions['strategies'][number] =>
  aStrategy('s', 'settle', { pairs: ['btcusd'], before_grace_ends: 'PT10M', ...over });

function begun(options: Partial<BenchOptions> = {}): Bench {
  const pins = { btcusd: '50000' };
  return started({ strategies: [buyer, closer()], venue, policy: { pts: onCredit }, pins, ...options });
}
const charges = ({ exchange, clock }: Bench): number => {
  const reply = exchange.interest('main', clock.wall());
  return reply.ok ? reply.value.length : Number.NaN;
};
/** When each order of the strategy was sent, to the minute. */
const closings = (bench: Bench): readonly string[] =>
  bench
    .timed('intent')
    .flatMap(({ at, strategy }) => (strategy === 's' ? [isoOf(instant(START + at)).slice(11, 16)] : []));
const next = (before: Bench, downMs: number, options: Partial<BenchOptions> = {}): Bench =>
  nextProcess(before, downMs, {
    strategies: [buyer, closer()],
    policy: { pts: onCredit },
    ...options,
  });

describe('a settle strategy on a desk', () => {
  it('closes a position opened on credit before any interest is charged, and not earlier than stated', () => {
    const bench = begun();
    bench.run(45 * MINUTE_MS);
    expect(bench.balance('usd')).toBeLessThan(-29_000);
    expect(closings(bench)).toEqual([]);
    bench.run(HOUR_MS);
    // Opened at 00:01, an hour of grace, ten minutes before its end.
    expect(closings(bench)).toEqual(['00:51']);
    expect(bench.balance('usd')).toBe(0);
    expect(bench.balance('btc')).toBeGreaterThan(0.39);
    bench.run(5 * HOUR_MS);
    expect(charges(bench)).toBe(0);
    expect(wrongOf(bench)).toEqual([]);
    const wakes = bench.bodies('wake').flatMap((body) => (body.strategy === 's' ? [body.on] : []));
    // One record at its start, one when it is due, one for the outcome of its trade, and one check for a remaining debt.
    expect(wakes).toEqual(['start', 'debt', 'outcome', 'at']);
  });

  it('reports that sizing.keep prevents the closing of a position in whole or in part', () => {
    const told = (keep: string): readonly (string | undefined)[] => {
      const bench = begun({ policy: { pts: onCredit, keep: new Map([['btc', quantity(keep)]]) } });
      bench.run(2 * HOUR_MS);
      return bench
        .bodies('wake')
        .flatMap((body) => (body.strategy === 's' && body.reason === 'kept_back' ? [body.note] : []));
    };
    expect(told('1')).toContain('not closed: sizing.keep leaves no more of the currency it pays with');
    expect(told('0.8')).toContain('closed in part: sizing.keep leaves no more of the currency it pays with');
    expect(told('0.1')).toEqual([]);
  });

  it('gives interest on a repaid debt no new grace period', () => {
    const bench = begun();
    bench.run(70 * MINUTE_MS);
    expect([closings(bench), bench.balance('usd')]).toEqual([['00:51'], 0]);
    bench.exchange.ledger.charge(
      'main',
      { currency: 'usd', amount: quantity('0.3'), description: 'interest' },
      bench.clock.wall(),
    );
    bench.run(10 * MINUTE_MS);
    expect(closings(bench)).toHaveLength(2);
    expect(bench.balance('usd')).toBeGreaterThanOrEqual(0);
  });

  it('reads the terms and closes positions of others even if the desk itself never uses credit', () => {
    const other = begun({ strategies: [buyer] });
    other.run(5 * MINUTE_MS);
    const policy = { pts: aPolicy().pts, desk: 'second' };
    const bench = nextProcess(other, 0, { strategies: [closer()], policy, journal: undefined });
    bench.run(5 * MINUTE_MS);
    // It is not known since when it was owed before the first check.
    expect(closings(bench)).toEqual(['00:05']);
    expect(bench.balance('usd')).toBe(0);
  });
});

describe('a restart of a settle strategy', () => {
  it.each([10 * MINUTE_MS, 49 * MINUTE_MS])(
    'knows since when a position is open, even after a downtime of %i ms',
    (downMs) => {
      const first = begun();
      first.run(1.5 * MINUTE_MS);
      const second = next(first, downMs);
      second.run(HOUR_MS);
      const [at = ''] = closings(second);
      expect(at).toBe('00:51');
      expect(charges(second)).toBe(0);
      expect(second.balance('usd')).toBe(0);
      expect(wrongOf(second)).toEqual([]);
    },
  );
});

describe('the time since which a balance is below zero', () => {
  it('is the time of the previous check if another desk caused it', () => {
    const bench = begun({ strategies: [closer()] });
    bench.run(10 * MINUTE_MS);
    const { clock, exchange } = bench;
    const policy = { pts: onCredit, desk: 'other' };
    const late = trader({ start_time: '2026-01-05T00:12:00Z' });
    const other = aBench({ strategies: [late], policy, clock, exchange });
    const before = bench.clock.wall();
    other.start();
    bench.run(5 * MINUTE_MS);
    const since = bench.desk.state.owedSince.get('usd') ?? 0;
    expect(bench.balance('usd')).toBeLessThan(0);
    expect(since).toBeGreaterThan(0);
    expect(since).toBeLessThanOrEqual(before + 2 * MINUTE_MS);
  });
});
