import { describe, expect, it } from 'vitest';
import { shortEnd } from '../../src/app/cli/watch.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { aStrategy, aTwap, started } from '../engine/harness.ts';

/** Returns the facts of the alert for the records of a strategy whose venue always or never quotes. */
function shortEnds(strategy: StrategySource, isQuoting: boolean, forMs = HOUR_MS): readonly unknown[] {
  const closed = { kind: 'error', status: 503, error: 'quotes temporarily unavailable' } as const;
  const wrap = faultyVenue({ quote: () => (isQuoting ? undefined : closed) });
  return started({ strategies: [strategy], wrap }, forMs)
    .records()
    .flatMap(({ body }) => shortEnd(body, ({ state }) => strategy.bound.progress(state)) ?? []);
}

describe('the alert parent_short', () => {
  const aborting = { catch_up: 'abort', slices: 2, start_time: '2026-01-04T23:58:00Z' };
  it.each([
    ['names the reason and the remainder if a parent ends short', {}, false, ['window_over']],
    ['is not raised for a parent that traded its whole total', {}, true, []],
    ['is raised for a parent that stops after a gap', aborting, true, ['aborted']],
  ])('%s', (_, over, isQuoting, reasons) => {
    const facts = reasons.map((reason) => ({ strategy: 'btc', reason, left: '1 of 1 btc' }));
    expect(shortEnds(aTwap('btc', over), isQuoting)).toEqual(facts);
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
