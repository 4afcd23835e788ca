import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { QuoteAnswer } from '../../src/core/venue.ts';
import { notReady } from '../../src/app/daemon/readiness.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aBench, aTwap } from './harness.ts';
import type { Bench } from './harness.ts';
import { faultsOf, fillsOf } from './oracle.ts';

/** From `from` to `to` the venue answers with `quote`, and reads of the account fail if `isReadLost`. */
function outage(options: {
  readonly from: number;
  readonly to: number;
  readonly quote: QuoteAnswer;
  readonly isReadLost: boolean;
  readonly strategies?: readonly ReturnType<typeof aTwap>[];
}): Bench {
  const isOut = (): boolean => {
    const at = bench.clock.now() - START;
    return at >= options.from && at < options.to;
  };
  const lost = new VenueError({ code: 'connect', applied: 'no', attempt: 'GET /v1/account/transactions' });
  const bench: Bench = aBench({
    strategies: options.strategies ?? [aTwap('twap', { slices: 40, duration: 'PT10M' })],
    wrap: faultyVenue({
      quote: () => (isOut() ? options.quote : undefined),
      transactions: (rows) => (isOut() && options.isReadLost ? lost : rows),
    }),
  });
  bench.start();
  return bench;
}

const FROM = 2 * MINUTE_MS;
const TO = 6 * MINUTE_MS;
const LOST: QuoteAnswer = { kind: 'lost', sent: false, why: 'connect ECONNREFUSED' };
const CLOSED: QuoteAnswer = { kind: 'error', status: 503, error: 'quotes temporarily unavailable' };

const back = (bench: Bench): number =>
  Math.min(
    ...fillsOf(bench.records()).flatMap(({ executed_at: at }) => (at >= START + TO ? [at - START] : [])),
  );
/** Slices that ended without a trade during the outage. */
const missed = (bench: Bench) =>
  bench.timed('slice').filter(({ at, result }) => at > FROM + MINUTE_MS && at < TO && result !== 'filled');

describe('a venue that fails while the desk trades', () => {
  const run = (): ReturnType<typeof outage> => {
    const drill = outage({ from: FROM, to: TO, quote: LOST, isReadLost: true });
    drill.until(15 * MINUTE_MS);
    return drill;
  };

  it('raises venue_unreachable once within 60 s', () => {
    const { raised } = run();
    const of = (id: string) => raised.filter((one) => one.id === id);
    expect(of('venue_unreachable')).toHaveLength(1);
    expect(of('venue_unreachable')[0]?.at).toBeGreaterThanOrEqual(FROM);
    expect(of('venue_unreachable')[0]?.at).toBeLessThanOrEqual(FROM + MINUTE_MS);
    expect(of('venue_unreachable')[0]?.facts).toHaveProperty('error', expect.stringContaining('connect'));
    expect(of('no_quotes')).toEqual([]);
  });

  it('lets trading resume within 30 s of its return, and slices of the outage state the failure', () => {
    const bench = run();
    expect(back(bench)).toBeLessThanOrEqual(TO + 30 * SECOND_MS);
    expect(missed(bench).length).toBeGreaterThan(5);
    expect(new Set(missed(bench).map(({ reason }) => reason))).toEqual(new Set(['venue_failed']));
    for (const { detail } of missed(bench)) expect(detail).toContain('connect');
    expect(faultsOf(bench)).toEqual([]);
  });

  it('makes the desk not ready, with the reason, until it returns', () => {
    const bench = outage({ from: FROM, to: TO, quote: LOST, isReadLost: true });
    bench.until(FROM + MINUTE_MS);
    expect(notReady(bench.desk)[0]).toMatch(/^the venue has not responded for \d+ s: .*connect/u);
    bench.until(TO + MINUTE_MS);
    expect(notReady(bench.desk)).toEqual([]);
  });
});

describe('a venue that fails while no slice is open', () => {
  it('raises venue_unreachable because of failed account reads alone', () => {
    const later = aTwap('twap', { start_time: '2026-01-06T00:00:00Z' });
    const bench = outage({
      from: FROM,
      to: TO,
      quote: LOST,
      isReadLost: true,
      strategies: [later],
    });
    bench.until(15 * MINUTE_MS);
    const down = bench.raised.filter(({ id }) => id === 'venue_unreachable');
    expect(down).toHaveLength(1);
    expect(down[0]?.at).toBeLessThanOrEqual(FROM + 2 * MINUTE_MS);
  });
});

describe('a venue that answers but does not quote', () => {
  it('raises no_quotes within 60 s, and slices state that there are no quotes', () => {
    const bench = outage({ from: FROM, to: TO, quote: CLOSED, isReadLost: false });
    bench.until(15 * MINUTE_MS);
    const ids = bench.alerts();
    expect(ids).not.toContain('venue_unreachable');
    expect(ids.filter((id) => id === 'no_quotes')).toHaveLength(1);
    const down = bench.raised.find(({ id }) => id === 'no_quotes');
    expect(down?.at).toBeLessThanOrEqual(FROM + MINUTE_MS);
    expect(down?.facts).toMatchObject({ pair: 'btcusd', reason: 'quotes_unavailable' });
    expect(new Set(missed(bench).map(({ reason }) => reason))).toEqual(new Set(['quotes_unavailable']));
    expect(back(bench)).toBeLessThanOrEqual(TO + 30 * SECOND_MS);
  });
});
