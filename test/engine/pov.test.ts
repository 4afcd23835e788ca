import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { tapeOf } from '../../src/research/tape/tape.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { aRun } from '../research/bench.ts';
import { ledgerTrades } from './oracle.ts';
import { aStrategy, START } from './harness.ts';

/** A day of minutes at one price, in which each trades `volume(minute)`. */
function aTape(volume: (minute: number) => number, startsAt: number = START): Tape {
  const rows = 12 * 60;
  const flat = (): Float64Array => new Float64Array(rows).fill(60_000);
  return tapeOf({
    pair: 'btcusd',
    barMs: MINUTE_MS,
    columns: {
      times: Float64Array.from({ length: rows }, (_, row) => startsAt + row * MINUTE_MS),
      open: flat(),
      high: flat(),
      low: flat(),
      close: flat(),
      volume: Float64Array.from({ length: rows }, (_, row) => volume(row)),
    },
  });
}

const plan = (over: object = {}) => [
  aStrategy('p', 'pov', {
    pair: 'btcusd',
    side: 'buy',
    total_quantity: { amount: '10', currency: 'btc' },
    share: '0.1',
    interval: 'PT10M',
    duration: 'PT6H',
    ...over,
  }),
];
const trades = (tape: Tape, over: object = {}): readonly string[] =>
  ledgerTrades(aRun({ tapes: [tape], strategies: plan(over) }).exchange).map(({ quantity }) =>
    text(quantity),
  );

describe('a pov strategy on a tape', () => {
  it('trades exactly its share of each interval, counting only bars that have ended', () => {
    expect(trades(aTape(() => 0.5)).slice(0, 5)).toEqual(['0.5', '0.5', '0.5', '0.5', '0.5']);
    // The first ten minutes trade nothing, the next a btc each.
    expect(trades(aTape((minute) => (minute > 10 && minute <= 20 ? 1 : 0)))).toEqual(['1']);
  });

  it('does not trade if the tape has no volume, and records the reason', () => {
    const ran = aRun({ tapes: [aTape(() => Number.NaN)], strategies: plan() });
    expect(ledgerTrades(ran.exchange)).toEqual([]);
    const reasons = [...ran.journal.read()].flatMap(({ body }) =>
      body.kind === 'wake' ? [body.reason] : [],
    );
    expect(new Set(reasons.slice(1, -1))).toEqual(new Set(['no_volume']));
  });
});
