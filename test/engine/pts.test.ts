import { defer, delay, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { money, text, quantity } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { VenueInput, RiskModeText } from '../../src/simulator/options/options.ts';
import { termsWords } from '../../src/engine/market/pts-watch.ts';
import { parseClientId } from '../../src/core/ids.ts';
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

/** How much of 0.15 btc is sold, with 0.1 held, in one slice a minute after the start. */
function sold(
  mode: 'Enabled' | 'Short-Only' | 'Reduce-Only' | 'Long-Only',
  floor: string | undefined,
): string {
  const policy = aPolicy();
  const bench = started(
    {
      strategies: [
        aTwap('twap', {
          side: 'sell',
          total_quantity: { amount: '0.15', currency: 'btc' },
          slices: 1,
          start_time: '2026-01-05T00:01:00Z',
        }),
      ],
      policy: {
        pts: { ...policy.pts, use: 'when_enabled' },
        limits: {
          ...policy.limits,
          ...(floor === undefined ? {} : { positionMin: new Map([['btc', quantity(floor)]]) }),
        },
      },
      venue: { accounts: [{ balances: { btc: '0.1' } }], pts: { modes: { btcusd: mode } } },
    },
    15 * MINUTE_MS,
  );
  expect(faultsOf(bench).filter((fault) => fault !== 'not done')).toEqual([]);
  return text(executedTotal(bench.exchange));
}

describe('a desk with 0.1 btc that may use PTS', () => {
  it.each([
    ['0', 'Enabled', '0.1'],
    ['0', 'Short-Only', '0.1'],
    ['0', 'Reduce-Only', '0.1'],
    ['0.04', 'Enabled', '0.06'],
    ['-0.02', 'Enabled', '0.12'],
    ['-0.05', 'Enabled', '0.15'],
    ['-0.05', 'Short-Only', '0.15'],
    ['-0.05', 'Long-Only', '0.1'],
    ['-0.05', 'Reduce-Only', '0.1'],
    [undefined, 'Enabled', '0.15'],
  ] as const)('with a floor of %s in risk mode %s sells %s of 0.15 btc', (floor, mode, expected) => {
    expect(sold(mode, floor)).toBe(expected);
  });
});
