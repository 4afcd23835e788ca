import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS, instant } from '../../src/core/time.ts';
import { aBench, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { ledgerTrades } from './oracle.ts';

const strategies = [aTwap('twap', { slices: 60, duration: 'PT1H' })];
const policy = { crashLoop: { startsMax: 5, withinMs: 10 * MINUTE_MS } };

interface Series {
  readonly alerts: string[];
  /** Arrivals of quote requests and reads of the account at the venue, over all processes. */
  readonly quotes: number[];
  readonly reads: number[];
  /** Starts a process, lets it live for `ms`, and leaves it running. */
  next(ms: number, rearm?: string): Bench;
}

/** Processes that follow each other on one journal, each killed when the next begins. */
function aSeries(): Series {
  let before: Bench | undefined;
  const series: Series = {
    alerts: [],
    quotes: [],
    reads: [],
    next(ms, rearm) {
      before?.kill();
      const options: BenchOptions = {
        strategies,
        policy,
        ...(before && { clock: before.clock, exchange: before.exchange, journal: before.journal }),
        observer: { alert: (id) => series.alerts.push(id) },
        wrap: (venue, clock) => ({
          ...venue,
          quote: (request) => (series.quotes.push(clock.monotonic()), venue.quote(request)),
          transactions: (query) => (series.reads.push(clock.monotonic()), venue.transactions(query)),
        }),
      };
      const bench = aBench(options);
      bench.start({ rearm, withOpenDoubts: true });
      bench.clock.run(instant(bench.clock.now() + ms));
      before = bench;
      return bench;
    },
  };
  return series;
}

describe('a process that dies again and again', () => {
  it('starts halted after five deaths within ten minutes, and trades no more', () => {
    const series = aSeries();
    for (let start = 1; start <= 5; start++)
      expect(series.next(30 * SECOND_MS).desk.state.control).toBe('active');
    const sixth = series.next(30 * SECOND_MS);
    expect(sixth.desk.state).toMatchObject({
      control: 'halted',
      controlWhy: 'the process died 5 times within 10 minutes',
    });
    expect(series.alerts).toContain('crash_loop');
    const traded = ledgerTrades(sixth.exchange).length;
    expect(traded).toBeGreaterThan(0);
    const later = series.next(20 * MINUTE_MS);
    expect(later.desk.state.control).toBe('halted');
    expect(ledgerTrades(later.exchange)).toHaveLength(traded);
  });

  it('is not told from one that dies now and then', () => {
    const series = aSeries();
    for (let start = 1; start <= 20; start++) {
      expect(series.next(2.5 * MINUTE_MS).desk.state.control).toBe('active');
    }
    expect(series.alerts).not.toContain('crash_loop');
  });

  it('does not count processes that ended in good order', () => {
    const series = aSeries();
    for (let start = 1; start <= 20; start++) {
      const bench = series.next(20 * SECOND_MS);
      expect(bench.desk.state.control).toBe('active');
      bench.operator$.next({ do: 'drain', why: 'deploy' });
      bench.clock.run(instant(bench.clock.now() + SECOND_MS));
      expect(bench.seen.phases.at(-1)).toBe('stopped');
    }
  });

  it('trades again once a person says so, and counts from there', () => {
    const series = aSeries();
    for (let start = 1; start <= 6; start++) series.next(30 * SECOND_MS);
    expect(series.next(30 * SECOND_MS, 'the memory limit was too low').desk.state.control).toBe('active');
    for (let start = 1; start <= 4; start++) {
      expect(series.next(30 * SECOND_MS).desk.state.control).toBe('active');
    }
    expect(series.next(30 * SECOND_MS).desk.state.control).toBe('halted');
  });

  it('counts on when a pause ends by itself: nobody has looked', () => {
    const series = aSeries();
    for (let start = 1; start <= 5; start++) {
      const bench = series.next(10 * SECOND_MS);
      bench.operator$.next({ do: 'pause', by: 'ann', why: 'lunch', forMs: 5 * SECOND_MS });
      bench.clock.run(instant(bench.clock.now() + 20 * SECOND_MS));
      expect(bench.desk.state.control).toBe('active');
    }
    expect(series.next(30 * SECOND_MS).desk.state.control).toBe('halted');
  });

  it('keeps to the limits of the venue through a hundred starts, halted or not', () => {
    for (const rearm of [undefined, 'on and on']) {
      const series = aSeries();
      for (let start = 0; start < 100; start++)
        series.next(start % 10 === 9 ? 14_000 : 50 + 137 * (start % 10), rearm);
      expect(series.reads.length).toBeGreaterThan(5);
      const gap = Math.min(...series.reads.slice(1).map((at, i) => at - (series.reads[i] ?? 0)));
      expect(gap).toBeGreaterThanOrEqual(10_000);
      const most = series.quotes.map(
        (from) => series.quotes.filter((at) => at >= from && at < from + SECOND_MS).length,
      );
      expect(Math.max(0, ...most)).toBeLessThanOrEqual(10);
      expect(series.quotes.length).toBeGreaterThan(rearm === undefined ? 0 : 8);
    }
  });
});
