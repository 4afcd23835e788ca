import { describe, expect, it } from 'vitest';
import { NO_MONEY, add, money, quantity, text } from '../../src/core/money.ts';
import type { Money } from '../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { faultyVenue, DOWN } from './faulty-venue.ts';
import { aPolicy, aTwap, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { ledgerTrades } from './oracle.ts';

const { limits, pts } = aPolicy();
const first = aTwap('first', { slices: 1, duration: 'PT60M' });
/** Trades another pair while the first is in doubt. */
const second = aTwap('second', {
  pair: 'ethusd',
  start_time: '2026-01-05T00:05:00Z',
  total_quantity: { amount: '10', currency: 'eth' },
  slices: 1,
  duration: 'PT50M',
});

/** The order of the first pair is never answered, and the account cannot be read from then on. */
function inDoubt(over: Partial<BenchOptions>): Bench {
  let isDown = false;
  const options: BenchOptions = {
    strategies: [first, second],
    wrap: faultyVenue({
      order: ({ pair }) => {
        if (pair !== 'btcusd') return undefined;
        isDown = true;
        return 'request lost';
      },
      transactions: (rows) => (isDown ? DOWN : rows),
    }),
    ...over,
  };
  return started(options, 0, { isUntilDone: true });
}

/** Checks a doubt as it is, and again in the next process after the first has died. */
function throughRestart(over: Partial<BenchOptions>, check: (bench: Bench) => void): void {
  const bench = inDoubt(over);
  bench.until(20 * MINUTE_MS);
  expect(bench.desk.state.doubts).toHaveLength(1);
  check(bench);

  const young = inDoubt(over);
  young.until(2 * MINUTE_MS);
  let reads = 0;
  const next = nextProcess(
    young,
    0,
    {
      strategies: [first, second],
      ...over,
      // One read lets the desk start; nothing after it may prove anything.
      wrap: faultyVenue({ transactions: (rows) => (reads++ === 0 ? rows : DOWN) }),
    },
    { isUntilDone: true },
  );
  next.until(20 * MINUTE_MS);
  expect(next.seen.phases).toEqual(['ready']);
  expect(next.desk.state.doubts).toHaveLength(1);
  check(next);
}
const traded = (bench: Bench): readonly string[] => ledgerTrades(bench.exchange).map(({ pair }) => pair);
const spentOf = (bench: Bench): Money =>
  ledgerTrades(bench.exchange).reduce((sum, { amount }) => add(sum, amount), NO_MONEY);
const reasons = (bench: Bench): readonly unknown[] =>
  bench.records().flatMap(({ body }) => ('reason' in body && body.reason !== undefined ? [body.reason] : []));

describe('a doubt, before and after a restart,', () => {
  it('leaves the funds that it does not reserve to other orders', () => {
    throughRestart({}, (bench) => {
      expect(traded(bench)).toEqual(['ethusd']);
    });
  });

  it('counts in the limits', () => {
    const dayNotionalMax = money('80000');
    throughRestart({ policy: { limits: { ...limits, dayNotionalMax } } }, (bench) => {
      const [open] = bench.desk.state.doubts;
      const { state, ports } = bench.desk;
      const today = add(state.totals.dayNotional(ports.clock.wall()), state.openNotional());
      expect(text(today)).toBe(open?.intent.notional_usd);
      expect(traded(bench)).toEqual([]);
      bench.until(HOUR_MS);
      expect(reasons(bench)).toContain('day_limit');
    });
  });

  it('keeps its funds reserved', () => {
    throughRestart({ venue: { accounts: [{ balances: { usd: '80000' } }] } }, (bench) => {
      const [open] = bench.desk.state.doubts;
      const atWorst = quantity(open?.intent.size ?? '0').times(open?.intent.worst_price ?? '0');
      const spent = spentOf(bench);
      expect(spent.plus(atWorst).lte(80_000)).toBe(true);
      expect(reasons(bench).join()).toMatch(/no_funds/u);
    });
  });

  it('keeps its credit reserved', () => {
    const creditMax = { amount: money('70000'), currency: 'usd' };
    const policy = { pts: { ...pts, use: 'when_enabled', creditMax } } as const;
    const modes = { btcusd: 'Enabled', ethusd: 'Enabled' } as const;
    const venue = { accounts: [{ balances: { usd: '0' } }], pts: { modes } };
    throughRestart({ policy, venue }, (bench) => {
      const [open] = bench.desk.state.doubts;
      const atWorst = quantity(open?.intent.size ?? '0').times(open?.intent.worst_price ?? '0');
      expect(atWorst.gt(0)).toBe(true);
      const lent = spentOf(bench);
      expect(lent.plus(atWorst).lte(70_000)).toBe(true);
      // The remaining credit may be used.
      expect(lent.gt(5_000)).toBe(true);
    });
  });

  it('keeps its slice closed to further attempts', () => {
    throughRestart({}, (bench) => {
      const slices = [...bench.desk.state.slices.values()].filter(({ strategy }) => strategy === 'first');
      expect(slices.map(({ openAttempt }) => openAttempt)).toEqual([
        bench.desk.state.doubts[0]?.intent.client_order_id,
      ]);
      const attempts = bench
        .records()
        .filter(({ body }) => body.kind === 'intent' && body.strategy === 'first');
      expect(attempts).toHaveLength(1);
    });
  });
});
