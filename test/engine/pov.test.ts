import { describe, expect, it } from 'vitest';
import { add, NO_QUANTITY, text } from '../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
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
const sum = (amounts: readonly string[]): number => amounts.reduce((all, one) => all + Number(one), 0);

describe('a pov strategy on a tape', () => {
  it('trades exactly its share of each interval, counting only bars that have ended', () => {
    expect(trades(aTape(() => 0.5)).slice(0, 5)).toEqual(['0.5', '0.5', '0.5', '0.5', '0.5']);
    // The first ten minutes trade nothing, the next a btc each.
    expect(trades(aTape((minute) => (minute > 10 && minute <= 20 ? 1 : 0)))).toEqual(['1']);
  });

  it('continues across midnight, where volume restarts, and skips the volume since its last look before midnight', () => {
    const evening = START - (START % (24 * HOUR_MS)) + 21 * HOUR_MS;
    const all = trades(aTape(() => 0.5, evening));
    // Looks are a minute past each ten: one of ten bars is of the new day. The last slice is what was left of the total.
    expect(all).toEqual([...Array.from({ length: 17 }, () => '0.5'), '0.05', '0.5', '0.5', '0.45']);
    expect(sum(all)).toBe(10);
  });

  it('trades exactly its total and ends', () => {
    expect(sum(trades(aTape(() => 5)))).toBe(10);
    expect(
      sum(
        trades(
          aTape(() => 5),
          { max_slice_quantity: { amount: '0.2', currency: 'btc' } },
        ),
      ),
    ).toBeCloseTo(0.2 * 35, 8);
  });

  it('does not trade if the tape has no volume, and records the reason', () => {
    const ran = aRun({ tapes: [aTape(() => Number.NaN)], strategies: plan() });
    expect(ledgerTrades(ran.exchange)).toEqual([]);
    const reasons = [...ran.journal.read()].flatMap(({ body }) =>
      body.kind === 'wake' ? [body.reason] : [],
    );
    expect(new Set(reasons.slice(1, -1))).toEqual(new Set(['no_volume']));
  });

  it('does not trade beyond its limit price', () => {
    expect(
      trades(
        aTape(() => 0.5),
        { limit_price: '59000' },
      ),
    ).toEqual([]);
  });
});

describe('the btc balance of a desk after a run', () => {
  it('equals the total of the trades at the exchange', () => {
    const { exchange, desk } = aRun({ tapes: [aTape(() => 0.5)], strategies: plan() });
    const traded = ledgerTrades(exchange).reduce((all, { quantity }) => add(all, quantity), NO_QUANTITY);
    expect(text(desk.state.balances?.get('btc') ?? NO_QUANTITY)).toBe(text(traded));
  });
});
