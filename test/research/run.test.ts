import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import { DAY_MS, MINUTE_MS, isoOf } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/state/strategy-source.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { ptsSchema } from '../../src/simulator/options/options.ts';
import { aPolicy, aStrategy, aTwap } from '../engine/harness.ts';
import { aBacktest, aRun, at, fillsOf, stillTape, walkTape } from './bench.ts';

const btc = walkTape({ pair: 'btcusd', rows: 700, startPrice: 60_000 });
const aRebalance = aStrategy('band', 'rebalance', {
  target_weights: { btc: '0.5', usd: '0.5' },
  drift_type: 'absolute',
  drift_threshold: '0.01',
  min_trade_notional: { amount: '10', currency: 'usd' },
});

describe('a backtest', () => {
  it('trades a twap to its total, each slice at the price of its time', () => {
    const ran = aRun({
      tapes: [btc],
      strategies: [aTwap('twap', { duration: 'PT100M', slices: 10 })],
      model: { halfSpreadBps: 0, impactBps: 0 },
    });
    const fills = fillsOf(ran);
    expect(fills).toHaveLength(10);
    const known = fills.map(({ at: when }) => {
      const row = Math.floor((when - (btc.times[0] ?? 0)) / MINUTE_MS) - 1;
      return btc.close[row]?.toFixed(2);
    });
    // Without a spread the venue still rounds up to a cent.
    fills.forEach(({ price }, i) => {
      expect(Math.abs(Number(price) - Number(known[i]))).toBeLessThan(0.011);
    });
    expect([...ran.journal.read()].at(-1)?.body).toMatchObject({ kind: 'stopped', why: 'done' });
  });

  it('writes the same journal in pieces as in one run', () => {
    const shape = { tapes: [btc], strategies: [aTwap('twap', { duration: 'PT5H', slices: 60 }), aRebalance] };
    const whole = aRun(shape);
    const pieces = aBacktest(shape);
    for (let minute = 1; !pieces.run(at(minute * 7)); minute++) expect(minute).toBeLessThan(200);
    expect(pieces.journal.head()).toEqual(whole.journal.head());
  });

  it('ends with the tape and decides no trade after it', () => {
    const ran = aRun({
      tapes: [btc],
      strategies: [
        aTwap('twap', { duration: 'PT24H', slices: 1440, total_quantity: { amount: '20', currency: 'btc' } }),
      ],
      until: at(61),
    });
    const last = [...ran.journal.read()].at(-1);
    expect(last?.body).toMatchObject({ kind: 'stopped', why: 'the end of the tape' });
    expect(last?.at).toBe(at(61));
    const wakes = [...ran.journal.read()].filter(({ body }) => body.kind === 'wake');
    expect(Math.max(...wakes.map(({ at: when }) => when))).toBeLessThan(at(61));
  });

  it('does not trade in a gap of the tape that is longer than the model allows, and continues after it', () => {
    const holed = walkTape({
      pair: 'btcusd',
      rows: 400,
      startPrice: 60_000,
      isMissing: (row) => row >= 100 && row < 250,
    });
    const ran = aRun({
      tapes: [holed],
      strategies: [aTwap('twap', { duration: 'PT6H', slices: 36 })],
      model: { gapMax: 20 * MINUTE_MS },
    });
    const times = fillsOf(ran).map(({ at: when }) => (when - at(0)) / MINUTE_MS);
    // Row 99 is known at minute 100; its bar and the longest permitted gap end 21 minutes later; row 250 is known at 251.
    expect(times.filter((minute) => minute > 121.1 && minute < 251)).toEqual([]);
    expect(times.some((minute) => minute > 105 && minute <= 121)).toBe(true);
    expect(times.some((minute) => minute >= 251)).toBe(true);
    const why = [...ran.journal.read()].flatMap(({ body }) =>
      body.kind === 'slice' ? (body.reason ?? []) : [],
    );
    expect(why).toContain('no_reference');
  });

  it('uses a price through a gap of one hour, or of one bar if bars are longer, by default', () => {
    const days = (missing: readonly number[]): Tape =>
      walkTape({ pair: 'btcusd', rows: 12, barMs: DAY_MS, startPrice: 60_000, isMissing: (row) => missing.includes(row) }); // prettier-ignore
    const traded = (missing: readonly number[]): number =>
      fillsOf(aRun({ tapes: [days(missing)], strategies: [aTwap('twap', { duration: 'P10D', slices: 10 })] })).length; // prettier-ignore
    expect([traded([]), traded([4]), traded([4, 5])]).toEqual([10, 10, 9]);
  });

  it('charges interest until the end of its window, however early its desk ends', () => {
    const until = at(20 * 1_440);
    const paid = (...more: readonly StrategySource[]): readonly unknown[] => {
      const lever = aTwap('lever', { total_quantity: { amount: '1500', currency: 'btc' }, start_time: isoOf(at(180)), duration: 'PT2H', slices: 2 });
      const ran = aRun({
        tapes: [stillTape(20 * 1_440, 100)],
        until,
        strategies: [lever, ...more],
        holdings: { usd: '100000' },
        model: { halfSpreadBps: 0, impactBps: 0, quoteLatencyMs: 0, orderLatencyMs: 0, unavailableShare: 0, maxUsd: '1000000', pts: ptsSchema.parse({ default_mode: 'Enabled' }) },
        policy: { pts: { ...aPolicy().pts, use: 'when_enabled' } },
      });
      const charged = ran.exchange.interest('desk', until);
      const sum = (charged.ok ? charged.value : []).reduce((all, { amount }) => all + Number(amount), 0);
      return [sum.toFixed(2), text(ran.valueAt(until))];
    };
    // 50 000 usd borrowed at 4:00: 452 hours after the first day, at 8 % a year: 50 000 · 0.08 · 452 / 8 760, cut to cents.
    expect(paid()).toEqual(['206.39', '99793.61']);
    // An unrelated strategy, which keeps the desk running, changes nothing.
    expect(paid(aTwap('late', { total_quantity: { amount: '0.1', currency: 'btc' }, side: 'sell', start_time: isoOf(at(19 * 1_440)), limit_price: '200' }))).toEqual(['206.39', '99793.61']);
  }); // prettier-ignore

  it('reads its account once if only its own trades can change it', () => {
    const read: number[] = [];
    const tapes: readonly Tape[] = [walkTape({ pair: 'btcusd', rows: 2_000, startPrice: 60_000 })];
    aRun({ tapes, strategies: [aRebalance], observer: { accountRead: (rows) => read.push(rows) } });
    expect(read).toEqual([1]);
  });
});
