import { describe, expect, it } from 'vitest';
import { shortEnd } from '../../src/app/cli/watch.ts';
import { DAY_MS, HOUR_MS, instant } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { START, aBench, aStrategy, aTwap } from '../engine/harness.ts';

/** Returns the facts of the alert for the records of a strategy whose venue always or never quotes. */
function shortEnds(strategy: StrategySource, isQuoting: boolean, forMs = HOUR_MS): readonly unknown[] {
  const closed = { kind: 'error', status: 503, error: 'quotes temporarily unavailable' } as const;
  const bench = aBench({
    strategies: [strategy],
    wrap: faultyVenue({ quote: () => (isQuoting ? undefined : closed) }),
  });
  bench.start();
  bench.clock.run(instant(START + forMs));
  return bench
    .records()
    .flatMap(({ body }) => shortEnd(body, ({ state }) => strategy.bound.progress(state)) ?? []);
}

describe('the alert parent_short', () => {
  it('names the strategy, the reason and the remainder once if a parent ends short', () => {
    expect(shortEnds(aTwap('btc'), false)).toEqual([
      { strategy: 'btc', reason: 'window_over', left: '1 of 1 btc' },
    ]);
  });

  it('is not raised for a parent that traded its whole total', () => {
    expect(shortEnds(aTwap('btc'), true)).toEqual([]);
  });

  it('is raised for a parent that stops after a gap, with that reason', () => {
    const twap = aTwap('btc', { catch_up: 'abort', slices: 2, start_time: '2026-01-04T23:58:00Z' }); // prettier-ignore
    expect(shortEnds(twap, true)).toEqual([{ strategy: 'btc', reason: 'aborted', left: '1 of 1 btc' }]);
  });

  it('is raised for each occurrence of a recurring order that ends short, and for no other', () => {
    const daily = aStrategy('daily', 'recurring', {
      pair: 'btcusd',
      side: 'buy',
      each_notional: { amount: '1000', currency: 'usd' },
      schedule: { cron: '0 9 * * *', time_zone: 'UTC' },
      window: 'PT1H',
      slices: 2,
    });
    const short = { strategy: 'daily', reason: 'window_over', left: '1000 of 1000 usd' };
    expect(shortEnds(daily, false, 2 * DAY_MS)).toEqual([short, short]);
    expect(shortEnds(daily, true, 2 * DAY_MS)).toEqual([]);
  });
});
