import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visitedOver } from '../../src/backtest/every-row.ts';
import { solvedOver } from '../../src/backtest/possible.ts';
import type { NextPossible } from '../../src/backtest/tape-market.ts';
import { decimalText, knownAt, lastKnownRow } from '../../src/backtest/tape.ts';
import type { Tape } from '../../src/backtest/tape.ts';
import { price, quantity, ratio } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { driftOf } from '../../src/core/portfolio.ts';
import { instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Wait } from '../../src/core/wake.ts';
import type { Lookout } from '../../src/engine/ports.ts';
import { manners, tapeFrom, tapeInManner } from './markets.ts';

/** All instants at which it may come true, as a market asks for them. */
function instantsOf(next: NextPossible, lookout: Lookout, from: Instant): readonly number[] {
  const found: number[] = [];
  let at = from;
  for (;;) {
    const answer = next(lookout, at);
    if (answer === undefined) return found;
    if (typeof answer === 'number') found.push(answer);
    const later = typeof answer === 'number' ? answer : answer.lookedUntil;
    expect(later).toBeGreaterThan(at);
    at = later;
  }
}

/** What visiting every row finds is what the search by an index finds, which other tests hold to decimals. */
function expectSame(
  tapes: readonly Tape[],
  lookout: Lookout,
  ahead: number,
  isTrue: (at: number) => boolean = () => true,
): { readonly found: number; readonly toldOnly: number } {
  const from = instant(Math.min(...tapes.map((tape) => knownAt(tape, 0))) - 1);
  const solved = instantsOf(solvedOver(tapes), lookout, from);
  const visited = instantsOf(visitedOver(tapes, ahead), lookout, from);
  const found = visited.filter((at) => solved.includes(at) || isTrue(at));
  expect(found).toStrictEqual(solved);
  return { found: found.length, toldOnly: visited.length - found.length };
}

/** Whether decimals say that a band is left at an instant: doubles leave to them what lies within their rounding, or is worth nothing. */
function isLeft(
  tapes: readonly Tape[],
  wait: Wait & { on: 'drift' },
  holdings: ReadonlyMap<string, Quantity>,
): (at: number) => boolean {
  return (at) => {
    const midOf = (pair: string) => {
      const tape = tapes.find((one) => one.pair === pair);
      const row = tape === undefined ? -1 : lastKnownRow(tape, instant(at));
      return row < 0 ? undefined : price(decimalText(tape?.close[row] ?? 0));
    };
    const drift = driftOf(wait, { holdings, midOf });
    return drift !== undefined && drift.gt(ratio(wait.threshold));
  };
}

const ahead = fc.constantFrom(0.3, 1, 2, 7);

describe('visiting every row', () => {
  it('finds every price beyond a level, and no other instant', () => {
    let found = 0;
    const cases = fc.record({
      manner: manners(120),
      is: fc.constantFrom('at_or_below', 'at_or_above'),
      row: fc.nat(),
      away: fc.constantFrom(0, 0, 5, -5, 40, -40),
      ahead,
    });
    fc.assert(
      fc.property(cases, ({ manner, is, row, away, ahead: bars }) => {
        const tape = tapeInManner('btcusd', manner);
        const level = decimalText((tape.close[row % tape.rows] ?? 0) * (1 + away / 1000));
        const wait = { on: 'price', pair: 'btcusd', is, level, notBefore: instant(0) } as const;
        found += expectSame([tape], { pairs: ['btcusd'], wait }, bars).found;
      }),
      { numRuns: 600 },
    );
    expect(found).toBeGreaterThan(700);
  });

  it('finds every breach of a band, over tapes of the same bars and of others', () => {
    let found = 0;
    let toldOnly = 0;
    const cases = fc.record({
      manners: fc.array(manners(80), { minLength: 1, maxLength: 3 }),
      isSame: fc.boolean(),
      threshold: fc.constantFrom('0.003', '0.01', '0.05'),
      owed: fc.constantFrom(0, 0, 30),
      ahead,
    });
    fc.assert(
      fc.property(cases, ({ manners: drawn, isSame, threshold, owed, ahead: bars }) => {
        const [leader] = drawn;
        const names = ['btc', 'eth', 'sol'].slice(0, drawn.length);
        const tapes = drawn.map((manner, i) => {
          const { barMs = 1, startMs = 0 } = isSame ? (leader ?? {}) : manner;
          const rows = isSame ? (leader?.rows ?? []).map((row, k) => ({ ...row, step: manner.rows[k % manner.rows.length]?.step ?? 0 })) : manner.rows; // prettier-ignore
          return tapeInManner(`${names[i]}usd`, { ...manner, barMs, startMs: isSame ? startMs : startMs % 1_000_000, rows }); // prettier-ignore
        });
        const each = (1 / (names.length + 1)).toFixed(6);
        const targets = { ...Object.fromEntries(names.map((name) => [name, each])), usd: (1 - names.length * Number(each)).toFixed(6) }; // prettier-ignore
        const holdings = new Map([
          ...names.map(
            (name, i) => [name, quantity((100 / (tapes[i]?.close[0] ?? 1)).toPrecision(9))] as const,
          ),
          ['usd', quantity(String(100 - owed * 5))] as const,
        ]);
        const wait = { on: 'drift', targets, cash: 'usd', driftType: 'absolute', threshold, notBefore: instant(0) } as const; // prettier-ignore
        const lookout = { pairs: tapes.map(({ pair }) => pair), wait, holdings };
        const seen = expectSame(tapes, lookout, bars, isLeft(tapes, wait, holdings));
        found += seen.found;
        toldOnly += seen.toldOnly;
      }),
      { numRuns: 400 },
    );
    expect(found).toBeGreaterThan(700);
    expect(toldOnly).toBeLessThan(found / 20);
  });

  it('tells of every row where nothing says what is waited for, and of none where a pair has no prices', () => {
    const tape = tapeFrom('btcusd', 10, [[0, 1], [10, 1], [50, 1]]); // prettier-ignore
    const from = instant(0);

    expect(instantsOf(visitedOver([tape]), { pairs: ['btcusd'] }, from)).toStrictEqual([10, 20, 60]);
    const wait = { on: 'drift', targets: { btc: '0.5', eth: '0.5' }, cash: 'usd', driftType: 'absolute', threshold: '0', notBefore: from } as const; // prettier-ignore
    const holdings = new Map([['btc', quantity('1')]]);
    expect(instantsOf(visitedOver([tape]), { pairs: ['btcusd', 'ethusd'], wait, holdings }, from)).toStrictEqual([]); // prettier-ignore
  });
});
