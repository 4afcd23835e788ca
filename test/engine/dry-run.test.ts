import { describe, expect, it } from 'vitest';
import { quantity, text } from '../../src/core/money.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { dryRunVenue } from '../../src/venue/dry-run.ts';
import { aTwap, started } from './harness.ts';
import type { Bench } from './harness.ts';
import { filledTotal, ledgerTrades } from './oracle.ts';

/** Simulated buys and sells between many reads of the account, with real deposits at the given minutes. */
function aDryRun(deposits: readonly number[] = []): Bench {
  const bench = started({
    strategies: [
      aTwap('buys', { slices: 40, duration: 'PT40M' }),
      aTwap('sells', { side: 'sell', slices: 8, duration: 'PT40M', start_time: '2026-01-05T00:00:30Z' }),
    ],
    policy: { mode: 'dry_run', onDifference: 'ignore', accountPollMs: 20_000 },
    wrap: (venue, clock) => dryRunVenue(venue, { clock, past: [] }),
  });
  for (const minute of deposits) {
    bench.until(minute * MINUTE_MS);
    bench.exchange.deposit(bench.account, 'usd', quantity('1000'), bench.clock.wall());
  }
  bench.until(45 * MINUTE_MS);
  return bench;
}

describe('a dry run with many trades', () => {
  it('shows an account whose past does not change, so that the desk does not halt', () => {
    const bench = aDryRun();
    expect(bench.desk.controlWhy).toBe('');
    expect(text(filledTotal(bench.records()))).toBe('2');
    expect(ledgerTrades(bench.exchange)).toEqual([]);
    expect(text(bench.desk.state.balances?.get('btc') ?? quantity('0'))).toBe('25');
  });

  it('also shows real rows in between, and its balances include both', () => {
    const bench = aDryRun([3, 10.2, 30]);
    const still = aDryRun();
    expect(bench.desk.controlWhy).toBe('');
    const usdOf = (one: Bench): number => Number(one.desk.state.balances?.get('usd'));
    expect(usdOf(bench) - usdOf(still)).toBeCloseTo(3000, 6);
    expect(text(filledTotal(bench.records()))).toBe('2');
  });
});
