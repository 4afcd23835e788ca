import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/core/errors.ts';
import { text, quantity } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Journal } from '../../src/journal/journal.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { faultyVenue, DOWN } from './faulty-venue.ts';
import { aBench, aTwap, START, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { books, executedTotal, faultsOf, fillsOf, ledgerTrades } from './oracle.ts';

const strategies = [aTwap('twap', { slices: 4, duration: 'PT4M' })];

function ran(until: number, options: Partial<BenchOptions> = {}): Bench {
  return started({ strategies, ...options }, until);
}

/** The next process on the same journal, clock and exchange. */
function next(before: Bench, until: number, options: Partial<BenchOptions> = {}, rearm?: string): Bench {
  const bench = nextProcess(before, 0, { strategies, ...options }, { rearm });
  bench.until(until);
  return bench;
}

/** The first `records` records of a journal: an old backup of it. */
function backup(journal: Journal, records: number): Journal {
  const copy = memoryJournal();
  for (const { at, body } of [...journal.read()].slice(0, records)) copy.append([body], at);
  return copy;
}

describe('a starting desk', () => {
  it('requests no quote before a whole read of the account has succeeded', () => {
    let isDown = true;
    const wrap = faultyVenue({ transactions: (rows) => (isDown ? DOWN : rows) });
    const bench = started(
      { strategies: [aTwap('twap', { slices: 4, duration: 'PT1H' })], wrap },
      5 * MINUTE_MS,
    );
    expect(bench.sent.quotes).toEqual([]);
    expect(bench.seen.phases).toEqual([]);
    isDown = false;
    bench.until(6 * MINUTE_MS);
    expect(bench.seen.phases).toEqual(['ready']);
    expect(bench.sent.quotes.length).toBeGreaterThan(0);
  });

  it('obeys a halt that is given before the venue can be reached', () => {
    let isDown = true;
    const wrap = faultyVenue({ transactions: (rows) => (isDown ? DOWN : rows) });
    const bench = started({ strategies, wrap }, 5 * SECOND_MS);
    bench.operator$.next({ do: 'halt', by: 'ops', why: 'no' });
    isDown = false;
    bench.until(10 * MINUTE_MS);
    expect(bench.desk.state.control).toBe('halted');
    expect(ledgerTrades(bench.exchange)).toEqual([]);
  });

  it('refuses the journal of another account before any call, unless told that the account is the same', () => {
    const before = ran(70 * SECOND_MS);
    const sent = { quotes: [], orders: [], reads: [] };
    const after = next(before, 2 * MINUTE_MS, { policy: { account: 'another' }, sent });
    expect(after.seen.error).toBeInstanceOf(OperatorError);
    expect(String(after.seen.error)).toMatch(/another token, address or mode/u);
    expect(sent).toEqual({ quotes: [], orders: [], reads: [] });
    const told = nextProcess(
      before,
      0,
      { strategies, policy: { account: 'another' } },
      { accountChanged: 'the token was rotated' },
    );
    told.until(10 * MINUTE_MS);
    expect(faultsOf(told)).toEqual([]);
  });

  const tooLarge: Partial<BenchOptions> = {
    files: {
      read: () => ({ problems: 'not read here' }),
      revive: () => undefined,
      infeasible: (run) => run.map(({ id }) => ({ strategy: id, says: 'every slice is above the limit' })),
    },
  };

  it('refuses a strategy that can never trade within its limits, before it begins', () => {
    const bench = started({ strategies, ...tooLarge }, MINUTE_MS);
    expect(String(bench.seen.error)).toMatch(/cannot trade as they are written:\n {2}strategy twap: every slice is above/u);
    expect(bench.bodies('strategy')).toEqual([]);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
  }); // prettier-ignore

  it('only warns of a running strategy that can never trade within its limits, and completes its parent', () => {
    const warnings: string[] = [];
    const after = next(ran(70 * SECOND_MS), 10 * MINUTE_MS, {
      ...tooLarge,
      observer: { warn: (words) => warnings.push(words) },
    });
    expect(after.seen.error).toBeUndefined();
    expect(warnings).toContain('strategy twap: every slice is above the limit');
    expect(ledgerTrades(after.exchange)).toHaveLength(4);
  });

  it('trades no slice of a strategy that is no longer configured', () => {
    const before = ran(10 * SECOND_MS, {
      strategies: [aTwap('gone', { slices: 1, duration: 'PT10M', limit_price: '1' })],
    });
    expect(before.desk.state.slices.size).toBe(1);
    const after = next(before, 15 * MINUTE_MS, { strategies: [] });
    expect(after.desk.state.slices.size).toBe(0);
    expect(ledgerTrades(after.exchange)).toEqual([]);
  });
});

describe('a journal that is behind the account', () => {
  it('receives all fills if it was lost, and the desk stays halted', () => {
    const before = ran(130 * SECOND_MS);
    const traded = ledgerTrades(before.exchange).length;
    expect(traded).toBe(3);
    const after = next(before, 20 * MINUTE_MS, { journal: memoryJournal() });
    const { ledger, journal } = books(after.exchange, after.records());
    expect(journal).toEqual(ledger);
    expect(ledger).toHaveLength(traded);
    expect(after.desk.state.control).toBe('halted');
    expect(fillsOf(after.records()).every(({ source }) => source === 'transactions')).toBe(true);
  });

  describe.each([false, true])('after a rollback, adopting fills: %s', (adoptFills) => {
    const whole = ran(130 * SECOND_MS).records().length;

    it.each([30 * SECOND_MS, 12 * MINUTE_MS])(
      'never leads to a repeated trade, rearmed after %i ms',
      (rearmedMs) => {
        const wrong: string[] = [];
        for (let kept = 5; kept < whole; kept++) {
          const before = ran(130 * SECOND_MS);
          const options = { strategies, journal: backup(before.journal, kept), policy: { adoptFills } };
          const restored = nextProcess(before, 0, options);
          restored.run(rearmedMs);
          // An order of which the quote is not known stays in doubt for the longest life of a quote.
          const run = { rearm: 'looked at it', withOpenDoubts: true };
          const rearmed = nextProcess(restored, 0, options, run);
          rearmed.until(40 * MINUTE_MS);
          const { exchange } = rearmed;
          const faults = faultsOf(rearmed).filter((fault) => !fault.includes('never decided'));
          wrong.push(...faults.map((fault) => `${kept} kept: ${fault}`));
          if (executedTotal(exchange).gt('1')) wrong.push(`${kept} kept: ${text(executedTotal(exchange))}`);
        }
        expect(wrong).toEqual([]);
        expect(whole).toBeGreaterThan(15);
      },
    );
  });

  it.each([
    ['still is', DAY_MS],
    ['has been corrected', undefined],
  ])('receives all fills if the clock was a day ahead and %s', (_, skewMs) => {
    const before = ran(130 * SECOND_MS, { skewMs: DAY_MS });
    const kinds = before.records().map(({ body }) => body.kind);
    // The balances that lie furthest in the future, without the fills after them.
    const kept = kinds.lastIndexOf('balances') + 1;
    expect(kinds.slice(kept)).toContain('fill');
    before.kill();
    before.until(HOUR_MS);
    const restored = nextProcess(before, 0, { strategies, journal: backup(before.journal, kept), skewMs });
    restored.until(HOUR_MS + MINUTE_MS);
    const { ledger, journal: booked } = books(restored.exchange, restored.records());
    expect(booked).toEqual(ledger);
    expect(restored.desk.state.control).toBe('halted');
  });
});

describe('a second daemon on the same account with another journal', () => {
  it.each([
    ['at the same time', 0],
    ['later', 2 * MINUTE_MS],
  ])(
    'is halted by its first whole read of the account before it trades, and the first continues: started %s',
    (_, laterMs) => {
      const told: string[] = [];
      const plan = (id: string) => [aTwap(id, { slices: 60, duration: 'PT30M' })];
      const observer = { alert: (id: string) => told.push(id) };
      const first = aBench({ strategies: plan('one'), observer });
      first.start();
      first.until(laterMs);
      const { clock, exchange } = first;
      const second = aBench({ strategies: plan('two'), clock, exchange, observer });
      second.start();
      clock.run(instant(START + laterMs + 3 * MINUTE_MS));
      expect([first.desk.control, second.desk.control]).toEqual(['active', 'halted']);
      expect(told).toContain('fill_adopted');
      const traded = (bench: Bench): readonly string[] =>
        bench.bodies('fill').flatMap((body) => (body.source === 'order' ? [body.order_id] : []));
      clock.run(instant(START + laterMs + 10 * MINUTE_MS));
      expect(traded(second)).toEqual([]);
      expect(traded(first).length).toBeGreaterThan(10);
      expect(ledgerTrades(exchange)).toHaveLength(traded(first).length);
    },
  );
});

const tenSlices = [aTwap('twap', { slices: 10, duration: 'PT10M' })];

/** A desk that has run for a while, and its alerts and warnings. */
function ranOn(
  options: Partial<BenchOptions>,
  rearm?: string,
): { readonly bench: Bench; readonly told: readonly string[] } {
  const told: string[] = [];
  const bench = started(
    {
      strategies: tenSlices,
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
    const { bench, told } = ranOn({ journal: odd('rolled_back') });
    expect(told).toContain('journal_rolled_back');
    expect(bench.desk.state).toMatchObject({ control: 'halted', controlWhy: 'it is an older copy' });
    expect(ledgerTrades(bench.exchange)).toEqual([]);
    // The account is read anyway, so that missing fills are found.
    expect(bench.desk.state.balancesReadAt).toBeDefined();
  });

  it('lets the desk trade after a person has re-armed it with a reason', () => {
    const { bench } = ranOn({ journal: odd('rolled_back') }, 'the backup of Monday; the fills agree');
    expect(bench.desk.state.control).toBe('active');
    expect(ledgerTrades(bench.exchange).length).toBeGreaterThan(0);
  });

  it('only causes a warning if there is no anchor to compare it with', () => {
    const { bench, told } = ranOn({ journal: odd('no_anchor') });
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
    const whole = ranOn({}).bench.appends();
    expect(whole).toBeGreaterThan(20);
    for (let at = 1; at <= whole; at++) {
      const { bench, told } = ranOn({ journal: fullAt(at) });
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

/** A trade that the account shows, without a client id. */
const trades = (
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
    const bench = first(trades(DAY_MS / 2));
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
    ['active', 'the account traded longer ago', trades(2 * DAY_MS)],
    ['active', 'the account traded other currencies', trades(DAY_MS / 2, ['eth', 'eur'])],
    [
      'halted',
      'the currency of a row cannot be read',
      trades(DAY_MS / 2).map((row) => ({ ...row, currency: '' })),
    ],
    [
      'active',
      'the account only received money',
      trades(DAY_MS / 2).map((row) => ({ ...row, action: 'deposit' as const })),
    ],
  ])('is %s if %s', (control, _, rows) => {
    const bench = first(rows);
    expect(bench.desk.control).toBe(control);
    expect(bench.alerts().includes('journal_new')).toBe(control === 'halted');
  });

  it('trades in other modes, whose account is not real', () => {
    expect(first(trades(DAY_MS / 2), 'paper').desk.control).toBe('active');
  });

  it('stays halted after a restart, and does not ask again once a person has re-armed it', () => {
    const rows = trades(DAY_MS / 2);
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
