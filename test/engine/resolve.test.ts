import { throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { money, quantity, text } from '../../src/core/money.ts';
import type { Resolution } from '../../src/core/cycle/resolution.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import type { CommandAnswer } from '../../src/engine/ports.ts';
import { faultyVenue, DOWN, faultAt } from './faulty-venue.ts';
import type { OrderFault } from './faulty-venue.ts';
import { aTwap, started, nextProcess } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal } from './oracle.ts';

const twap = aTwap('t', { slices: 2, duration: 'PT60M' });
/** The first order is never answered, and from then on the account shows only the rows that `seen` returns. */
function aDoubt(
  fault: OrderFault,
  seen: Parameters<typeof faultAt>[2] = () => DOWN,
  ms = 5 * MINUTE_MS,
): Bench {
  return started({ strategies: [twap], wrap: faultAt(fault, 1, seen) }, ms, { isUntilDone: true });
}

/** The next process, until so long after the start of the first. */
function next(before: Bench, ms: number, over: Partial<BenchOptions> = {}): Bench {
  const bench = nextProcess(before, 0, { strategies: [twap], ...over }, { isUntilDone: true });
  bench.until(ms);
  return bench;
}

/** Gives the resolution and runs the clock for a second. */
function resolve(bench: Bench, over: Partial<Resolution> = {}): CommandAnswer {
  const clientOrderId = [...bench.desk.state.attempts.keys()][0] ?? 'none';
  const why = 'the venue confirmed it by mail';
  const told = bench.tell({ do: 'resolve', clientOrderId, verdict: 'not_executed', why, ...over });
  bench.run(SECOND_MS);
  return told;
}
const lastKinds = (bench: Bench, count: number): readonly string[] =>
  bench
    .records()
    .slice(-count)
    .map(({ body }) => body.kind);
const figures = { orderId: '9', quantity: quantity('0.5'), amount: money('30000'), fees: money('0') };

describe('the resolution of a doubt by an operator', () => {
  it('as not executed lets the slice be tried again, and is recorded before its effects', () => {
    const bench = aDoubt('request lost');
    expect(bench.desk.state.doubts).toHaveLength(1);
    const before = bench.records().length;
    const answers = resolve(bench);
    expect(answers).toMatchObject({ isDone: true });
    const [first, second] = bench.records().slice(before);
    expect(first?.body).toMatchObject({ kind: 'resolved', verdict: 'not_executed', by: 'ann' });
    expect(second?.body).toMatchObject({
      kind: 'attempt',
      result: 'absent',
      reason: 'by_operator',
    });
    bench.until(10 * MINUTE_MS);
    expect(text(executedTotal(bench.exchange))).toBe('0.5');
  });

  it('as filled books the stated figures', () => {
    const bench = aDoubt('answer lost');
    expect(resolve(bench, { verdict: 'filled', figures })).toMatchObject({ isDone: true });
    expect(lastKinds(bench, 5)).toContain('resolved');
    const fill = bench.bodies('fill')[0];
    expect(fill).toMatchObject({ source: 'operator', quantity: '0.5', amount: '30000', order_id: '9' });
    expect(bench.desk.state.doubts).toHaveLength(0);
    expect(bench.desk.state.fills).toBe(1);
  });

  it('as filled with wrong figures is corrected by the account and halts the desk, even after a restart', () => {
    let isHidden = true;
    const bench = aDoubt('answer lost', (rows) => (isHidden ? DOWN : rows));
    const slip = { ...figures, quantity: quantity('0.4'), amount: money('23900') };
    expect(resolve(bench, { verdict: 'filled', figures: slip })).toMatchObject({ isDone: true });
    isHidden = false;
    bench.until(8 * MINUTE_MS);
    expect(bench.seen.error).toBeUndefined();
    expect(bench.records().some(({ body }) => body.kind === 'correction')).toBe(true);
    expect(bench.desk.state.control).toBe('halted');
    const { totals } = bench.desk.state;
    // The total of a day has no more digits than an amount.
    expect(text(totals.dayNotional(bench.clock.wall()))).toMatch(/^\d+(?:\.\d{1,8})?$/u);
    const again = next(bench, 10 * MINUTE_MS);
    expect(again.desk.state.control).toBe('halted');
    expect(text(again.desk.state.totals.dayNotional(again.clock.wall()))).toBe(
      text(totals.dayNotional(bench.clock.wall())),
    );
  });

  it('as filled without figures waits until the account shows them, even across a restart', () => {
    let isHidden = true;
    const seen = (rows: readonly Transaction[]): readonly Transaction[] =>
      isHidden ? rows.filter(({ clientId }) => clientId === undefined) : rows;
    const young = aDoubt('answer lost', seen, 12 * SECOND_MS);
    expect(resolve(young, { verdict: 'filled' })).toMatchObject({ isDone: true });
    young.until(10 * MINUTE_MS);
    expect(young.desk.state.doubts).toHaveLength(1);
    const again = next(young, 20 * MINUTE_MS, { wrap: faultyVenue({ transactions: seen }) });
    expect(again.desk.state.doubts).toHaveLength(1);
    isHidden = false;
    again.until(22 * MINUTE_MS);
    expect(again.desk.state.doubts).toHaveLength(0);
    expect(again.desk.state.fills).toBe(1);
  });

  it.each([
    ['not_executed', 'request lost', {}],
    ['filled', 'answer lost', { verdict: 'filled', figures }],
    ['filled in part', 'answer lost', { verdict: 'filled', figures: { ...figures, quantity: quantity('0.4'), amount: money('23900') } }],
  ] as const)('as %s is accepted while the venue cannot be reached at start', (_, fault, word) => {
    const bench = aDoubt(fault);
    const again = next(bench, 11 * MINUTE_MS, { wrap: (venue) => ({ ...venue, currencies: () => throwError(() => DOWN) }) });
    expect(again.seen.phases).toEqual([]);
    expect(resolve(again, word)).toMatchObject({ isDone: true });
    expect(again.seen.error).toBeUndefined();
    expect(again.desk.state.doubts).toHaveLength(0);
    expect(again.desk.state.fills).toBe('figures' in word ? 1 : 0);
  }); // prettier-ignore
});
