import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SECOND_MS } from '../../src/core/time.ts';
import { requestLogFile } from '../../src/journal/sidecar/request-log.ts';
import { aBench, aTwap, nextProcess } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

interface Series {
  readonly file: string;
  readonly reads: number[];
  readonly quotes: number[];
  /** Starts a process, lets it live for `ms`, and leaves it running. */
  next(ms: number, over?: Partial<BenchOptions>): Bench;
}

/** Processes that follow each other, each killed when the next begins, with a log of the requests of each. */
function aSeries(): Series {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-requests-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'journal.db.requests');
  let before: Bench | undefined;
  const series: Series = {
    file,
    reads: [],
    quotes: [],
    next(ms, over = {}) {
      const options: BenchOptions = {
        strategies: [aTwap('twap', { slices: 400, duration: 'PT1H' })],
        bootId: '11111111-1111-4111-8111-111111111111',
        requestLog: requestLogFile(file),
        wrap: (venue, clock) => ({
          ...venue,
          quote: (request) => (series.quotes.push(clock.monotonic()), venue.quote(request)),
          transactions: (query) => (series.reads.push(clock.monotonic()), venue.transactions(query)),
        }),
        ...over,
      };
      const bench = before === undefined ? aBench(options) : nextProcess(before, 100, options);
      if (before === undefined) bench.start();
      bench.run(ms);
      before = bench;
      return bench;
    },
  };
  return series;
}

const firstAfter = (times: readonly number[], from: number): number =>
  Math.min(...times.filter((at) => at >= from)) - from;

describe('a process that follows a killed one', () => {
  it('waits only for the limits that the dead process had used', () => {
    const series = aSeries();
    const { clock } = series.next(15 * SECOND_MS);
    const died = clock.monotonic();
    series.next(15 * SECOND_MS);
    expect(firstAfter(series.quotes, died)).toBeLessThan(5 * SECOND_MS);
  });

  it.each([
    ['it has no request log', { requestLog: undefined }],
    ['the machine was rebooted', { bootId: '22222222-2222-4222-8222-222222222222' }],
  ])('waits out all limits if %s', (_, over) => {
    const series = aSeries();
    const { clock } = series.next(15 * SECOND_MS);
    const died = clock.monotonic();
    series.next(20 * SECOND_MS, over);
    expect(firstAfter(series.reads, died)).toBeGreaterThan(10 * SECOND_MS);
  });

  it('waits out all limits if the last process wrote no request log, or if the log is damaged', () => {
    const series = aSeries();
    series.next(15 * SECOND_MS);
    const silent = series.next(13 * SECOND_MS, { requestLog: undefined });
    const died = silent.clock.monotonic();
    const last = series.next(20 * SECOND_MS);
    expect(firstAfter(series.reads, died)).toBeGreaterThan(10 * SECOND_MS);
    writeFileSync(series.file, 'not a note');
    const diedAgain = last.clock.monotonic();
    series.next(20 * SECOND_MS);
    expect(firstAfter(series.reads, diedAgain)).toBeGreaterThan(10 * SECOND_MS);
  });

  it('stays within the limits of the venue through a hundred starts', () => {
    const series = aSeries();
    const lives = [50, 14_000, 400, 2_000, 9_900, 700, 21_000, 5_000, 150, 11_000];
    for (let start = 0; start < 100; start++) series.next((lives[start % 10] ?? 0) + 37 * (start % 7));
    const gaps = series.reads.slice(1).map((at, i) => at - (series.reads[i] ?? 0));
    expect(series.reads.length).toBeGreaterThan(20);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(10_000);
    const most = series.quotes.map(
      (from) => series.quotes.filter((at) => at >= from && at < from + SECOND_MS).length,
    );
    expect(Math.max(...most)).toBeLessThanOrEqual(10);
  });
});
