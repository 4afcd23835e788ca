import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decimalText,
  faultIn,
  hashOf,
  knownAt,
  lastKnownRow,
  priceAt,
  tapeOf,
} from '../../src/research/tape/tape.ts';
import type { Columns } from '../../src/research/tape/tape.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { text } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';

type Rows = Partial<Record<keyof Columns, readonly number[]>>;

const columnsOf = (rows: Rows = {}): Columns => ({
  times: Float64Array.from(rows.times ?? [60_000, 120_000, 240_000]),
  open: Float64Array.from(rows.open ?? [1, 2, 3]),
  high: Float64Array.from(rows.high ?? [3, 4, 5]),
  low: Float64Array.from(rows.low ?? [0.5, 1, 2]),
  close: Float64Array.from(rows.close ?? [2, 3.1, 4]),
  volume: Float64Array.from(rows.volume ?? [7.5, 0, Number.NaN]),
});
const minuteTape = (rows?: Rows) => tapeOf({ pair: 'btcusd', barMs: 60_000, columns: columnsOf(rows) });

describe('a tape', () => {
  it('accepts consistent columns', () => {
    const tape = minuteTape();
    expect(tape).toMatchObject({ pair: 'btcusd', barMs: 60_000, rows: 3 });
    expect([...tape.close]).toEqual([2, 3.1, 4]);
    expect(tape.hash).toMatch(/^[0-9a-f]{64}$/u);
  });

  it('has a hash that changes with every number', () => {
    const hashes = [
      hashOf(columnsOf()),
      hashOf(columnsOf({ times: [60_000, 120_000, 240_001] })),
      hashOf(columnsOf({ low: [0.5, 1, 2.000000000000001] })),
      hashOf(columnsOf({ volume: [7.5, 0, 0] })),
    ];
    expect(new Set(hashes).size).toBe(4);
    expect(hashOf(columnsOf())).toBe(hashes[0]);
  });

  it('knows a close from the end of its bar, not before', () => {
    const tape = minuteTape();
    const known = [119_999, 120_000, 179_999, 180_000, 299_999, 300_000, 1e12].map((at) =>
      lastKnownRow(tape, instant(at)),
    );
    expect(known).toEqual([-1, 0, 0, 1, 1, 2, 2]);
    expect(knownAt(tape, 0)).toBe(120_000);
  });

  it('knows only the last of several trades in one instant', () => {
    const one = [1, 1, 1];
    const columns = columnsOf({ times: [5, 5, 9], open: one, high: one, low: one, close: one });
    const tape = tapeOf({ pair: 'btcusd', barMs: 0, columns });
    expect([4, 5, 8, 9].map((at) => lastKnownRow(tape, instant(at)))).toEqual([-1, 1, 1, 2]);
  });

  const broken: Readonly<Record<string, Rows>> = {
    'row 2: its time 1970-01-01T00:01:00.000Z is not after': { times: [60_000, 60_000, 240_000] },
    'row 3: its time 1970-01-01T00:01:00.000Z is not after': { times: [60_000, 120_000, 60_000] },
    'row 2: starts before the previous bar': { times: [60_000, 119_999, 240_000] },
    'row 1: its time 0.5 is not Unix milliseconds': { times: [0.5, 120_000, 240_000] },
    'row 3: its time 1700000000000000 is not Unix milliseconds': { times: [60_000, 120_000, 1.7e15] },
    'row 1: its open 0 is not a price': { open: [0, 2, 3] },
    'row 2: its close NaN is not a price': { close: [2, Number.NaN, 4] },
    'row 3: its high Infinity is not a price': { high: [3, 4, Infinity] },
    'row 3: its low -1 is not a price': { low: [0.5, 1, -1] },
    'row 2: its high 3 is below its close 3.1': { high: [3, 3, 5] },
    'row 1: its high 0.4 is below its low 0.5': { high: [0.4, 4, 5] },
    'row 2: its low 2.5 is above its open 2': { low: [0.5, 2.5, 2] },
    'row 1: its volume -1 is below zero': { volume: [-1, 0, 0] },
    'row 1: its volume is not finite': { volume: [Infinity, 0, 0] },
    'row 1: 2 values of close for 3 times': { close: [2, 3] },
    'there are no rows': { times: [], open: [], high: [], low: [], close: [], volume: [] },
  };
  it.each(Object.entries(broken))('is refused with the row: %s', (message, rows) => {
    expect(() => minuteTape(rows)).toThrow(OperatorError);
    expect(() => minuteTape(rows)).toThrow(message);
  });

  it('is refused with an invalid pair or an invalid bar length', () => {
    expect(() => tapeOf({ pair: 'BTC/USD', barMs: 60_000, columns: columnsOf() })).toThrow('is not a pair');
    expect(faultIn(columnsOf(), -1)?.why).toContain('bars of -1 ms');
    expect(faultIn(columnsOf(), 0.5)?.why).toContain('bars of 0.5 ms');
  });
});

describe('the decimal of a price', () => {
  it('is the shortest text of its double, without an exponent', () => {
    const texts = [0.1, 41_234.56, 1e-7, 1.25e-9, 1e21, 1.234e22, -2.5e-8, 5e-324].map(decimalText);
    expect(texts.slice(0, 7)).toEqual([
      '0.1',
      '41234.56',
      '0.0000001',
      '0.00000000125',
      '1000000000000000000000',
      '12340000000000000000000',
      '-0.000000025',
    ]);
    expect(texts[7]).toHaveLength('0.'.length + 324);
  });

  it('equals every decimal of up to 15 digits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999_999_999 }), fc.nat({ max: 12 }), (digits, places) => {
        const plain = digits.toString().padStart(places + 1, '0');
        const whole = places === 0 ? plain : `${plain.slice(0, -places)}.${plain.slice(-places)}`;
        const written = whole.includes('.') ? whole.replace(/\.?0+$/u, '') : whole;
        expect(decimalText(Number(whole))).toBe(written);
        expect(text(priceAt(Float64Array.of(Number(whole)), 0))).toBe(written);
      }),
    );
  });

  it('is the shortest text even if it has more digits', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e18, noNaN: true }), (value) => {
        const shortest = decimalText(value);
        expect(text(priceAt(Float64Array.of(value), 0))).toBe(shortest);
      }),
    );
  });
});
