import { describe, expect, it } from 'vitest';
import { importTape } from '../../src/research/import/read.ts';
import { BarRecorder, SEEN_HEADER, seenLine } from '../../src/research/tape/recorder.ts';
import { price } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';

const record = (
  prices: readonly (readonly [number, string])[],
  begunAt = 0,
  after?: number,
): readonly string[] => {
  const recorder = new BarRecorder(1_000, instant(begunAt), after === undefined ? undefined : instant(after));
  return prices.flatMap(([at, mid]) => {
    const bar = recorder.take(price(mid), instant(at));
    return bar === undefined ? [] : [seenLine(bar)];
  });
};

describe('the bar recorder', () => {
  it('emits a bar with all digits when the next one begins, and none for an interval without prices', () => {
    const prices = [[100, '5.000000000000000001'], [300, '7'], [900, '4'], [950, '6'], [1_000, '6.5'], [4_200, '8'], [5_000, '9']] as const; // prettier-ignore
    expect(record(prices)).toEqual(['0,5.000000000000000001,7,4,6', '1000,6.5,6.5,6.5,6.5', '4000,8,8,8,8']);
  });

  it('omits the bar in which it starts and bars that were already written', () => {
    const prices = [[1_500, '1'], [2_500, '2'], [3_500, '3'], [4_500, '4']] as const; // prettier-ignore
    expect(record(prices, 1_200)).toEqual(['2000,2,2,2,2', '3000,3,3,3,3']);
    expect(record(prices, 0, 2_000)).toEqual(['3000,3,3,3,3']);
  });

  it('ignores a price of a bar that has ended', () => {
    const prices = [[100, '1'], [1_100, '2'], [900, '9'], [1_200, '3'], [2_000, '4']] as const; // prettier-ignore
    expect(record(prices)).toEqual(['0,1,1,1,1', '1000,2,3,2,3']);
  });

  it('writes files that data import reads', async () => {
    const lines = record(Array.from({ length: 8 }, (_, n) => [n * 500, `1${n}.5`] as const));
    const bytes = Buffer.from(`${[SEEN_HEADER, ...lines].join('\n')}\n`);
    const { tape, report } = await importTape([{ name: 'btcusd.csv', bytes }], {
      pair: 'btcusd',
      unit: 'ms',
    });
    expect([tape.barMs, [...tape.close], report.withoutVolume]).toEqual([1_000, [11.5, 13.5, 15.5], 3]);
  });
});
