import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { closingWords, unconfirmedWords } from '../../src/engine/account/closing-read.ts';
import { faultyVenue, DOWN } from './faulty-venue.ts';
import { aBench, aPolicy, aTwap, nextProcess } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const MARGIN_MS = aPolicy().inDoubt.bookingMarginMs;
const strategies = [aTwap('twap', { slices: 2, duration: 'PT2M' })];
const end = { isUntilDone: true, hasClosingRead: true };
const aDesk = (over: Partial<BenchOptions> = {}): Bench => aBench({ strategies, ...over });
/** When the last fill was recorded, and when the last read of the account left. */
const lastFill = (bench: Bench): number => bench.timed('fill').at(-1)?.at ?? Number.NaN;
const lastRead = (bench: Bench): number => bench.sent.reads.at(-1)?.at ?? Number.NaN;
const stopped = (bench: Bench): unknown => bench.records().at(-1)?.body;

describe('a desk with a closing read', () => {
  it('stops after a whole read that begins after the booking margin of the last fill', () => {
    const bench = aDesk();
    bench.start(end);
    bench.until(10 * MINUTE_MS);
    expect(bench.seen.phases).toEqual(['ready', 'closing', 'stopped']);
    expect(lastRead(bench)).toBeGreaterThanOrEqual(lastFill(bench) + MARGIN_MS);
    expect(stopped(bench)).toMatchObject({ kind: 'stopped', closing_read: true });
    expect(unconfirmedWords(bench.desk)).toBeUndefined();
  });

  it('halts if the closing read shows that the venue executed the last order twice', () => {
    const bench = aDesk({
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
    const bench = aDesk();
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
    expect(lastRead(bench)).toBeGreaterThanOrEqual(lastFill(bench) + MARGIN_MS);
    expect(closingWords(bench.desk)).toEqual([]);
  });

  it('stops at once if a read has already confirmed the last fills, or if there are none', () => {
    // The account is read each minute: between two slices, 90 s apart.
    const bench = aDesk({ strategies: [aTwap('twap', { slices: 2, duration: 'PT3M' })] });
    bench.start({ hasClosingRead: true });
    bench.until(75 * SECOND_MS);
    expect(lastFill(bench)).toBeLessThan(50 * SECOND_MS);
    bench.operator$.next({ do: 'drain', why: 'SIGTERM' });
    bench.until(76 * SECOND_MS);
    expect(bench.seen.phases).toEqual(['ready', 'stopped']);

    const idle = aDesk({ strategies: [aTwap('later', { start_time: '2026-01-06T00:00:00Z' })] });
    idle.start({ hasClosingRead: true });
    idle.until(30 * SECOND_MS);
    idle.operator$.next({ do: 'drain', why: 'SIGTERM' });
    idle.until(31 * SECOND_MS);
    expect(idle.seen.phases).toEqual(['ready', 'stopped']);
    expect(stopped(idle)).not.toHaveProperty('closing_read');
  });

  it('stops after a minute without a closing read, reports why, and makes the read at the next start', () => {
    let isDown = false;
    const wrap = faultyVenue({ transactions: (rows) => (isDown ? DOWN : rows) });
    const bench = aDesk({ wrap });
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
    const next = nextProcess(bench, 0, { strategies }, end);
    next.run(MINUTE_MS);
    expect(next.seen.phases.at(-1)).toBe('stopped');
    expect(lastRead(next)).toBeGreaterThanOrEqual(4 * MINUTE_MS + MARGIN_MS);
    expect(stopped(next)).toMatchObject({ closing_read: true });
  });

  it('makes the closing read after a restart if the previous process died after the last fill', () => {
    const bench = aDesk();
    bench.start(end);
    bench.until(61 * SECOND_MS);
    expect(bench.bodies('fill')).toHaveLength(2);
    const next = nextProcess(bench, 0, { strategies }, end);
    next.run(2 * MINUTE_MS);
    expect(next.seen.phases.at(-1)).toBe('stopped');
    expect(lastRead(next)).toBeGreaterThanOrEqual(61 * SECOND_MS + MARGIN_MS);
  });
});
