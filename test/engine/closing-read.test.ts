import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { closingWords, unconfirmedWords } from '../../src/engine/account/closing-read.ts';
import { faultyVenue } from './faulty-venue.ts';
import { aBench, aPolicy, aTwap, START } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const MARGIN_MS = aPolicy().inDoubt.bookingMarginMs;
const strategies = [aTwap('twap', { slices: 2, duration: 'PT2M' })];
const end = { isUntilDone: true, hasClosingRead: true };
const unreachable = (): VenueError =>
  new VenueError({ code: 'unavailable', applied: 'no', attempt: 'transactions', status: 503, said: 'away' });

interface Watched {
  readonly bench: Bench;
  /** When reads of the account left. */
  readonly reads: number[];
}

function aDesk(over: Partial<BenchOptions> = {}): Watched {
  const reads: number[] = [];
  const { wrap } = over;
  const bench = aBench({
    strategies,
    ...over,
    wrap: (venue, clock) => {
      const inner = wrap?.(venue, clock) ?? venue;
      return {
        ...inner,
        transactions: (query) => (reads.push(clock.wall()), inner.transactions(query)),
      };
    },
  });
  return { bench, reads };
}

const lastFill = (bench: Bench): number =>
  bench.records().findLast(({ body }) => body.kind === 'fill')?.at ?? Number.NaN;
const stopped = (bench: Bench): unknown => bench.records().at(-1)?.body;

describe('a desk with a closing read', () => {
  it('stops after a whole read that begins after the booking margin of the last fill', () => {
    const { bench, reads } = aDesk();
    bench.start(end);
    bench.until(10 * MINUTE_MS);
    expect(bench.seen.phases).toEqual(['ready', 'closing', 'stopped']);
    expect(reads.at(-1)).toBeGreaterThanOrEqual(lastFill(bench) + MARGIN_MS);
    expect(stopped(bench)).toMatchObject({ kind: 'stopped', closing_read: true });
    expect(unconfirmedWords(bench.desk)).toBeUndefined();
  });

  it('halts if the closing read shows that the venue executed the last order twice', () => {
    const { bench } = aDesk({
      strategies: [aTwap('twap', { slices: 1, duration: 'PT1M' })],
      venue: { booking: { secondExecution: 1, secondExecutionMs: 5 * SECOND_MS } },
    });
    bench.start(end);
    bench.until(10 * MINUTE_MS);
    expect(bench.seen.phases.at(-1)).toBe('stopped');
    expect(bench.desk.control).toBe('halted');
    expect(bench.desk.controlWhy).toContain('executed more');
  });

  it('waits for the closing read when it drains, and reports the remaining time', () => {
    const { bench, reads } = aDesk();
    bench.start({ hasClosingRead: true });
    bench.until(2 * SECOND_MS);
    bench.operator$.next({ do: 'drain', why: 'SIGTERM' });
    bench.until(4 * SECOND_MS);
    expect(bench.seen.phases).toEqual(['ready', 'closing']);
    expect(closingWords(bench.desk)).toEqual([
      expect.stringMatching(/^Waiting for the account to confirm the last fills \(\d\d s left\)$/u),
    ]);
    bench.until(30 * SECOND_MS);
    expect(bench.seen.phases.at(-1)).toBe('stopped');
    expect(reads.at(-1)).toBeGreaterThanOrEqual(lastFill(bench) + MARGIN_MS);
    expect(closingWords(bench.desk)).toEqual([]);
  });

  it('stops at once if a read has already confirmed the last fills, or if there are none', () => {
    // The account is read each minute: between two slices, 90 s apart.
    const { bench } = aDesk({ strategies: [aTwap('twap', { slices: 2, duration: 'PT3M' })] });
    bench.start({ hasClosingRead: true });
    bench.until(75 * SECOND_MS);
    expect(lastFill(bench)).toBeLessThan(START + 50 * SECOND_MS);
    bench.operator$.next({ do: 'drain', why: 'SIGTERM' });
    bench.until(76 * SECOND_MS);
    expect(bench.seen.phases).toEqual(['ready', 'stopped']);

    const idle = aDesk({ strategies: [aTwap('later', { start_time: '2026-01-06T00:00:00Z' })] }).bench;
    idle.start({ hasClosingRead: true });
    idle.until(30 * SECOND_MS);
    idle.operator$.next({ do: 'drain', why: 'SIGTERM' });
    idle.until(31 * SECOND_MS);
    expect(idle.seen.phases).toEqual(['ready', 'stopped']);
    expect(stopped(idle)).not.toHaveProperty('closing_read');
  });

  it('stops after a minute without a closing read, reports why, and makes the read at the next start', () => {
    let isDown = false;
    const wrap = faultyVenue({ transactions: (rows) => (isDown ? unreachable() : rows) });
    const { bench } = aDesk({ wrap });
    bench.start(end);
    bench.until(61 * SECOND_MS);
    isDown = true;
    bench.until(4 * MINUTE_MS);
    expect(bench.seen.phases.at(-1)).toBe('stopped');
    expect(stopped(bench)).toMatchObject({ kind: 'stopped', closing_read: false });
    expect(unconfirmedWords(bench.desk)).toMatch(
      /did not confirm the last fills: .*; the next start reads it/u,
    );

    isDown = false;
    const { clock, exchange, journal } = bench;
    const { bench: next, reads } = aDesk({ clock, exchange, journal });
    const startedAt = clock.wall();
    next.start(end);
    clock.run(instant(startedAt + MINUTE_MS));
    expect(next.seen.phases.at(-1)).toBe('stopped');
    expect(reads.at(-1)).toBeGreaterThanOrEqual(startedAt + MARGIN_MS);
    expect(stopped(next)).toMatchObject({ closing_read: true });
  });

  it('makes the closing read after a restart if the previous process died after the last fill', () => {
    const { bench } = aDesk();
    bench.start(end);
    bench.until(61 * SECOND_MS);
    expect(bench.bodies('fill')).toHaveLength(2);
    bench.kill();
    const { clock, exchange, journal } = bench;
    const startedAt = clock.wall();
    const { bench: next, reads } = aDesk({ clock, exchange, journal });
    next.start(end);
    clock.run(instant(startedAt + 2 * MINUTE_MS));
    expect(next.seen.phases.at(-1)).toBe('stopped');
    expect(reads.at(-1)).toBeGreaterThanOrEqual(startedAt + MARGIN_MS);
  });
});
