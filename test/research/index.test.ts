import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundsAt, floatAbove, floatBelow, indexPrices, LEVELS } from '../../src/research/tape/index.ts';
import type { PriceIndex } from '../../src/research/tape/index.ts';
import { instant } from '../../src/core/time.ts';
import { lastKnownRow } from '../../src/research/tape/tape.ts';
import { manners, tapeFrom, tapeInManner } from './markets.ts';

const widthOf = (index: PriceIndex, level: number): number => 2 ** index.exponent * 4 ** level;

describe('the index of a tape', () => {
  it('bounds every price that is known during a block, on every level', () => {
    fc.assert(
      fc.property(manners(120), (manner) => {
        const tape = tapeInManner('btcusd', manner);
        const index = indexPrices(tape);
        for (let level = 0; level < LEVELS; level++) {
          const bounds = index.bounds[level] ?? new Float32Array(0);
          for (let row = 0; row < tape.rows; row++) {
            const at = (tape.times[row] ?? 0) + tape.barMs;
            const until = (tape.times[row + 1] ?? tape.times[row] ?? 0) + tape.barMs;
            const placeOf = (time: number): number =>
              boundsAt(bounds, index.first[level] ?? 0, Math.floor(time / widthOf(index, level)));
            // A price counts until the next one, also in blocks without a row and at the start of the next block.
            const last = placeOf(row === tape.rows - 1 ? Infinity : Math.max(at, until - 1));
            for (let place = placeOf(at); place <= last; place += 2) {
              expect(bounds[place]).toBeLessThanOrEqual(tape.close[row] ?? 0);
              expect(bounds[place + 1]).toBeGreaterThanOrEqual(tape.close[row] ?? 0);
            }
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('contains the first row that is known in each of the narrowest blocks', () => {
    fc.assert(
      fc.property(manners(120), (manner) => {
        const tape = tapeInManner('btcusd', manner);
        const index = indexPrices(tape);
        const starts = [...index.starts];
        const begins = starts.map((_, block) => ((index.first[0] ?? 0) + block) * widthOf(index, 0));
        const wanted = begins.map((at) => lastKnownRow(tape, instant(at - 1)) + 1);

        expect(starts).toStrictEqual(wanted);
      }),
      { numRuns: 500 },
    );
  });

  it('can be built from zero rows and from one row', () => {
    const none = {
      times: new Float64Array(0),
      close: new Float64Array(0),
      barMs: 60_000,
      rows: 0,
      hash: 'f'.repeat(64),
    };
    const one = tapeFrom('btcusd', 60_000, [[1_600_000_000_000, 5]]);

    expect(indexPrices(none).bounds.every(({ length }) => length === 0)).toBe(true);
    expect(indexPrices(one).bounds.map((level) => [...level])).toStrictEqual(
      Array.from({ length: LEVELS }, () => [5, 5, 5, 5]),
    );
    expect([...indexPrices(one).starts]).toStrictEqual([0, 1]);
  });
});

describe('a bound of an index', () => {
  it('is the nearest 32-bit float that does not exclude the bounded price', () => {
    const value = fc.oneof(
      fc.double({ min: 0, max: 1e38, noNaN: true }),
      fc.double({ min: 0, max: 100, noNaN: true }),
      fc.double({ min: 0, max: 1e-40, noNaN: true }),
    );
    fc.assert(
      fc.property(value, (x) => {
        const [low, high] = [floatBelow(x), floatAbove(x)];
        expect([Math.fround(low), Math.fround(high)]).toStrictEqual([low, high]);
        expect(low).toBeLessThanOrEqual(x);
        expect(high).toBeGreaterThanOrEqual(x);
        expect([low, high]).toContain(Math.fround(x));
        expect(high - low).toBeLessThanOrEqual(Math.max(x * 2 ** -23, 2 ** -149));
      }),
      { numRuns: 5_000 },
    );
    expect(floatAbove(1e39)).toBe(Infinity);
    expect(floatBelow(1e39)).toBeLessThan(1e39);
    expect(floatBelow(1e-46)).toBe(0);
  });
});
