import { describe, expect, it } from 'vitest';
import { shortEnd } from '../../src/app/cli/watch.ts';
import { HOUR_MS, instant } from '../../src/core/time.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { START, aBench, aTwap } from '../engine/harness.ts';

/** What the alert would say of the records of a TWAP over one bitcoin whose venue quotes, or never does. */
function shortEnds(isQuoting: boolean): readonly unknown[] {
  const closed = { kind: 'error', status: 503, error: 'quotes temporarily unavailable' } as const;
  const bench = aBench({
    strategies: [aTwap('btc')],
    wrap: faultyVenue({ quote: () => (isQuoting ? undefined : closed) }),
  });
  bench.start();
  bench.clock.run(instant(START + HOUR_MS));
  return bench.records().flatMap(({ body }) => shortEnd(body) ?? []);
}

describe('the alert parent_short', () => {
  it('names the strategy, the reason and what is left when a parent ends short, once', () => {
    expect(shortEnds(false)).toEqual([
      { strategy: 'btc', reason: 'window_over', left: '1 of 1 btc not traded' },
    ]);
  });

  it('is not raised for a parent that traded its whole total', () => {
    expect(shortEnds(true)).toEqual([]);
  });
});
