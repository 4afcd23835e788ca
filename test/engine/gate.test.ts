import { describe, expect, it } from 'vitest';
import { map, of } from 'rxjs';
import type { Reason } from '../../src/core/reasons.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { OrderAnswer } from '../../src/core/venue.ts';
import { faultyVenue, NO_QUOTES } from './faulty-venue.ts';
import { aBench, aPolicy, aTwap, START, started, nextProcess } from './harness.ts';
import type { Bench } from './harness.ts';
import { faultsOf, ledgerTrades } from './oracle.ts';

const strategies = [aTwap('twap', { slices: 1, duration: 'PT1H' })];

const reasons = (bench: Bench): readonly (Reason | undefined)[] =>
  bench.bodies('attempt').map((body) => body.reason);

/** Runs until the quote of the first attempt has been requested but has not arrived. */
function untilAsked(bench: Bench): void {
  bench.start();
  while (bench.desk.state.attempts.size === 0) bench.run(10);
}

/** Records that a read of the account showed this much. */
function hold(bench: Bench, usd: string): void {
  const read_at = bench.clock.wall();
  bench.desk.journal.append([{ kind: 'balances', balances: { usd }, newest_id: '1', read_at }]).subscribe();
}

describe('the gate, with a quote received', () => {
  it('refuses an order if the reference price is stale', () => {
    const { reference } = aPolicy();
    const bench = started(
      {
        strategies,
        quoteLatencyMs: 1_300,
        policy: { reference: { ...reference, maxAgeMs: 1_000 } },
      },
      30 * SECOND_MS,
    );
    expect(new Set(reasons(bench))).toEqual(new Set(['no_reference']));
    expect(ledgerTrades(bench.exchange)).toEqual([]);
  });

  it('refuses an order after the deadline of its slice', () => {
    const bench = started(
      {
        strategies: [aTwap('twap', { slices: 1, duration: 'PT1.5S' })],
        quoteLatencyMs: 1_000,
      },
      MINUTE_MS,
    );
    expect(reasons(bench)).toEqual(['deadline']);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
  });

  it('refuses an order that the account can no longer pay', () => {
    const bench = aBench({ strategies, quoteLatencyMs: 1_000 });
    untilAsked(bench);
    hold(bench, '100');
    bench.run(1_100);
    expect(reasons(bench)).toEqual(['no_funds']);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
  });

  it('returns the permit of a refused order to the rate limiter', () => {
    const { pace } = aPolicy();
    const windows = { ...pace.windows, order: { max: 1, perMs: HOUR_MS } };
    const bench = aBench({ strategies, quoteLatencyMs: 1_000, policy: { pace: { ...pace, windows } } });
    untilAsked(bench);
    hold(bench, '100');
    bench.run(1_100);
    hold(bench, '100000');
    bench.until(MINUTE_MS);
    expect(reasons(bench)).toEqual(['no_funds', undefined]);
  });
});

describe('the retry budget for venue failures', () => {
  it('is not reduced by a failure from an hour ago', () => {
    let failures = 0;
    const bench: Bench = aBench({
      strategies: [aTwap('twap', { slices: 2, duration: 'PT2H' })],
      wrap: faultyVenue({
        quote(request) {
          const hour = Math.floor((bench.clock.now() - START) / HOUR_MS);
          if (request.clientId === undefined || failures > hour) return undefined;
          failures++;
          return NO_QUOTES;
        },
      }),
    });
    bench.start();
    while (!reasons(bench).includes('quotes_unavailable')) bench.run(5);
    // No quote arrives between the two failures: only time ends the first one.
    bench.operator$.next({ do: 'pause', by: 'ops', why: 'wait' });
    bench.until(HOUR_MS - 1);
    bench.operator$.next({ do: 'resume', by: 'ops', why: 'go on' });
    bench.until(3 * HOUR_MS);
    expect(failures).toBe(2);
    const ends = bench.bodies('slice').map((body) => body.result);
    expect(ends).toEqual(['expired', 'filled']);
  });
});

describe('an attempt left open by a dead process', () => {
  it('is proven absent only after the longest quote life, the booking margin and two clean reads', () => {
    const first = aBench({ strategies, quoteLatencyMs: 1_000 });
    untilAsked(first);
    const startedAt = first.clock.wall() - START;
    const second = nextProcess(first, 0, { strategies });
    second.until(2 * HOUR_MS);
    const absent = second.timed('attempt').find(({ result }) => result === 'absent');
    const { lifeMaxMs, bookingMarginMs } = aPolicy().inDoubt;
    const waited = (absent?.at ?? 0) - startedAt;
    expect(waited).toBeGreaterThanOrEqual(lifeMaxMs + bookingMarginMs + 10 * SECOND_MS);
    expect(waited).toBeLessThan(lifeMaxMs + bookingMarginMs + 40 * SECOND_MS);
    expect(faultsOf(second)).toEqual([]);
  });
});

describe('a risk mode that changes between two polls', () => {
  it('is read again when the venue refuses the order, so that the next attempt does not borrow', () => {
    let polls = 0;
    const { pts } = aPolicy();
    const bench = started(
      {
        strategies: [aTwap('twap', { slices: 1, duration: 'PT5M' })],
        policy: { pts: { ...pts, use: 'when_enabled', pollMs: 4 * MINUTE_MS, maxAgeMs: 10 * MINUTE_MS } },
        venue: {
          accounts: [{ balances: { eth: '1' } }],
          pts: { modes: { btcusd: 'Enabled' } },
          quoteLifeMs: 5_000,
        },
        wrap: (venue) => ({
          ...venue,
          order: () => of<OrderAnswer>({ kind: 'error', status: 422, error: 'usd cannot be borrowed' }),
          riskModes: () => {
            polls++;
            return venue.riskModes().pipe(map((modes) => modes));
          },
        }),
      },
      4 * SECOND_MS,
    );
    expect(polls).toBe(1);
    bench.exchange.setRiskMode('btcusd', 'Reduce-Only');
    bench.until(3 * MINUTE_MS);
    expect(polls).toBe(2);
    expect(bench.bodies('intent')).toHaveLength(1);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
  });
});
