import { describe, expect, it } from 'vitest';
import { quantity } from '../../src/core/money.ts';
import { DAY_MS, MINUTE_MS, instant } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aTwap, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

/** A trade that the account shows, without a client id. */
const traded = (
  agoMs: number,
  currencies: readonly [string, string] = ['btc', 'usd'],
): readonly Transaction[] =>
  currencies.map((currency, n) => ({
    id: String(5 + n),
    orderId: '900',
    clientId: undefined,
    tradeId: undefined,
    at: instant(START - agoMs),
    action: 'buy' as const,
    price: undefined,
    fees: quantity('0'),
    status: 'done',
    currency,
    amount: quantity(n === 0 ? '0.2' : '-12000'),
    balance: undefined,
  }));

const options = (rows: readonly Transaction[], mode: 'live' | 'paper' = 'live'): BenchOptions => ({
  strategies: [aTwap('t', { slices: 2, duration: 'PT4M' })],
  policy: { mode, onDifference: 'alert' },
  wrap: faultyVenue({ transactions: (own) => [...own, ...rows] }),
});
const first = (...given: Parameters<typeof options>): Bench => started(options(...given), MINUTE_MS);
const rearm = { do: 'rearm', why: 'a new desk' };

describe('a live desk whose journal is empty', () => {
  it('starts halted if the account traded its pairs within a day, and trades once a person says that it is new', () => {
    const bench = first(traded(DAY_MS / 2));
    expect(bench.alerts()).toContain('journal_new');
    expect(bench.desk.control).toBe('halted');
    expect(bench.desk.state.controlWhy).toContain(
      'the journal is new, and the account has traded within a day',
    );
    bench.until(10 * MINUTE_MS);
    expect(bench.desk.state.fills).toBe(0);
    bench.tell(rearm);
    bench.until(20 * MINUTE_MS);
    expect(bench.desk.control).toBe('active');
  });

  it.each<readonly ['active' | 'halted', string, readonly Transaction[]]>([
    ['active', 'the account has no rows', []],
    ['active', 'the account traded longer ago', traded(2 * DAY_MS)],
    ['active', 'the account traded other currencies', traded(DAY_MS / 2, ['eth', 'eur'])],
    [
      'halted',
      'the currency of a row cannot be read',
      traded(DAY_MS / 2).map((row) => ({ ...row, currency: '' })),
    ],
    [
      'active',
      'the account only received money',
      traded(DAY_MS / 2).map((row) => ({ ...row, action: 'deposit' as const })),
    ],
  ])('is %s if %s', (control, _, rows) => {
    const bench = first(rows);
    expect(bench.desk.control).toBe(control);
    expect(bench.alerts().includes('journal_new')).toBe(control === 'halted');
  });

  it('trades in other modes, whose account is not real', () => {
    expect(first(traded(DAY_MS / 2), 'paper').desk.control).toBe('active');
  });

  it('stays halted after a restart, and does not ask again once a person has re-armed it', () => {
    const rows = traded(DAY_MS / 2);
    const again = nextProcess(first(rows), MINUTE_MS, options(rows));
    again.until(5 * MINUTE_MS);
    expect(again.desk.control).toBe('halted');
    again.tell(rearm);
    again.until(6 * MINUTE_MS);
    const third = nextProcess(again, MINUTE_MS, options(rows));
    third.until(10 * MINUTE_MS);
    expect([third.desk.control, third.alerts().includes('journal_new')]).toEqual(['active', false]);
  });
});
