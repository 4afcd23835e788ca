import { aPolicy } from './harness.ts';
import { defer, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { parseClientId } from '../../src/core/ids.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { RiskModeText } from '../../src/simulator/options/options.ts';
import { aTwap, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { faultsOf, ledgerTrades } from './oracle.ts';

/** A desk without btc or usd: every trade is on credit. Slices at every minute from the first. */
const aRun = (side: 'buy' | 'sell', over: Partial<BenchOptions> = {}): Bench => {
  return started({
    strategies: [aTwap('twap', { side, start_time: '2026-01-05T00:01:00Z', catch_up: 'skip' })],
    policy: { pts: { ...aPolicy().pts, use: 'when_enabled', pollMs: 5_000, maxAgeMs: 20_000 } },
    venue: {
      accounts: [{ balances: { eth: '1' } }],
      pts: { modes: { btcusd: 'Enabled' } },
      quoteLifeMs: 20_000,
    },
    ...over,
  });
};

const runTo = (bench: Bench, minutes: number): void => {
  bench.until(minutes * MINUTE_MS);
};
/** Numbers of the slices that traded, as the ledger of the exchange has them. */
const traded = (bench: Bench): readonly number[] =>
  ledgerTrades(bench.exchange).map(({ clientId }) => parseClientId(clientId)?.slice ?? -1);
/** What the journal says about the slices that did not. */
const skipped = (bench: Bench): readonly string[] =>
  bench
    .bodies('slice')
    .flatMap((body) =>
      body.result !== 'filled' ? [`${body.slice} ${body.reason ?? ''}: ${body.detail ?? ''}`] : [],
    );

describe('a change of the risk mode during a twap', () => {
  /** The mode from half a minute after the third slice on, then Enabled again half a minute after the sixth. */
  const rows: readonly (readonly [RiskModeText, 'buy' | 'sell', boolean])[] = [
    ['Enabled', 'buy', true],
    ['Enabled', 'sell', true],
    ['Long-Only', 'buy', true],
    ['Long-Only', 'sell', false],
    ['Short-Only', 'buy', false],
    ['Short-Only', 'sell', true],
    ['Reduce-Only', 'buy', false],
    ['Reduce-Only', 'sell', false],
    ['Reduce_Only', 'buy', false],
    ['Reduce_Only', 'sell', false],
  ];

  it.each(rows)('to %s lets a %s on credit continue: %s', (mode, side, goesOn) => {
    const bench = aRun(side);
    runTo(bench, 3.5);
    bench.exchange.setRiskMode('btcusd', mode);
    runTo(bench, 6.5);
    bench.exchange.setRiskMode('btcusd', 'Enabled');
    runTo(bench, 15);
    expect(traded(bench)).toEqual(goesOn ? [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] : [0, 1, 2, 6, 7, 8, 9]);
    const why = skipped(bench).map((line) => line.split(':')[0]);
    expect(why).toEqual(goesOn ? [] : ['3 no_funds', '4 no_funds', '5 no_funds']);
    for (const line of skipped(bench)) expect(line).toContain('pts_terms');
    expect(faultsOf(bench)).toEqual([]);
  });

  it('stops the order of a quote in flight at the gate', () => {
    const bench = aRun('buy', { quoteLatencyMs: 3_000, policy: quickRead });
    // Three seconds for the reference price, and the quote of the slice is on its way.
    bench.until(MINUTE_MS + 4 * SECOND_MS);
    expect(bench.bodies('intent')).toHaveLength(1);
    bench.exchange.setRiskMode('btcusd', 'Reduce-Only');
    runTo(bench, 1.5);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
    const ends = bench.bodies('attempt');
    expect(ends).toMatchObject([{ result: 'discarded', reason: 'no_funds' }]);
  });
});

/** Reads the modes each second, before a quote that takes three seconds arrives. */
const quickRead: BenchOptions['policy'] = {
  pts: { ...aPolicy().pts, use: 'when_enabled', pollMs: 1_000, maxAgeMs: 20_000 },
};

describe('an unknown risk mode', () => {
  const failures = {
    'answers 403': { code: 'unauthorised', status: 403 },
    'answers 503': { code: 'unavailable', status: 503 },
    'does not answer': { code: 'timeout', status: undefined },
  } as const;

  it.each(Object.entries(failures))(
    'permits no credit while the endpoint %s, and stops nothing else',
    (_, { code, status }) => {
      let isDown = false;
      const error = new VenueError({ code, applied: 'no', attempt: 'risk modes', status });
      const bench = aRun('buy', {
        wrap: (venue) => ({
          ...venue,
          riskModes: () => defer(() => (isDown ? throwError(() => error) : venue.riskModes())),
        }),
      });
      runTo(bench, 2.1);
      isDown = true;
      runTo(bench, 5.1);
      expect(bench.desk.pts.mode('btcusd')).toBeUndefined();
      isDown = false;
      runTo(bench, 15);
      // A read is valid for twenty seconds: the mode is unknown by the slice of the third minute.
      expect(traded(bench)).toEqual([0, 1, 5, 6, 7, 8, 9]);
      for (const line of skipped(bench)) expect(line).toContain('pts_unknown');
      expect(bench.desk.control).toBe('active');
    },
  );

  it('permits no credit if the list has no valid mode for the pair', () => {
    const bench = aRun('sell', {
      wrap: (venue) => ({ ...venue, riskModes: () => defer(() => [new Map()]) }),
    });
    runTo(bench, 15);
    expect(traded(bench)).toEqual([]);
    expect(skipped(bench)).toHaveLength(10);
    for (const line of skipped(bench)) expect(line).toContain('pts_unknown');
  });
});
