import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/core/errors.ts';
import { text } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { faultyVenue, DOWN } from './faulty-venue.ts';
import { aBench, aStrategy, aTwap, START, nextProcess, started } from './harness.ts';
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

  it('accepts an edited rebalancing between two decisions', () => {
    const weights = (drift: string): BenchOptions['strategies'] => [
      aStrategy('r', 'rebalance', {
        target_weights: { btc: '0.5', usd: '0.5' },
        drift_threshold: drift,
        valuation_tolerance: '0.5',
      }),
    ];
    const venue = { accounts: [{ balances: { usd: '1000000', btc: '16.6' } }] };
    const before = ran(MINUTE_MS, { strategies: weights('0.9'), venue });
    const after = next(before, 2 * MINUTE_MS, { strategies: weights('0.8') });
    expect(after.seen.error).toBeUndefined();
    expect(after.bodies('strategy')).toHaveLength(2);
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
          before.kill();
          const { clock, exchange, journal } = before;
          const options = {
            strategies,
            clock,
            exchange,
            journal: backup(journal, kept),
            policy: { adoptFills },
          };
          const restored = started(options);
          clock.run(instant(clock.wall() + rearmedMs));
          restored.kill();
          const rearmed = aBench(options);
          // An order of which the quote is not known stays in doubt for the longest life of a quote.
          rearmed.start({ rearm: 'looked at it', withOpenDoubts: true });
          clock.run(instant(START + 40 * MINUTE_MS));
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
    before.kill();
    const { clock, exchange, journal } = before;
    const kinds = before.records().map(({ body }) => body.kind);
    // The balances that lie furthest in the future, without the fills after them.
    const kept = kinds.lastIndexOf('balances') + 1;
    expect(kinds.slice(kept)).toContain('fill');
    clock.run(instant(START + HOUR_MS));
    const restored = started({ strategies, clock, exchange, journal: backup(journal, kept), skewMs });
    clock.run(instant(START + HOUR_MS + MINUTE_MS));
    const { ledger, journal: booked } = books(exchange, restored.records());
    expect(booked).toEqual(ledger);
    expect(restored.desk.state.control).toBe('halted');
  });
});
