import { defer, delay, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { money, text } from '../../src/core/money.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { termsWords } from '../../src/engine/market/pts-watch.ts';
import { aPolicy, aTwap, START, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, ledgerTrades } from './oracle.ts';

const onCredit = { ...aPolicy().pts, use: 'when_enabled' } as const;
/** 30 000 USD in the account: half a coin. */
const poor = (mode: 'Enabled' | 'Long-Only' | 'Short-Only' | 'Reduce-Only'): VenueInput => ({
  accounts: [{ balances: { usd: '30000' } }],
  pts: { modes: { btcusd: mode } },
});
/** One coin in ten parts, the first a minute after the start: the modes are known by then. */
const plan = aTwap('twap', { start_time: '2026-01-05T00:01:00Z' });

function ran(over: Partial<BenchOptions>, minutes = 15): Bench {
  return started(
    { strategies: [plan], policy: { pts: onCredit }, venue: poor('Enabled'), ...over },
    minutes * MINUTE_MS,
  );
}

describe('credit', () => {
  it('is used if the risk mode of the pair allows it', () => {
    const bench = ran({});
    expect(faultsOf(bench)).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('1');
    expect(bench.balance('usd')).toBeLessThan(0);
  });

  it('is not used if the desk never uses it, and the risk modes are not polled', () => {
    let polls = 0;
    const bench = ran({
      policy: { pts: aPolicy().pts },
      wrap: (venue) => ({ ...venue, riskModes: () => (polls++, venue.riskModes()) }),
    });
    expect(bench.balance('usd')).toBeGreaterThanOrEqual(0);
    expect(polls).toBe(0);
  });

  it('is not used, and the desk is not halted, if the account has no post-trade settlement', () => {
    const bench = ran({ venue: { accounts: [{ balances: { usd: '30000' } }], pts: { enabled: false } } });
    expect(bench.desk.state.control).toBe('active');
    expect(Number(executedTotal(bench.exchange))).toBeGreaterThan(0.45);
    expect(bench.balance('usd')).toBeGreaterThanOrEqual(0);
  });

  it('stays below its cap, however many orders are in flight', () => {
    const strategies = Array.from({ length: 6 }, (_, i) =>
      aTwap(`s${i}`, {
        slices: 1,
        duration: 'PT5M',
        start_time: '2026-01-05T00:01:00Z',
        total_quantity: { amount: '0.5', currency: 'btc' },
      }),
    );
    const cap = { amount: money('20000'), currency: 'usd' };
    const bench = ran({
      strategies,
      policy: { pts: { ...onCredit, creditMax: cap } },
      orderLatencyMs: 2_000,
    });
    expect(bench.balance('usd')).toBeLessThan(0);
    expect(bench.balance('usd')).toBeGreaterThanOrEqual(-20_000);
    expect(ledgerTrades(bench.exchange).length).toBeGreaterThan(1);
  });
});

describe('a slice due at the start', () => {
  /** 0.8 btc in one slice of five minutes; 30 000 USD pay half a coin. */
  function begun(over: Partial<BenchOptions> & { readonly amount?: string } = {}): {
    readonly bench: Bench;
    readonly waiting: () => readonly string[];
  } {
    const { amount = '0.8', ...options } = over;
    const bench = started({
      strategies: [
        aTwap('twap', { slices: 1, duration: 'PT5M', total_quantity: { amount, currency: 'btc' } }),
      ],
      policy: { pts: onCredit },
      venue: poor('Enabled'),
      ...options,
    });
    return { bench, waiting: () => termsWords(bench.desk) };
  }
  const failing = (status: number, untilMs: number): BenchOptions['wrap'] => {
    const error = new VenueError({ code: 'unavailable', applied: 'no', attempt: 'risk modes', status });
    return (venue, clock) => ({
      ...venue,
      riskModes: () =>
        defer(() => (clock.wall() < START + untilMs ? throwError(() => error) : venue.riskModes())),
    });
  };

  it('waits for the first read of the risk modes, and then trades its full size', () => {
    const { bench, waiting } = begun({
      wrap: (venue, clock) => ({ ...venue, riskModes: () => venue.riskModes().pipe(delay(3_000, clock)) }),
    });
    bench.until(2_500);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
    expect(waiting()).toEqual([
      expect.stringMatching(
        /^slice 0 of \S+ waits for the first read of the risk modes, until 2026-01-05T00:02:3/u,
      ),
    ]);
    bench.until(10_000);
    expect(text(executedTotal(bench.exchange))).toBe('0.8');
    expect(waiting()).toEqual([]);
  });

  it('waits while the first read fails, which is retried long before the next poll', () => {
    const { bench } = begun({ wrap: failing(503, 12_000) });
    bench.until(20_000);
    expect(text(executedTotal(bench.exchange))).toBe('0.8');
    expect(faultsOf(bench)).toEqual([]);
  });

  it('trades with own funds only after half of its time if the risk modes are still unknown', () => {
    const { bench } = begun({ wrap: failing(503, 3_600_000) });
    bench.until(2 * MINUTE_MS);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
    bench.until(6 * MINUTE_MS);
    expect(Number(executedTotal(bench.exchange))).toBeGreaterThan(0.45);
    expect(bench.balance('usd')).toBeGreaterThanOrEqual(0);
  });

  it('does not wait if the venue refuses to report risk modes, or if own funds pay for all of it', () => {
    const refused = begun({ wrap: failing(403, 3_600_000) });
    refused.bench.until(5_000);
    expect(Number(executedTotal(refused.bench.exchange))).toBeGreaterThan(0.45);
    const rich = begun({ amount: '0.4', wrap: failing(503, 3_600_000) });
    rich.bench.until(5_000);
    expect(text(executedTotal(rich.bench.exchange))).toBe('0.4');
  });

  it('waits again after a restart', () => {
    const first = begun({ wrap: failing(503, 30_000) }).bench;
    first.until(5_000);
    first.kill();
    const { clock, exchange, journal } = first;
    const next = begun({ clock, exchange, journal, wrap: failing(503, 30_000) }).bench;
    next.until(40_000);
    expect(text(executedTotal(exchange))).toBe('0.8');
    expect(faultsOf(next)).toEqual([]);
  });
});
