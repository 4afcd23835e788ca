import fc from 'fast-check';
import { indexPrices } from '../../src/research/tape/index.ts';
import type { History } from '../../src/research/run/history.ts';
import { tapeOf } from '../../src/research/tape/tape.ts';
import type { Tape } from '../../src/research/tape/tape.ts';

/** A tape of these closes. */
export function tapeFrom(
  pair: string,
  barMs: number,
  rows: readonly (readonly [at: number, close: number])[],
): Tape {
  const close = Float64Array.from(rows, (row) => row[1]);
  const times = Float64Array.from(rows, (row) => row[0]);
  const volume = new Float64Array(rows.length).fill(1);
  return tapeOf({ pair, barMs, columns: { times, open: close, high: close, low: close, close, volume } });
}

export const historyOf = (tape: Tape): History => ({ tape, index: indexPrices(tape) });

/** The properties of a random tape. */
export interface Manner {
  readonly barMs: number;
  readonly startMs: number;
  /** Bars that are missing after each row, and how far the price moves. A step of 0 repeats the price. */
  readonly rows: readonly { readonly gap: number; readonly step: number }[];
  readonly price: number;
}

const BARS_MS = [0, 1, 7, 1_000, 60_000, 3_600_000, 86_400_000];

/** Tapes of all lengths from one row: quiet stretches, repeated prices, jumps, gaps of all lengths, trades of one instant. */
export const manners = (rowsMax: number): fc.Arbitrary<Manner> =>
  fc.record({
    barMs: fc.constantFrom(...BARS_MS),
    startMs: fc.nat(400_000_000),
    price: fc.constantFrom(0.000_012_34, 0.07, 1, 9.99, 250, 61_234.5),
    rows: fc.array(
      fc.record({
        gap: fc.oneof(
          { weight: 8, arbitrary: fc.constant(0) },
          { weight: 2, arbitrary: fc.nat(9) },
          fc.nat(5_000),
        ),
        step: fc.oneof(
          { weight: 3, arbitrary: fc.constant(0) },
          { weight: 8, arbitrary: fc.integer({ min: -20, max: 20 }) },
          { weight: 1, arbitrary: fc.integer({ min: -450, max: 900 }) },
        ),
      }),
      { minLength: 1, maxLength: rowsMax },
    ),
  });

/** Prices move in thousandths and are rounded to six digits, so that they repeat. */
export function tapeInManner(pair: string, { barMs, startMs, rows, price }: Manner): Tape {
  let at = startMs;
  let close = price;
  return tapeFrom(
    pair,
    barMs,
    rows.map(({ gap, step }) => {
      close = Number(Math.max(close * (1 + step / 1000), 1e-7).toPrecision(6));
      const row = [at, close] as const;
      // Several trades may share an instant.
      at += barMs === 0 ? gap : barMs * (1 + gap);
      return row;
    }),
  );
}
