import { map, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { OrderAnswer } from '../../src/core/venue.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { aPolicy, aTwap, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { faultsOf, ledgerTrades } from './oracle.ts';

const WORDS = 'usd cannot be borrowed: btcusd is Reduce-Only';

/** Does not execute the first order, and answers it with this status. */
function refusing(status: number): (venue: VenuePort) => VenuePort {
  let orders = 0;
  return (venue) => ({
    ...venue,
    order: (request) =>
      ++orders === 1 ? of<OrderAnswer>({ kind: 'error', status, error: WORDS }) : venue.order(request),
  });
}

function ran(options: Partial<BenchOptions>): Bench {
  const bench = started(
    { strategies: [aTwap('twap', { slices: 1, duration: 'PT5M' })], ...options },
    6 * MINUTE_MS,
    { isUntilDone: true },
  );
  expect(faultsOf(bench)).toEqual([]);
  expect(ledgerTrades(bench.exchange)).toHaveLength(1);
  return bench;
}

/** What the journal says of attempts, ms after the first order left. */
function endsOf(bench: Bench) {
  const [begun] = bench.timed('intent');
  return bench.timed('attempt').map((end) => ({ ...end, at: end.at - (begun?.at ?? 0) }));
}

/**
 * What the table of answers allows for a well-formed 4xx: another attempt after the quote has certainly expired and one clean read of
 * the account, which must begin once the venue had time to book what a second copy on its way may have traded.
 */
describe('a 422 answer to an order', () => {
  it.each([1_500, 3_000, 5_000, 10_000])(
    'counts as a refusal after one read that begins after the booking margin, with quotes of %i ms',
    (quoteLifeMs) => {
      const bench = ran({ wrap: refusing(422), venue: { quoteLifeMs } });
      const ends = endsOf(bench);
      expect(ends.map(({ result, reason }) => [result, reason])).toEqual([
        ['doubt', 'order_refused'],
        ['rejected', 'order_refused'],
        ['filled', undefined],
      ]);
      expect(ends[1]?.detail).toBe(`422: ${WORDS}`);
      const earliest = quoteLifeMs + aPolicy().inDoubt.bookingMarginMs;
      expect(ends[1]?.at).toBeGreaterThanOrEqual(earliest);
      expect(ends[1]?.at).toBeLessThan(earliest + 500);
    },
  );
});

describe('an error answer that is not a refusal', () => {
  it.each([408, 409, 425, 429, 500, 502, 503])('is a doubt until two reads show no trade: %i', (status) => {
    const { inDoubt } = aPolicy();
    const ends = endsOf(ran({ wrap: refusing(status), venue: { quoteLifeMs: 5_000 } }));
    expect(ends[0]).toMatchObject({ result: 'doubt', reason: 'outcome_unknown' });
    expect(ends.some(({ result }) => result === 'rejected')).toBe(false);
    const absent = ends.find(({ result }) => result === 'absent');
    const earliest = 5_000 + inDoubt.bookingMarginMs + 10_000;
    expect(absent?.at).toBeGreaterThanOrEqual(earliest);
    expect(absent?.at).toBeLessThan(earliest + 500);
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
          ...refusing(422)(venue),
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
