import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import { instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { isDone } from '../../src/engine/run.ts';
import { faultyVenue, DOWN } from './faulty-venue.ts';
import { aTwap, START, started, nextProcess } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { books, executedTotal, ledgerTrades, faultsOf } from './oracle.ts';
import { NEVER } from 'rxjs';

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

  it('does not wait for a price', () => {
    const bench = started({ strategies, wrap: (venue) => ({ ...venue, quote: () => NEVER }) }, SECOND_MS);
    bench.operator$.next({ do: 'drain', why: 'SIGTERM' });
    bench.run(100);
    expect(bench.seen.phases).toEqual(['ready', 'stopped']);
  });

  it('starts automatically when a desk that runs until done is done', () => {
    const bench = started({ strategies }, 0, { isUntilDone: true });
    bench.clock.run(END);
    expect(bench.seen.phases).toEqual(['ready', 'stopped']);
    expect(isDone(bench.desk)).toBe(true);
    expect(bench.records().at(-1)?.body).toMatchObject({ kind: 'stopped', why: 'done', open_doubts: 0 });
  });
});
