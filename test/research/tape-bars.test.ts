import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS, after, instant } from '../../src/core/time.ts';
import { TapeBars } from '../../src/research/tape/tape-bars.ts';
import { tapeOf } from '../../src/research/tape/tape.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { START } from '../engine/harness.ts';
import { walkTape } from './bench.ts';

const wild = (tape: Tape): Tape => {
  const high = tape.close.map((close, row) => close * (1 + ((row * 7) % 11) / 100));
  const low = tape.close.map((close, row) => close * (1 - ((row * 5) % 13) / 100));
  const columns = { ...tape, high, low, open: tape.close.slice() };
  return tapeOf({ pair: tape.pair, barMs: tape.barMs, columns });
};

/** The plain rule: the rows whose close becomes known in the interval, excluding its start. */
function plainBars(tape: Tape, at: number, intervalMs: number): readonly object[] {
  const bars = new Map<number, number[]>();
  for (let row = 0; row < tape.rows; row++) {
    const known = (tape.times[row] ?? 0) + tape.barMs;
    const from = (Math.ceil(known / intervalMs) - 1) * intervalMs;
    if (from >= (tape.times[0] ?? 0) && from + intervalMs <= at)
      bars.set(from, [...(bars.get(from) ?? []), row]);
  }
  return [...bars].map(([from, rows]) => ({
    from,
    open: String(tape.open[rows[0] ?? 0]),
    high: String(Math.max(...rows.map((row) => tape.high[row] ?? 0))),
    low: String(Math.min(...rows.map((row) => tape.low[row] ?? 0))),
    close: String(tape.close[rows.at(-1) ?? 0]),
  }));
}

const shown = (bars: ReturnType<TapeBars['newest']>): readonly object[] =>
  bars.map(({ from, open, high, low, close }) => ({ from, open: text(open), high: text(high), low: text(low), close: text(close) })); // prettier-ignore

describe('bars that are built from a tape', () => {
  it('match the plain rule in any order of queries, also over gaps', () => {
    const tape = wild(walkTape({ pair: 'btcusd', rows: 400, startsAt: START + 7 * MINUTE_MS, isMissing: (row) => row % 50 > 38 || (row > 120 && row < 190) }));
    const asked = fc.array(fc.tuple(fc.integer({ min: 0, max: 420 }), fc.constantFrom(1, 5, 15, 60), fc.integer({ min: 1, max: 30 }), fc.constantFrom(-1, 0, 1)), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(asked, (asks) => {
        const bars = new TapeBars(tape);
        for (const [minutes, length, count, ms] of asks) {
          const at = after(START, minutes * MINUTE_MS + ms);
          const plain = plainBars(tape, at, length * MINUTE_MS).slice(-count);
          expect(shown(bars.newest(at, length * MINUTE_MS, count))).toEqual(plain);
        }
      }),
    );
  }); // prettier-ignore

  it('are refused with a message for an interval that is shorter than the rows', () => {
    const bars = new TapeBars(walkTape({ pair: 'btcusd', rows: 10, barMs: HOUR_MS }));
    expect(() => bars.newest(instant(START + 9 * HOUR_MS), 5 * MINUTE_MS, 3)).toThrow(
      'bars of 300 s cannot be built from btcusd, whose data has bars of 3600 s: use a longer interval, or finer data',
    );
  });
});
