import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { aTwap, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { books, ledgerTrades } from './oracle.ts';

const strategies = [aTwap('twap', { slices: 10, duration: 'PT10M' })];

/** A desk that has run for a while, and its alerts and warnings. */
function ran(
  options: Partial<BenchOptions>,
  rearm?: string,
): { readonly bench: Bench; readonly told: readonly string[] } {
  const told: string[] = [];
  const bench = started(
    {
      strategies,
      observer: { alert: (id) => told.push(id), warn: (message) => told.push(message) },
      ...options,
    },
    5 * MINUTE_MS,
    { rearm },
  );
  return { bench, told };
}

const odd = (what: 'rolled_back' | 'no_anchor'): Journal => ({
  ...memoryJournal(),
  oddity: { what, why: 'it is an older copy' },
});

describe('a journal that may be an older copy', () => {
  it('halts the desk before it trades if it was rolled back, and raises an alert', () => {
    const { bench, told } = ran({ journal: odd('rolled_back') });
    expect(told).toContain('journal_rolled_back');
    expect(bench.desk.state).toMatchObject({ control: 'halted', controlWhy: 'it is an older copy' });
    expect(ledgerTrades(bench.exchange)).toEqual([]);
    // The account is read anyway, so that missing fills are found.
    expect(bench.desk.state.balancesReadAt).toBeDefined();
  });

  it('lets the desk trade after a person has re-armed it with a reason', () => {
    const { bench } = ran({ journal: odd('rolled_back') }, 'the backup of Monday; the fills agree');
    expect(bench.desk.state.control).toBe('active');
    expect(ledgerTrades(bench.exchange).length).toBeGreaterThan(0);
  });

  it('only causes a warning if there is no anchor to compare it with', () => {
    const { bench, told } = ran({ journal: odd('no_anchor') });
    expect(told).toContain('it is an older copy');
    expect(bench.desk.state.control).toBe('active');
  });
});

/** A journal whose disk is full from the `at`-th append on, and that then uses its reserve. */
function fullAt(at: number): Journal {
  const inner = memoryJournal();
  let appends = 0;
  return {
    ...inner,
    get isSpent() {
      return appends >= at;
    },
    append(bodies, when) {
      appends++;
      return inner.append(bodies, when);
    },
  };
}

describe('a desk whose disk is full', () => {
  it('records open attempts, starts nothing new and ends with a storage error, whichever append fills the disk', () => {
    const whole = ran({}).bench.appends();
    expect(whole).toBeGreaterThan(20);
    for (let at = 1; at <= whole; at++) {
      const { bench, told } = ran({ journal: fullAt(at) });
      expect(bench.seen.error).toMatchObject({ name: 'OperatorError', exit: 'storage' });
      expect(told.filter((id) => id === 'disk_full')).toEqual(['disk_full']);
      expect(bench.records().at(-1)?.body).toMatchObject({ kind: 'stopped', why: 'the disk is full' });
      const { ledger, journal } = books(bench.exchange, bench.records());
      expect(journal).toEqual(ledger);
      expect(bench.desk.state.attempts.size).toBe(0);
      const orders = ledgerTrades(bench.exchange).length;
      bench.run(30 * SECOND_MS);
      expect(ledgerTrades(bench.exchange)).toHaveLength(orders);
    }
  });
});
