import { describe, expect, it } from 'vitest';
import type { ClosingRecord } from '../../src/core/record.ts';
import { DAY_MS, MINUTE_MS, after } from '../../src/core/time.ts';
import type { CommandAnswer } from '../../src/engine/ports.ts';
import { START, aBench, aTwap, nextProcess } from './harness.ts';
import type { Bench } from './harness.ts';

const closing = (over: Partial<ClosingRecord> = {}): ClosingRecord => ({
  kind: 'closing',
  until: START,
  currency: 'usd',
  method: 'fifo',
  entries: 0,
  hash: '0'.repeat(64),
  head: { seq: 1, hash: '0'.repeat(64) },
  transactions: [],
  settings: '0'.repeat(64),
  by: 'ann',
  why: 'the period is over',
  ...over,
});

function close(bench: Bench, record: ClosingRecord): CommandAnswer | undefined {
  let told: CommandAnswer | undefined;
  bench.operator$.next({
    do: 'close',
    record,
    answer: (answer) => {
      told = answer;
    },
  });
  return told;
}

describe('closing the books of a running desk', () => {
  it('records only a past period that follows the last closed one, with a person and a reason', () => {
    const bench = aBench({ strategies: [aTwap()] });
    bench.start();
    bench.clock.run(after(START, MINUTE_MS));
    const until = after(START, 30_000);
    expect(close(bench, closing())).toEqual({
      isDone: true,
      says: 'the books are closed up to 2026-01-05T00:00:00.000Z',
    });
    for (const [record, says] of [
      [closing(), 'already: give a later end'],
      [closing({ until }), 'this period does not begin where the closed books end'],
      [
        closing({ from: until, until: after(until, 1) }),
        'this period does not begin where the closed books end',
      ],
      [closing({ from: START, until: after(START, DAY_MS) }), 'which is in the future'],
      [closing({ from: START, until, by: ' ' }), 'name the person who closes the period'],
      [closing({ from: START, until, why: '' }), 'give the reason'],
    ] as const)
      expect([close(bench, record)?.isDone, close(bench, record)?.says]).toEqual([
        false,
        expect.stringContaining(says),
      ]);
    expect(close(bench, closing({ from: START, until }))).toMatchObject({ isDone: true });
    expect(bench.records().filter(({ body }) => body.kind === 'closing')).toHaveLength(2);
    expect(nextProcess(bench, 1_000, { strategies: [aTwap()] }).desk.state.closedUntil).toBe(until);
  });

  it('does not change the time of the last record or whether the desk counts as stopped', () => {
    const bench = aBench({ strategies: [aTwap()] });
    bench.start();
    bench.clock.run(after(START, MINUTE_MS));
    const { state } = bench.desk;
    const [lastRecordAt, isStopped] = [state.lastRecordAt, state.isStopped];
    state.apply({ seq: 1_000, at: after(START, DAY_MS), body: closing(), hash: '' });
    expect([state.lastRecordAt, state.isStopped]).toEqual([lastRecordAt, isStopped]);
  });
});
