import { describe, expect, it } from 'vitest';
import type { Alert } from '../../src/core/alerts.ts';
import { quantity } from '../../src/core/money.ts';
import { DAY_MS, MINUTE_MS, after, instant } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aBench, aTwap, nextProcess } from './harness.ts';
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

interface Seen {
  readonly bench: Bench;
  readonly alerts: Alert[];
}

const options = (
  rows: readonly Transaction[],
  mode: 'live' | 'paper',
): { readonly options: BenchOptions; readonly alerts: Alert[] } => {
  const alerts: Alert[] = [];
  return {
    alerts,
    options: {
      strategies: [aTwap('t', { slices: 2, duration: 'PT4M' })],
      policy: { mode, onDifference: 'alert' },
      observer: {
        alert: (alert) => {
          alerts.push(alert);
        },
      },
      wrap: faultyVenue({ transactions: (own) => [...own, ...rows] }),
    },
  };
};

function started(rows: readonly Transaction[], mode: 'live' | 'paper' = 'live'): Seen {
  const { options: given, alerts } = options(rows, mode);
  const bench = aBench(given);
  bench.start();
  bench.until(MINUTE_MS);
  return { bench, alerts };
}

describe('a live desk whose journal is empty', () => {
  it('starts halted if the account traded its pairs within a day, and trades once a person says that it is new', () => {
    const { bench, alerts } = started(traded(DAY_MS / 2));
    expect(alerts).toContain('journal_new');
    expect(bench.desk.control).toBe('halted');
    expect(bench.desk.state.controlWhy).toContain(
      'the journal is new, and the account has traded within a day',
    );
    bench.until(10 * MINUTE_MS);
    expect(bench.desk.state.fills).toBe(0);
    bench.operator$.next({
      do: 'rearm',
      by: 'ann',
      why: 'a new desk',
      withOpenDoubts: false,
      answer: () => undefined,
    });
    bench.until(20 * MINUTE_MS);
    expect(bench.desk.control).toBe('active');
  });

  it.each([
    ['the account has no rows', []],
    ['the account traded longer ago', traded(2 * DAY_MS)],
    ['the account traded other currencies', traded(DAY_MS / 2, ['eth', 'eur'])],
    [
      'the account only received money',
      traded(DAY_MS / 2).map((row) => ({ ...row, action: 'deposit' as const })),
    ],
  ])('trades if %s', (_, rows) => {
    const { bench, alerts } = started(rows);
    expect([bench.desk.control, alerts.includes('journal_new')]).toEqual(['active', false]);
  });

  it('starts halted if the currency of a row cannot be read', () => {
    const rows = traded(DAY_MS / 2).map((row) => ({ ...row, currency: '' }));
    expect(started(rows).alerts).toContain('journal_new');
  });

  it('trades in other modes, whose account is not real', () => {
    expect(started(traded(DAY_MS / 2), 'paper').bench.desk.control).toBe('active');
  });

  it('stays halted after a restart, and does not ask again once a person has re-armed it', () => {
    const rows = traded(DAY_MS / 2);
    const first = started(rows).bench;
    const again = nextProcess(first, MINUTE_MS, options(rows, 'live').options);
    again.until(5 * MINUTE_MS);
    expect(again.desk.control).toBe('halted');
    again.operator$.next({
      do: 'rearm',
      by: 'ann',
      why: 'a new desk',
      withOpenDoubts: false,
      answer: () => undefined,
    });
    again.until(6 * MINUTE_MS);
    const { options: last, alerts } = options(rows, 'live');
    const third = nextProcess(again, MINUTE_MS, last);
    third.until(10 * MINUTE_MS);
    expect([third.desk.control, alerts.includes('journal_new')]).toEqual(['active', false]);
  });
});
