import { describe, expect, it } from 'vitest';
import { idleUntil } from '../../../../src/app/fleet/hibernation/idle-until.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, after, isoOf } from '../../../../src/core/time.ts';
import type { StrategySource } from '../../../../src/engine/desk.ts';
import { START, aBench, aStrategy, aTwap } from '../../../engine/harness.ts';
import type { Bench } from '../../../engine/harness.ts';

const NO_ALERTS = { open: () => [] };
const inHours = (hours: number): string => isoOf(after(START, hours * HOUR_MS));
const later = (hours: number, id = 'twap'): StrategySource => aTwap(id, { start_time: inHours(hours) });

/** A desk that has run for `forMs`. */
function running(strategies: readonly StrategySource[], forMs = 5 * MINUTE_MS): Bench {
  const bench = aBench({ strategies });
  bench.start();
  bench.clock.run(after(START, forMs));
  expect(bench.seen.phases).toEqual(['ready']);
  return bench;
}

describe('the idle time of a desk', () => {
  it('ends at the first time for which one of its strategies waits', () => {
    const { desk } = running([later(9), later(4, 'sooner')]);
    expect(idleUntil(desk, NO_ALERTS)).toBe(after(START, 4 * HOUR_MS));
  });

  it('is at most one day', () => {
    const { desk, clock } = running([later(100)]);
    expect(idleUntil(desk, NO_ALERTS)).toBe(after(clock.wall(), DAY_MS));
  });

  it('is one day once all strategies have finished', () => {
    const { desk, clock } = running([aTwap('twap', { duration: 'PT1M', slices: 2 })], HOUR_MS);
    expect(desk.state.lives.get('twap')?.finished).toBeDefined();
    expect(idleUntil(desk, NO_ALERTS)).toBe(after(clock.wall(), DAY_MS));
  });

  it('ends at the next slice', () => {
    const { desk } = running([aTwap('twap', { duration: 'PT10H', slices: 10 })]);
    expect(idleUntil(desk, NO_ALERTS)).toBe(after(START, HOUR_MS));
  });

  it('is undefined while a strategy waits for a drift, an alert is open, or the desk is paused', () => {
    const drifting = aStrategy('balance', 'rebalance', {
      target_weights: { btc: '0.5', usd: '0.5' },
      drift_threshold: '0.05',
      continuous: true,
    });
    expect(idleUntil(running([drifting]).desk, NO_ALERTS)).toBeUndefined();
    const bench = running([later(9)]);
    expect(idleUntil(bench.desk, { open: () => [{ alert: 'feed_down' }] })).toBeUndefined();
    bench.operator$.next({ do: 'pause', by: 'ann', why: 'lunch' });
    bench.clock.run(after(bench.clock.wall(), MINUTE_MS));
    expect(idleUntil(bench.desk, NO_ALERTS)).toBeUndefined();
  });

  it('is undefined before the account has been read', () => {
    expect(idleUntil(aBench({ strategies: [later(9)] }).desk, NO_ALERTS)).toBeUndefined();
  });
});
