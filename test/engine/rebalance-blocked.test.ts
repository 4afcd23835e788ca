import { aPolicy } from './harness.ts';
import { describe, expect, it } from 'vitest';
import { showDesk } from '../../src/app/cli/watch.ts';
import { money, quantity } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { aBench, aStrategy, nextProcess, START, flat, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

/** Constant prices and a portfolio far from its targets: only the block decides when it trades. */
const OPTIONS: BenchOptions = {
  venue: {
    accounts: [{ balances: { usd: '10000', btc: '1' } }],
    pairs: { btcusd: flat('50000') },
  },
  strategies: [
    aStrategy('r', 'rebalance', {
      target_weights: { btc: '0.5', usd: '0.5' },
      drift_threshold: '0.05',
      valuation_tolerance: '0.9',
    }),
  ],
  policy: {
    continuity: { ...aPolicy().continuity, everyMs: HOUR_MS, lateMs: DAY_MS },
    minimumOf: () => ({}),
  },
};
const refused: BenchOptions = {
  ...OPTIONS,
  policy: { ...OPTIONS.policy, limits: { ...aPolicy().limits, pairs: new Set(['ethusd']) } },
};
const small: BenchOptions = {
  ...OPTIONS,
  policy: { ...OPTIONS.policy, limits: { ...aPolicy().limits, orderNotionalMax: money('500') } },
};

function ran(options: BenchOptions, forMs: number): Bench {
  return started(options, forMs);
}
/** The times of its decisions, and the waits that woke it. */
const decisions = (bench: Bench): readonly (readonly [number, string])[] =>
  bench.timed('wake').flatMap(({ at, intents, on }) => (intents.length > 0 ? [[at, on] as const] : []));
const fills = (bench: Bench): number => bench.bodies('fill').length;

describe('a rebalancing that a limit blocks', () => {
  it('is retried ten times at growing intervals, and then waits for a change for at most a day', () => {
    const bench = ran(refused, 53 * HOUR_MS);
    const times = decisions(bench).map(([ms]) => ms);
    const gaps = times.slice(1).map((ms, i) => Math.round((ms - (times[i] ?? 0)) / MINUTE_MS));
    expect(gaps).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 24 * 60, 24 * 60]);
    expect(fills(bench)).toBe(0);
    expect(bench.alerts().filter((id) => id === 'strategy_blocked')).toHaveLength(1);
  });

  it('is retried at once when a pause is lifted', () => {
    const bench = started(OPTIONS, 1);
    const pair = { pair: 'btcusd', by: 'ops', why: 'test' } as const;
    bench.operator$.next({ do: 'pause', ...pair });
    bench.until(3 * HOUR_MS);
    const before = decisions(bench);
    expect(before.length).toBeLessThan(12);
    expect(fills(bench)).toBe(0);
    // In the middle of a rest of an hour.
    bench.operator$.next({ do: 'resume', ...pair });
    bench.until(3 * HOUR_MS + SECOND_MS);
    expect(decisions(bench).slice(before.length)).toEqual([[3 * HOUR_MS, 'lifted']]);
    expect(fills(bench)).toBe(1);
  });

  it('is retried at once by the next process, whose config may allow it', () => {
    const first = ran(refused, 3 * HOUR_MS);
    const before = decisions(first).length;
    const downMs = 5 * MINUTE_MS;
    const second = nextProcess(first, downMs, OPTIONS);
    second.until(3 * HOUR_MS + downMs + 30 * SECOND_MS);
    expect(decisions(second).slice(before)).toMatchObject([[expect.any(Number), 'lifted']]);
    expect(fills(second)).toBe(1);
  });

  it('is retried when the balances of the account change', () => {
    const bench = ran(refused, 130 * MINUTE_MS);
    const before = decisions(bench);
    expect(before.at(-1)?.[0]).toBeGreaterThan(120 * MINUTE_MS);
    bench.exchange.deposit(bench.account, 'usd', quantity('1000'), bench.clock.wall());
    bench.until(170 * MINUTE_MS);
    expect(decisions(bench).slice(before.length, before.length + 1)).toEqual([
      [expect.any(Number), 'lifted'],
    ]);
  });

  it('is retried at once when a pause becomes reducing and its trade reduces a debt', () => {
    const bench = aBench({
      ...OPTIONS,
      venue: {
        accounts: [{ balances: { usd: '20000', btc: '1' } }],
        pairs: { btcusd: flat('50000') },
      },
      strategies: [
        aStrategy('r', 'rebalance', {
          target_weights: { btc: '1' },
          drift_threshold: '0.05',
          valuation_tolerance: '0.9',
        }),
      ],
    });
    bench.exchange.deposit(bench.account, 'usd', quantity('-30000'), bench.clock.wall());
    bench.start();
    bench.clock.run(instant(START));
    bench.operator$.next({ do: 'pause', by: 'ops', why: 'test' });
    bench.until(130 * MINUTE_MS);
    const before = decisions(bench).length;
    expect(fills(bench)).toBe(0);
    bench.operator$.next({ do: 'pause', isReducing: true, by: 'ops', why: 'test' });
    bench.until(131 * MINUTE_MS);
    const [woken] = decisions(bench).slice(before);
    expect(woken).toEqual([expect.closeTo(130 * MINUTE_MS, -3), 'lifted']);
    expect(fills(bench)).toBe(1);
  });

  it('shows its drift from the targets while it waits for a change of weights, and none once it no longer runs', () => {
    const bench = ran(small, 30 * MINUTE_MS);
    const shown: unknown[] = [];
    const metrics = {
      budget: () => undefined,
      portfolioValue: (usd: number | undefined) => shown.push(usd),
      approvals: () => undefined,
      forgetDrifts: () => shown.splice(0),
      portfolioDrift: (_strategy: string, currency: string, drift: number) => shown.push([currency, drift]),
    };
    showDesk(bench.desk, metrics);
    expect(shown).toContainEqual(['btc', expect.closeTo(1 / 3, 4)]);
    bench.desk.strategies.run([]);
    // Nor is a value shown if a holding has no price.
    bench.desk.state.balances?.set('xyz', quantity('1'));
    showDesk(bench.desk, metrics);
    expect(shown).toEqual([undefined]);
  });
});
