import { describe, expect, it } from 'vitest';
import { money } from '../../src/core/money.ts';
import type { SliceRecord } from '../../src/core/record.ts';
import { instant, MINUTE_MS } from '../../src/core/time.ts';
import { lineFor } from '../../src/journal/words.ts';
import { aBench, aPolicy, aTwap, START } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const { limits } = aPolicy();

function ran(options: BenchOptions, forMs = 30 * MINUTE_MS): Bench {
  const bench = aBench(options);
  bench.start();
  bench.clock.run(instant(START + forMs));
  return bench;
}

const sliceEnds = (bench: Bench): readonly SliceRecord[] =>
  bench.records().flatMap(({ body }) => (body.kind === 'slice' ? [body] : []));

describe('a slice that a limit ended', () => {
  it('keeps the limit and the value that broke it, and the journal shows them', () => {
    const bench = ran({
      strategies: [aTwap('twap', { slices: 2 })],
      policy: { limits: { ...limits, orderNotionalMax: money('100') } },
    });
    const [end] = sliceEnds(bench);
    expect(end).toMatchObject({ result: 'skipped', reason: 'order_notional' });
    expect(end?.detail).toMatch(/^limit=100 value=3\d{4}\.\d\d$/u);
    const line = bench.records().find(({ body }) => body.kind === 'slice');
    expect(line && lineFor(line)).toContain(end?.detail);
  });

  it('keeps them when its time ran out over them as well', () => {
    const bench = ran({
      strategies: [aTwap('twap', { slices: 1, limit_price: '1' })],
    });
    const [end] = sliceEnds(bench);
    expect(end).toMatchObject({ result: 'expired', reason: 'limit_price' });
    expect(end?.detail).toMatch(/^limit=1 value=\d+/u);
  });
});
