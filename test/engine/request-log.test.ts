import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SECOND_MS } from '../../src/core/time.ts';
import { requestLogFile } from '../../src/journal/sidecar/request-log.ts';
import { aBench, aTwap, nextProcess, START, densest, leastGap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { aFolder } from '../support/folder.ts';

interface Series {
  readonly file: string;
  /** Starts a process, lets it live for `ms`, and leaves it running. */
  next(ms: number, over?: Partial<BenchOptions>): Bench;
}

/** Processes that follow each other, each killed when the next begins, with a log of the requests of each. */
function aSeries(): Series {
  const file = join(aFolder(), 'journal.db.requests');
  let before: Bench | undefined;
  const series: Series = {
    file,
    next(ms, over = {}) {
      const options: BenchOptions = {
        strategies: [aTwap('twap', { slices: 400, duration: 'PT1H' })],
        bootId: '11111111-1111-4111-8111-111111111111',
        requestLog: requestLogFile(file),
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

/** How long after the death of `before` a request first left. */
const firstAfter = (times: readonly { readonly at: number }[], { died }: { readonly died: number }): number =>
  Math.min(...times.flatMap(({ at }) => (at >= died ? [at - died] : [])));
const deathOf = ({ clock }: Bench) => ({ died: clock.monotonic() - START });

describe('a process that follows a killed one', () => {
  it('waits only for the limits that the dead process had used', () => {
    const series = aSeries();
    const died = deathOf(series.next(15 * SECOND_MS));
    const { sent } = series.next(15 * SECOND_MS);
    expect(firstAfter(sent.quotes, died)).toBeLessThan(5 * SECOND_MS);
  });

  it.each([
    ['it has no request log', { requestLog: undefined }],
    ['the machine was rebooted', { bootId: '22222222-2222-4222-8222-222222222222' }],
  ])('waits out all limits if %s', (_, over) => {
    const series = aSeries();
    const died = deathOf(series.next(15 * SECOND_MS));
    const { sent } = series.next(20 * SECOND_MS, over);
    expect(firstAfter(sent.reads, died)).toBeGreaterThan(10 * SECOND_MS);
  });

  it('waits out all limits if the last process wrote no request log, or if the log is damaged', () => {
    const series = aSeries();
    series.next(15 * SECOND_MS);
    const died = deathOf(series.next(13 * SECOND_MS, { requestLog: undefined }));
    const last = series.next(20 * SECOND_MS);
    expect(firstAfter(last.sent.reads, died)).toBeGreaterThan(10 * SECOND_MS);
    writeFileSync(series.file, 'not a note');
    const diedAgain = deathOf(last);
    const { sent } = series.next(20 * SECOND_MS);
    expect(firstAfter(sent.reads, diedAgain)).toBeGreaterThan(10 * SECOND_MS);
  });

  it('stays within the limits of the venue through a hundred starts', () => {
    const series = aSeries();
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
