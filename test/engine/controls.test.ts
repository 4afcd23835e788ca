import { describe, expect, it } from 'vitest';
import { add, money, NO_MONEY, quantity, text } from '../../src/core/money.ts';
import type { ControlRecord, SliceRecord } from '../../src/core/record.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { faultyVenue } from './faulty-venue.ts';
import { ledgerTrades, overExecuted } from './oracle.ts';
import { aPolicy, aTwap, nextProcess, started, leastGap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const { limits } = aPolicy();

const ran = (options: BenchOptions, forMs = 30 * MINUTE_MS): Bench => started(options, forMs);
const sliceEnds = (bench: Bench): readonly SliceRecord[] => bench.bodies('slice');
const controls = (bench: Bench): readonly ControlRecord[] => bench.bodies('control');

describe('a slice ended by a limit', () => {
  it('records both if it expired because of the limit', () => {
    const bench = ran({
      strategies: [aTwap('twap', { slices: 1, limit_price: '1' })],
    });
    const [end] = sliceEnds(bench);
    expect(end).toMatchObject({ result: 'expired', reason: 'limit_price' });
    expect(end?.detail).toMatch(/^limit=1 value=\d+/u);
  });
});

describe('an execution throttle', () => {
  it('halts the desk before a pair exceeds its executions per minute, and a restart does not lift the halt', () => {
    const options = {
      strategies: [aTwap('twap', { slices: 10, duration: 'PT50S' })],
      policy: { limits: { ...limits, minuteExecutionsMax: 3 } },
    };
    const bench = ran(options, 3 * MINUTE_MS);
    expect(ledgerTrades(bench.exchange)).toHaveLength(3);
    expect(bench.desk.control).toBe('halted');
    expect(controls(bench)[0]?.why).toBe('repeated_execution: limit=3 a minute of btcusd value=4');
    const next = nextProcess(bench, 0, options);
    next.until(6 * MINUTE_MS);
    expect(next.desk.control).toBe('halted');
    expect(ledgerTrades(next.exchange)).toHaveLength(3);
  });

  it('delays an order that duplicates one just sent by another parent', () => {
    const one = { slices: 1, duration: 'PT1M' };
    const bench = ran(
      {
        strategies: [aTwap('one', one), aTwap('two', one)],
        policy: { limits: { ...limits, duplicateMs: 2_000 } },
      },
      2 * MINUTE_MS,
    );
    expect(bench.timed('quote')).toHaveLength(2);
    expect(leastGap(bench.timed('quote'))).toBeGreaterThanOrEqual(2_000);
  });
});

describe('day totals', () => {
  it('survive a restart', () => {
    const dayNotionalMax = money('65000');
    const options = {
      strategies: [aTwap('twap', { total_quantity: { amount: '2', currency: 'btc' }, slices: 20 })],
      policy: { limits: { ...limits, dayNotionalMax } },
    };
    const bench = ran(options, 4 * MINUTE_MS);
    const next = nextProcess(bench, 0, options);
    next.until(12 * MINUTE_MS);
    const spent = ledgerTrades(next.exchange).reduce((sum, { amount }) => add(sum, amount), NO_MONEY);
    expect(spent.lte(dayNotionalMax)).toBe(true);
    expect(spent.gt(50_000)).toBe(true);
    expect(sliceEnds(next).map(({ reason }) => reason)).toContain('day_limit');
  });
});

describe('a position', () => {
  it('never rises above its ceiling', () => {
    const ceiling = quantity('0.35');
    const bench = ran({
      strategies: [aTwap('twap')],
      venue: { accounts: [{ balances: { usd: '1000000' } }] },
      policy: { limits: { ...limits, positionMax: new Map([['btc', ceiling]]) } },
    });
    expect(ledgerTrades(bench.exchange)).toHaveLength(3);
    expect(sliceEnds(bench).at(-1)).toMatchObject({ reason: 'position_limit' });
  });

  it('never falls below its floor', () => {
    const bench = ran({
      strategies: [aTwap('twap', { side: 'sell' })],
      venue: { accounts: [{ balances: { btc: '1', usd: '0' } }] },
      policy: { limits: { ...limits, positionMin: new Map([['btc', quantity('0.65')]]) } },
    });
    // Three slices whole, and of the fourth what is left above the floor.
    const sold = ledgerTrades(bench.exchange).map(({ quantity: amount }) => text(amount));
    expect(sold).toEqual(['0.1', '0.1', '0.1', '0.05']);
    expect(sliceEnds(bench).at(-1)).toMatchObject({
      reason: 'position_limit',
      detail: 'limit=min_position 0.65 btc value=0.5',
    });
  });
});

describe('a pair', () => {
  it('is paused after five unusable answers in a row', () => {
    let asked = 0;
    const bench = ran(
      {
        strategies: [aTwap('twap', { slices: 1, duration: 'PT20M' })],
        wrap: faultyVenue({
          quote: ({ clientId }) =>
            clientId === undefined ? undefined : (asked++, { kind: 'garbled', status: 200, why: 'no JSON' }),
        }),
      },
      15 * MINUTE_MS,
    );
    expect(asked).toBe(5);
    expect(controls(bench)).toMatchObject([{ state: 'paused', pair: 'btcusd' }]);
    expect(overExecuted(bench.exchange, bench.records())).toEqual([]);
  });
});
