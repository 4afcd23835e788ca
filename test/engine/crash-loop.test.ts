import { throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError, VenueError } from '../../src/core/errors.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { requestLogFile } from '../../src/journal/sidecar/request-log.ts';
import { aFolder } from '../support/folder.ts';
import { aTwap, densest, leastGap, nextProcess, started, START } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { ledgerTrades } from './oracle.ts';

const REFUSED = new VenueError({ code: 'unauthorised', applied: 'no', attempt: 'currencies', status: 401 });
const policy = { crashLoop: { startsMax: 5, withinMs: 10 * MINUTE_MS } };

interface Series {
  readonly alerts: string[];
  /** The next request for a quote throws. */
  isBroken: boolean;
  /** The venue refuses the token. */
  isRefused: boolean;
  /** Starts a process, lets it live for `ms`, and leaves it running. */
  next(ms: number, rearm?: string, over?: Partial<BenchOptions>): Bench;
}

/** Processes that follow each other on one journal, each killed when the next begins. */
function aSeries(given: Partial<BenchOptions> = {}): Series {
  let before: Bench | undefined;
  const series: Series = {
    alerts: [],
    isBroken: false,
    isRefused: false,
    next(ms, rearm, over) {
      const options: BenchOptions = {
        strategies: [aTwap('twap', { slices: 60, duration: 'PT1H' })],
        policy,
        observer: { alert: (id) => series.alerts.push(id) },
        wrap: (venue) => ({
          ...venue,
          currencies: () => (series.isRefused ? throwError(() => REFUSED) : venue.currencies()),
          quote(request) {
            if (series.isBroken) throw new TypeError('x is not a function');
            return venue.quote(request);
          },
        }),
        ...given,
        ...over,
      };
      const run = { rearm, withOpenDoubts: true };
      const bench = before === undefined ? started(options, 0, run) : nextProcess(before, 0, options, run);
      bench.run(ms);
      before = bench;
      return bench;
    },
  };
  return series;
}

describe('crash-loop detection', () => {
  it('halts the start after five deaths within ten minutes, each soon after a start', () => {
    const series = aSeries();
    for (let start = 1; start <= 5; start++)
      expect(series.next(4 * SECOND_MS).desk.state.control).toBe('active');
    const sixth = series.next(30 * SECOND_MS);
    expect(sixth.desk.state).toMatchObject({
      control: 'halted',
      controlWhy:
        'crash loop: the process died 5 times within 10 minutes (5 x killed or lost soon after the start)',
    });
    expect(series.alerts).toContain('crash_loop');
    const traded = ledgerTrades(sixth.exchange).length;
    expect(traded).toBeGreaterThan(0);
    const later = series.next(20 * MINUTE_MS);
    expect(later.desk.state.control).toBe('halted');
    expect(ledgerTrades(later.exchange)).toHaveLength(traded);
  });

  it('does not trigger if a healthy process is killed every 15 seconds, whether trading or idle', () => {
    for (const over of [{}, { start_time: '2026-01-06T00:00:00Z' }]) {
      const series = aSeries({ strategies: [aTwap('twap', { slices: 60, duration: 'PT1H', ...over })] });
      for (let kill = 1; kill <= 30; kill++)
        expect(series.next(15 * SECOND_MS).desk.state.control).toBe('active');
      expect(series.alerts).not.toContain('crash_loop');
    }
  });

  it('triggers if a process ends by its own errors, however long it ran, and names the errors', () => {
    const series = aSeries();
    for (let start = 1; start <= 5; start++) {
      const bench = series.next(30 * SECOND_MS);
      series.isBroken = true;
      bench.run(70 * SECOND_MS);
      series.isBroken = false;
      expect(bench.seen.error).toBeInstanceOf(TypeError);
    }
    expect(series.next(30 * SECOND_MS).desk.state.controlWhy).toContain(
      '(5 x TypeError: x is not a function)',
    );
  });

  it('does not trigger if the venue refuses the token, however often the supervisor restarts the process', () => {
    const series = aSeries();
    series.isRefused = true;
    for (let start = 1; start <= 8; start++) {
      const bench = series.next(20 * SECOND_MS);
      expect(bench.seen.error).toBeInstanceOf(OperatorError);
      expect(bench.desk.state.control).toBe('active');
    }
    series.isRefused = false;
    expect(series.next(30 * SECOND_MS).desk.state.control).toBe('active');
  });

  it('does not trigger if a process dies occasionally', () => {
    const series = aSeries();
    for (let start = 1; start <= 20; start++) {
      expect(series.next(2.5 * MINUTE_MS).desk.state.control).toBe('active');
    }
    expect(series.alerts).not.toContain('crash_loop');
  });

  it('does not count processes that stopped cleanly', () => {
    const series = aSeries();
    for (let start = 1; start <= 20; start++) {
      const bench = series.next(20 * SECOND_MS);
      expect(bench.desk.state.control).toBe('active');
      bench.operator$.next({ do: 'drain', why: 'deploy' });
      bench.run(SECOND_MS);
      expect(bench.seen.phases.at(-1)).toBe('stopped');
    }
  });

  it('starts a new count after a person re-arms the desk', () => {
    const series = aSeries();
    for (let start = 1; start <= 6; start++) series.next(4 * SECOND_MS);
    expect(series.next(4 * SECOND_MS, 'the memory limit was too low').desk.state.control).toBe('active');
    for (let start = 1; start <= 4; start++) {
      expect(series.next(4 * SECOND_MS).desk.state.control).toBe('active');
    }
    expect(series.next(30 * SECOND_MS).desk.state.control).toBe('halted');
  });

  it('keeps its count when a pause ends automatically', () => {
    const series = aSeries();
    for (let start = 1; start <= 5; start++) {
      const bench = series.next(SECOND_MS);
      bench.operator$.next({ do: 'pause', by: 'ann', why: 'lunch', forMs: SECOND_MS });
      bench.run(3 * SECOND_MS);
      expect(bench.desk.state.control).toBe('active');
    }
    expect(series.next(30 * SECOND_MS).desk.state.control).toBe('halted');
  });

  it('keeps the requests of 100 starts within the limits of the venue, halted or not', () => {
    for (const rearm of [undefined, 'on and on']) {
      const series = aSeries();
      let bench: Bench | undefined;
      for (let start = 0; start < 100; start++)
        bench = series.next(start % 10 === 9 ? 14_000 : 50 + 137 * (start % 10), rearm);
      const { quotes, reads } = bench?.sent ?? { quotes: [], reads: [] };
      expect(reads.length).toBeGreaterThan(5);
      expect(leastGap(reads)).toBeGreaterThanOrEqual(10_000);
      expect(densest(quotes, SECOND_MS)).toBeLessThanOrEqual(10);
      expect(quotes.length).toBeGreaterThan(rearm === undefined ? 0 : 8);
    }
  });
});

/** Processes that follow each other, with a log of the requests of each. */
function logged(): Series & { readonly file: string } {
  const file = join(aFolder(), 'journal.db.requests');
  const series = aSeries({
    strategies: [aTwap('twap', { slices: 400, duration: 'PT1H' })],
    policy: {},
    bootId: '11111111-1111-4111-8111-111111111111',
    requestLog: requestLogFile(file),
  });
  return { ...series, file };
}

/** How long after the death of `before` a request first left. */
const firstAfter = (times: readonly { readonly at: number }[], { died }: { readonly died: number }): number =>
  Math.min(...times.flatMap(({ at }) => (at >= died ? [at - died] : [])));
const deathOf = ({ clock }: Bench) => ({ died: clock.monotonic() - START });

describe('a process that follows a killed one', () => {
  it('waits only for the limits that the dead process had used', () => {
    const series = logged();
    const died = deathOf(series.next(15 * SECOND_MS));
    const { sent } = series.next(15 * SECOND_MS);
    expect(firstAfter(sent.quotes, died)).toBeLessThan(5 * SECOND_MS);
  });

  it.each([
    ['it has no request log', { requestLog: undefined }],
    ['the machine was rebooted', { bootId: '22222222-2222-4222-8222-222222222222' }],
  ])('waits out all limits if %s', (_, over) => {
    const series = logged();
    const died = deathOf(series.next(15 * SECOND_MS));
    const { sent } = series.next(20 * SECOND_MS, undefined, over);
    expect(firstAfter(sent.reads, died)).toBeGreaterThan(10 * SECOND_MS);
  });

  it('waits out all limits if the last process wrote no request log, or if the log is damaged', () => {
    const series = logged();
    series.next(15 * SECOND_MS);
    const died = deathOf(series.next(13 * SECOND_MS, undefined, { requestLog: undefined }));
    const last = series.next(20 * SECOND_MS);
    expect(firstAfter(last.sent.reads, died)).toBeGreaterThan(10 * SECOND_MS);
    writeFileSync(series.file, 'not a note');
    const diedAgain = deathOf(last);
    const { sent } = series.next(20 * SECOND_MS);
    expect(firstAfter(sent.reads, diedAgain)).toBeGreaterThan(10 * SECOND_MS);
  });

  it('stays within the limits of the venue through a hundred starts', () => {
    const series = logged();
    const lives = [50, 14_000, 400, 2_000, 9_900, 700, 21_000, 5_000, 150, 11_000];
    let bench = series.next(50);
    for (let start = 1; start < 100; start++)
      bench = series.next((lives[start % 10] ?? 0) + 37 * (start % 7));
    const { reads, quotes } = bench.sent;
    expect(reads.length).toBeGreaterThan(20);
    expect(leastGap(reads)).toBeGreaterThanOrEqual(10_000);
    expect(densest(quotes, SECOND_MS)).toBeLessThanOrEqual(10);
  });
});
