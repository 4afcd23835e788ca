import { describe, expect, it } from 'vitest';
import { money, quantity, text, ratio } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Reason } from '../../src/core/reasons.ts';
import type { ClosedHours } from '../../src/core/hours.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../../src/simulator/options/options.ts';
import { inProcessMarket } from '../support/book-market.ts';
import { lineFor } from '../../src/journal/format-record.ts';
import { faultyVenue } from './faulty-venue.ts';
import { ledgerTrades, overExecuted } from './oracle.ts';
import { aPolicy, aTwap, nextProcess, started, leastGap, START } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const { limits } = aPolicy();

const halfAnHour = (options: BenchOptions): Bench => started(options, 30 * MINUTE_MS);

describe('a slice ended by a limit', () => {
  it('records both if it expired because of the limit', () => {
    const bench = halfAnHour({
      strategies: [aTwap('twap', { slices: 1, limit_price: '1' })],
    });
    const [end] = bench.bodies('slice');
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
    const bench = started(options, 3 * MINUTE_MS);
    expect(ledgerTrades(bench.exchange)).toHaveLength(3);
    expect(bench.desk.control).toBe('halted');
    expect(bench.bodies('control')[0]?.why).toBe('repeated_execution: limit=3 a minute of btcusd value=4');
    const next = nextProcess(bench, 0, options);
    next.until(6 * MINUTE_MS);
    expect(next.desk.control).toBe('halted');
    expect(ledgerTrades(next.exchange)).toHaveLength(3);
  });

  it('delays an order that duplicates one just sent by another parent', () => {
    const one = { slices: 1, duration: 'PT1M' };
    const bench = started(
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

describe('a position', () => {
  it('never rises above its ceiling', () => {
    const ceiling = quantity('0.35');
    const bench = halfAnHour({
      strategies: [aTwap('twap')],
      venue: { accounts: [{ balances: { usd: '1000000' } }] },
      policy: { limits: { ...limits, positionMax: new Map([['btc', ceiling]]) } },
    });
    expect(ledgerTrades(bench.exchange)).toHaveLength(3);
    expect(bench.bodies('slice').at(-1)).toMatchObject({ reason: 'position_limit' });
  });

  it('never falls below its floor', () => {
    const bench = halfAnHour({
      strategies: [aTwap('twap', { side: 'sell' })],
      venue: { accounts: [{ balances: { btc: '1', usd: '0' } }] },
      policy: { limits: { ...limits, positionMin: new Map([['btc', quantity('0.65')]]) } },
    });
    // Three slices whole, and of the fourth what is left above the floor.
    const sold = ledgerTrades(bench.exchange).map(({ quantity: amount }) => text(amount));
    expect(sold).toEqual(['0.1', '0.1', '0.1', '0.05']);
    expect(bench.bodies('slice').at(-1)).toMatchObject({
      reason: 'position_limit',
      detail: 'limit=min_position 0.65 btc value=0.5',
    });
  });
});

describe('a pair', () => {
  it('is paused after five unusable answers in a row', () => {
    let asked = 0;
    const bench = started(
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
    expect(bench.bodies('control')).toMatchObject([{ state: 'paused', pair: 'btcusd' }]);
    expect(overExecuted(bench.exchange, bench.records())).toEqual([]);
  });
});

/** The spread alone costs 6 basis points, and nothing moves. */
const still = {
  pairs: {
    btcusd: { startPrice: '60000', halfSpreadBps: 6, volatilityPctYear: 1 },
    ethusd: { startPrice: '3000', halfSpreadBps: 6, volatilityPctYear: 1 },
  },
};

const ran = (options: Partial<BenchOptions>, minutes: number): Bench =>
  started(
    { strategies: [aTwap('t', { slices: 4, duration: 'PT4M' })], venue: still, ...options },
    minutes * MINUTE_MS,
  );
const reasonsOf = (bench: Bench): ReadonlySet<Reason | undefined> =>
  new Set(bench.bodies('slice').map(({ reason }) => reason));
const traded = (bench: Bench): number => ledgerTrades(bench.exchange).length;

describe('a parent with a shortfall limit', () => {
  it('is paused after the fill that exceeds the limit, while another parent continues to trade', () => {
    const two = ran(
      {
        strategies: [
          aTwap('t', { slices: 4, duration: 'PT4M' }),
          aTwap('e', {
            pair: 'ethusd',
            slices: 4,
            duration: 'PT4M',
            total_quantity: { amount: '4', currency: 'eth' },
          }),
        ],
        venue: {
          pairs: { ...still.pairs, ethusd: { startPrice: '3000', halfSpreadBps: 1, volatilityPctYear: 1 } },
        },
        policy: { limits: { ...limits, shortfallBpsMax: ratio('5') } },
      },
      10,
    );
    expect(
      ledgerTrades(two.exchange)
        .map(({ pair }) => pair)
        .toSorted(),
    ).toEqual(['btcusd', 'ethusd', 'ethusd', 'ethusd', 'ethusd']);
    expect(two.bodies('control')).toHaveLength(1);
    expect(two.bodies('control')[0]?.why).toMatch(/^shortfall: limit=5 bps value=[67]\.\d+ bps$/u);
    expect(two.alerts()).toContain('parent_paused');
    expect(two.desk.control).toBe('active');
  });

  it('continues while its shortfall is within the limit', () => {
    const one = ran({ policy: { limits: { ...limits, shortfallBpsMax: ratio('8') } } }, 10);
    expect([traded(one), one.bodies('control')]).toEqual([4, []]);
  });
});

describe('the daily cost limit', () => {
  it('halts the desk after the fill that exceeds it', () => {
    // A quarter of a bitcoin costs 9 dollars.
    const one = ran({ policy: { limits: { ...limits, dayCostMax: money('12') } } }, 10);
    expect(traded(one)).toBe(2);
    expect(one.desk.control).toBe('halted');
    expect(one.bodies('control')[0]?.why).toMatch(/^day_limit: limit=max_day_cost 12 value=\d\d\.\d\d$/u);
    expect(one.alerts()).toContain('limit_breached');
  });
});

describe('a desk whose orders are never filled', () => {
  it('multiplies its retry interval by 4 after three unfilled orders, and by 16 after six', () => {
    const one = ran(
      {
        strategies: [aTwap('t', { slices: 1, duration: 'PT10M' })],
        venue: { ...still, cancelProbability: 1 },
      },
      4,
    );
    const asked = one.timed('intent');
    const gaps = asked.slice(1, 9).map(({ at }, n) => Math.round((at - (asked[n]?.at ?? 0)) / SECOND_MS));
    // Each order also waits for the end of its quote and the booking margin.
    expect(gaps).toEqual([1, 1, 4, 4, 4, 16, 16, 16].map((seconds) => 20 + seconds));
  });
});

describe('requests held back by the rate limiter for more than a minute', () => {
  it('pause the desk and are not sent afterwards', () => {
    const { pace } = aPolicy();
    const one = ran(
      {
        market: (exchange, clock) => inProcessMarket(exchange, { clock, pairs: ['btcusd'], everyMs: 1_000 }),
        strategies: ['a', 'b', 'c', 'd'].map((id) => aTwap(id, { slices: 1, duration: 'PT20M' })),
        policy: { pace: { ...pace, windows: { ...pace.windows, quote: { max: 1, perMs: 50 * SECOND_MS } } } },
      },
      12,
    );
    expect(one.bodies('control')).toHaveLength(1);
    expect(one.bodies('control')[0]).toMatchObject({ state: 'paused', by: 'tranche' });
    expect(one.bodies('control')[0]?.why).toMatch(/^message_throttle: limit=60000 ms value=\d+ ms$/u);
    expect(one.alerts()).toContain('messages_throttled');
    expect(traded(one)).toBeLessThan(4);
  });
});

describe('a reducing desk', () => {
  const reducing = (side: 'buy' | 'sell'): Bench => {
    const exchange = new Exchange({
      options: venueOptions({ ...still, accounts: [{ balances: { usd: '100000', btc: '0.1' } }] }),
      startedAt: START,
    });
    const total = { amount: '0.4', currency: 'btc' };
    const strategies = [aTwap('t', { side, slices: 4, duration: 'PT4M', total_quantity: total })];
    exchange.ledger.move('desk', { currency: 'btc', amount: quantity('-0.35') }, START);
    const one = ran({ exchange, strategies }, 0);
    one.operator$.next({ do: 'pause', isReducing: true, by: 'ann', why: 'unwind' });
    one.until(10 * MINUTE_MS);
    return one;
  };

  it('buys back the borrowed amount and does not buy more', () => {
    const one = reducing('buy');
    expect(traded(one)).toBeGreaterThan(0);
    expect(one.balance('btc')).toBeLessThanOrEqual(0);
    expect(reasonsOf(one)).toContain('reducing');
  });

  it('sends no order that borrows', () => {
    expect(traded(reducing('sell'))).toBe(0);
  });
});

describe('a strategy outside its permitted pairs, sides, hours or positions', () => {
  const now: ClosedHours = { from: '00:00', to: '00:30', timeZone: 'UTC', days: new Set(['mon']) };

  it.each<readonly [string, Partial<typeof limits>, Reason]>([
    ['a pair', { pairs: new Set(['ethusd']) }, 'not_allowed'],
    ['a quantity', { orderQuantityMax: new Map([['btcusd', quantity('0.1')]]) }, 'order_size'],
    ['a side', { sides: new Set(['sell'] as const) }, 'not_allowed'],
    ['an hour', { closedHours: [now] }, 'restricted_hours'],
    ['a floor that is reached', { positionMin: new Map([['usd', quantity('1000000')]]) }, 'position_limit'],
    ['a ceiling that is reached', { positionMax: new Map([['btc', quantity('25')]]) }, 'position_limit'],
  ])('does not trade and requests no quote: %s', (_, over, reason) => {
    const one = ran({ policy: { limits: { ...limits, ...over } } }, 10);
    expect(traded(one)).toBe(0);
    expect(one.bodies('intent')).toEqual([]);
    expect(reasonsOf(one)).toEqual(new Set([reason]));
  });

  it('trades again after the restricted hours end', () => {
    const one = ran({ policy: { limits: { ...limits, closedHours: [{ ...now, to: '00:02' }] } } }, 10);
    expect(traded(one)).toBe(2);
  });
});

describe('an order above the notional limit because of an extra zero', () => {
  it('is refused before a quote is requested, and raises an alert', () => {
    const one = ran(
      {
        strategies: [
          aTwap('t', { slices: 4, duration: 'PT4M', total_quantity: { amount: '10', currency: 'btc' } }),
        ],
        policy: { limits: { ...limits, orderNotionalMax: money('20000') } },
      },
      10,
    );
    expect(traded(one)).toBe(0);
    expect(one.bodies('intent')).toEqual([]);
    expect(one.alerts()).toContain('limit_refused');
    const line = one.records().find(({ body }) => body.kind === 'slice');
    expect(line?.body).toMatchObject({ result: 'skipped', reason: 'order_size' });
    expect(line && lineFor(line)).toMatch(/limit=max_order_notional 20000 value=15\d{4}\.\d\d/u);
  });
});
