import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalText, knownAt, lastKnownRow, priceAt } from '../../src/research/tape/tape.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { nextCrossing, nextPriceAt } from '../../src/research/run/solve.ts';
import { isBeyond } from '../../src/core/reference-price.ts';
import { price } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Beyond } from '../../src/core/wake.ts';
import { historyOf, manners, tapeFrom, tapeInManner } from './markets.ts';

interface Crossing {
  readonly is: Beyond;
  readonly level: string;
}

/** The first crossing that a check of every price finds, with decimals. */
function scanned(tape: Tape, { is, level }: Crossing, from: Instant): number | undefined {
  const isWanted = (row: number): boolean => isBeyond(priceAt(tape.close, row), is, price(level));
  const known = lastKnownRow(tape, from);
  if (known >= 0 && isWanted(known)) return from;
  for (let row = known + 1; row < tape.rows; row++) {
    const at = knownAt(tape, row);
    if (row + 1 < tape.rows && knownAt(tape, row + 1) === at) continue;
    if (isWanted(row)) return at;
  }
  return undefined;
}

const cases = fc.record({
  manner: manners(150),
  is: fc.constantFrom<Beyond>('at_or_below', 'at_or_above'),
  /** The level is the price of a row, moved by some thousandths or by a digit that a double cannot hold. */
  row: fc.nat(),
  away: fc.oneof(fc.constant(0), fc.integer({ min: -300, max: 300 })),
  tail: fc.constantFrom('', '00000000000000001', '9'),
  from: fc.double({ min: -0.1, max: 1.1, noNaN: true }),
});

describe('the next crossing of a level', () => {
  it('is the crossing that a check of every price finds', () => {
    let found = 0;
    let exact = 0;
    fc.assert(
      fc.property(cases, ({ manner, is, row, away, tail, from: part }) => {
        const tape = tapeInManner('btcusd', manner);
        const near = decimalText((tape.close[row % tape.rows] ?? 0) * (1 + away / 1000));
        const level = near + (tail === '' ? '' : near.includes('.') ? tail : `.${tail}`);
        const [begins, ends] = [knownAt(tape, 0), knownAt(tape, tape.rows - 1)];
        const from = instant(Math.round(begins + part * (ends - begins + 1)));
        const wanted = scanned(tape, { is, level }, from);
        if (wanted !== undefined) found++;
        if (wanted !== undefined && priceAt(tape.close, lastKnownRow(tape, instant(wanted))).eq(level))
          exact++;

        expect(nextCrossing(historyOf(tape), { is, level }, from)).toBe(wanted);
      }),
      { numRuns: 3_000 },
    );
    expect(found).toBeGreaterThan(1_000);
    expect(exact, 'prices that are the level itself').toBeGreaterThan(100);
  });
});

describe('the next price', () => {
  it('is the next one to become known, of any pair', () => {
    const one = historyOf(tapeFrom('btcusd', 60_000, [[0, 10], [180_000, 5]])); // prettier-ignore
    const two = historyOf(tapeFrom('ethusd', 0, [[70_000, 1], [70_000, 2]])); // prettier-ignore
    const after = (at: number) => nextPriceAt([one.tape, two.tape], instant(at));

    expect([0, 59_999, 60_000, 70_000, 239_999, 240_000].map(after)).toStrictEqual([
      60_000,
      60_000,
      70_000,
      240_000,
      240_000,
      undefined,
    ]);
  });
});
