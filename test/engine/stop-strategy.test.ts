import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { CommandAnswer } from '../../src/engine/ports.ts';
import { aTwap, nextProcess, started } from './harness.ts';
import type { Bench } from './harness.ts';
import { ledgerTrades } from './oracle.ts';

/** Ten slices, a minute apart. */
const twap = aTwap('btc');

const stop = (bench: Bench, strategy = 'btc'): CommandAnswer =>
  bench.tell({ do: 'stop', strategy, why: 'the fund has changed its mind' });

function running(): Bench {
  return started({ strategies: [twap, aTwap('other')] }, 3 * MINUTE_MS + SECOND_MS);
}

const tradesOf = (bench: Bench, strategy: string): number =>
  bench.records().filter(({ body }) => body.kind === 'fill' && body.strategy === strategy).length;

describe('stopping a strategy as an operator', () => {
  it('prevents further trades, even after a restart, while other strategies continue', () => {
    const bench = running();
    const before = tradesOf(bench, 'btc');
    expect(before).toBe(4);
    expect(stop(bench)).toEqual({
      isDone: true,
      says: 'btc is stopped permanently. To trade the rest, give it another id',
    });
    bench.until(5 * MINUTE_MS);
    const next = nextProcess(bench, SECOND_MS, { strategies: [twap, aTwap('other')] });
    next.until(HOUR_MS);
    expect(tradesOf(next, 'btc')).toBe(before);
    expect(tradesOf(next, 'other')).toBe(10);
    expect(ledgerTrades(next.exchange)).toHaveLength(before + 10);
  });

  it('finishes the strategy, and records who stopped it and why', () => {
    const bench = running();
    stop(bench);
    const bodies = bench.records().map(({ body }) => body);
    expect(bodies.filter(({ kind }) => kind === 'reload')).toMatchObject([
      { by: 'ann', why: 'the fund has changed its mind', changes: [{ strategy: 'btc', what: 'stops' }] },
    ]);
    expect(bodies.at(-1)).toMatchObject({
      kind: 'wake',
      strategy: 'btc',
      finished: 'by_operator',
      note: 'ann: the fund has changed its mind',
    });
    expect(bench.desk.state.lives.get('btc')?.finished).toBe('by_operator');
  });

  it('ends an open slice without another order', () => {
    // No quote is ever good enough: the slice is tried again and again.
    const dear = aTwap('btc', { limit_price: '1', slices: 1 });
    const bench = started({ strategies: [dear] }, MINUTE_MS);
    expect(bench.desk.state.slices.size).toBe(1);
    expect(stop(bench).says).toContain('open slices end without another order');
    bench.until(2 * MINUTE_MS);
    expect(bench.desk.state.slices.size).toBe(0);
    expect(bench.records().map(({ body }) => body).filter(({ kind }) => kind === 'slice')).toMatchObject([
      { result: 'skipped', reason: 'aborted' },
    ]); // prettier-ignore
  });

  it('is refused if the strategy does not exist or has already ended', () => {
    const bench = running();
    expect(stop(bench, 'eth')).toEqual({
      isDone: false,
      says: 'no strategy eth runs; there are btc, other',
    });
    stop(bench);
    expect(stop(bench)).toEqual({ isDone: false, says: 'btc has ended already: by_operator' });
  });
});
