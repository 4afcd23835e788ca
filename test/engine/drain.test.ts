import { describe, expect, it } from 'vitest';
import { NEVER } from 'rxjs';
import { text } from '../../src/core/money.ts';
import { instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { isDone } from '../../src/engine/run.ts';
import { closingWords, unconfirmedWords } from '../../src/engine/account/closing-read.ts';
import { faultyVenue, DOWN } from './faulty-venue.ts';
import { aTwap, START, started, nextProcess, aBench, aPolicy } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { books, executedTotal, ledgerTrades, faultsOf } from './oracle.ts';

const strategies = [aTwap('twap', { slices: 4, duration: 'PT4M' })];
const END = instant(START + 20 * MINUTE_MS);

/** Starts, drains after `ms`, and lets what is under way end. */
function drained(ms: number, options: Partial<BenchOptions> = {}): Bench {
  const bench = started({ strategies, ...options }, ms);
  bench.operator$.next({ do: 'drain', why: 'SIGTERM' });
  bench.run(15 * SECOND_MS);
  return bench;
}

describe('a drain', () => {
  // Around the first and the second slice every step of an attempt has its moment.
  const moments = [0, 60 * SECOND_MS].flatMap((slot) => Array.from({ length: 70 }, (_, i) => slot + i * 2));

  it('leaves no attempt open, whenever it starts, and a restart continues without repeating a slice', () => {
    const wrong: string[] = [];
    for (const ms of moments) {
      const first = drained(ms);
      const { exchange } = first;
      if (first.seen.phases.at(-1) !== 'stopped') wrong.push(`${ms} ms: ${first.seen.phases.join()}`);
      if (first.desk.state.attempts.size > 0) wrong.push(`${ms} ms: attempts are open`);
      if (first.records().at(-1)?.body.kind !== 'stopped') wrong.push(`${ms} ms: no stopped record`);
      const told = books(exchange, first.records());
      if (told.ledger.join() !== told.journal.join()) wrong.push(`${ms} ms: the books differ`);

      const second = nextProcess(first, 0, { strategies });
      second.clock.run(END);
      wrong.push(...faultsOf(second).map((fault) => `${ms} ms: ${fault}`));
      if (text(executedTotal(exchange)) !== '1')
        wrong.push(`${ms} ms: ${text(executedTotal(exchange))} traded`);
    }
    expect(wrong).toEqual([]);
  });

  it('waits for the answer to an order that was sent', () => {
    const bench = started({ strategies, orderLatencyMs: 3_000 }, 100);
    bench.operator$.next({ do: 'drain', why: 'SIGTERM' });
    expect(bench.seen.phases).toEqual(['ready']);
    bench.until(10 * SECOND_MS);
    expect(bench.seen.phases).toEqual(['ready', 'stopped']);
    expect(ledgerTrades(bench.exchange)).toHaveLength(1);
    expect(bench.desk.state.fills).toBe(1);
  });

  it('does not wait for the proof of a doubt, but reports that one is open', () => {
    const bench = drained(10 * SECOND_MS, { wrap: faultyVenue({ order: () => 'answer lost' }) });
    expect(bench.seen.phases).toEqual(['ready', 'stopped']);
    expect(bench.records().at(-1)?.body).toMatchObject({ kind: 'stopped', why: 'SIGTERM', open_doubts: 1 });
  });

  it('stops a desk that cannot reach the venue yet', () => {
    const bench = drained(5 * SECOND_MS, { wrap: faultyVenue({ transactions: () => DOWN }) });
    expect(bench.seen.phases).toEqual(['stopped']);
    expect(bench.records().map(({ body }) => body.kind)).toEqual(['started', 'stopped']);
  });

  it.each([36, 38, 40, 42])(
    'does not wait for the price that a slice awaits, %i s after the start',
    (seconds) => {
      let isSilent = false;
      const wrap: BenchOptions['wrap'] = (venue) => ({
        ...venue,
        quote: (request) => (isSilent && request.clientId === undefined ? NEVER : venue.quote(request)),
      });
      const never = [aTwap('twap', { slices: 1, limit_price: '1' })];
      const bench = started({ strategies: never, wrap }, 5 * SECOND_MS);
      isSilent = true;
      bench.until(seconds * SECOND_MS);
      expect(bench.desk.references.get('btcusd')).toBeUndefined();
      bench.operator$.next({ do: 'drain', why: 'SIGTERM' });
      bench.run(100);
      expect(bench.seen.phases).toEqual(['ready', 'stopped']);
    },
  );

  it('starts automatically when a desk that runs until done is done', () => {
    const bench = started({ strategies }, 0, { isUntilDone: true });
    bench.clock.run(END);
    expect(bench.seen.phases).toEqual(['ready', 'stopped']);
    expect(isDone(bench.desk)).toBe(true);
    expect(bench.records().at(-1)?.body).toMatchObject({ kind: 'stopped', why: 'done', open_doubts: 0 });
  });
});

const MARGIN_MS = aPolicy().inDoubt.bookingMarginMs;
const two = [aTwap('twap', { slices: 2, duration: 'PT2M' })];
const end = { isUntilDone: true, hasClosingRead: true };
const aDesk = (over: Partial<BenchOptions> = {}): Bench => aBench({ strategies: two, ...over });
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
    const next = nextProcess(bench, 0, { strategies: two }, end);
    next.run(MINUTE_MS);
    expect(next.seen.phases.at(-1)).toBe('stopped');
    expect(lastRead(next)).toBeGreaterThanOrEqual(4 * MINUTE_MS + MARGIN_MS);
    expect(stopped(next)).toMatchObject({ closing_read: true });
  });
});
