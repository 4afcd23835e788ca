import { describe, expect, it } from 'vitest';
import { instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { Footprint } from '../../src/engine/market/footprint.ts';
import { noObserver } from '../../src/engine/observer.ts';
import { aTwap, START, started } from './harness.ts';
import { ledgerTrades } from './oracle.ts';

interface Seen {
  readonly footprint: Footprint;
  readonly clock: VirtualClock;
  readonly told: { quotesPerFill: number; hitRatio: number | undefined; slowdown: number }[];
  readonly ask: (count: number, purpose?: 'slice' | 'ladder') => void;
}
function aFootprint(): Seen {
  const clock = new VirtualClock(START);
  const told: Seen['told'] = [];
  const footprint = new Footprint(clock, 10, {
    ...noObserver,
    footprint: (_, figures) => told.push(figures),
  });
  return {
    footprint,
    clock,
    told,
    ask(count, purpose = 'slice') {
      for (let n = 0; n < count; n++) footprint.asked('btcusd', purpose, true);
    },
  };
}

describe('the quote footprint of a pair', () => {
  it.each([
    [10, 0, 1],
    [11, 0, 2],
    [20, 1, 2],
    [21, 1, 4],
    [20, 2, 1],
    [100_000, 0, 64],
  ])('with %i quotes and %i fills multiplies waits by %i', (quotes, fills, slowdown) => {
    const { footprint, ask } = aFootprint();
    ask(quotes);
    for (let n = 0; n < fills; n++) footprint.filled('btcusd');
    expect(footprint.slowdown('btcusd')).toBe(slowdown);
    expect(footprint.slowdown('ethusd')).toBe(1);
  });

  it('does not count quotes older than its window', () => {
    const { footprint, clock, ask } = aFootprint();
    ask(50);
    expect(footprint.slowdown('btcusd')).toBe(8);
    clock.run(instant(START + 62 * MINUTE_MS));
    expect(footprint.slowdown('btcusd')).toBe(1);
  });

  it('is reported with every quote and fill', () => {
    const { footprint, told, ask } = aFootprint();
    ask(4);
    footprint.filled('btcusd');
    expect(told.at(-1)).toEqual({ quotesPerFill: 4, hitRatio: 0.25, slowdown: 1 });
  });

  it('stops ladder probes when there are too many of them, and they never slow slices down', () => {
    const { footprint, ask } = aFootprint();
    expect(footprint.allowsLadder('btcusd')).toBe(true);
    ask(5, 'ladder');
    expect(footprint.allowsLadder('btcusd')).toBe(false);
    ask(1_000, 'ladder');
    expect(footprint.slowdown('btcusd')).toBe(1);
    for (let n = 0; n < 500; n++) footprint.filled('btcusd');
    expect(footprint.allowsLadder('btcusd')).toBe(true);
  });
});

describe('a desk whose quotes never trade', () => {
  const asked = (quotesPerFillMax: number): number => {
    const bench = started(
      {
        strategies: [aTwap('twap', { limit_price: '1', duration: 'PT1H', slices: 4 })],
        policy: { quotesPerFillMax },
      },
      60 * MINUTE_MS,
    );
    expect(ledgerTrades(bench.exchange)).toEqual([]);
    return bench.bodies('intent').length;
  };

  it('requests quotes less and less often, but does not stop', () => {
    const free = asked(1_000_000);
    const slowed = asked(20);
    expect(free).toBeGreaterThan(3_000);
    expect(slowed).toBeLessThan(free / 10);
    expect(slowed).toBeGreaterThan(20);
  });

  it('requests the first quote of a slice immediately, however slow it has become', () => {
    const bench = started(
      {
        strategies: [aTwap('twap', { limit_price: '1', duration: 'PT1H', slices: 4 })],
        policy: { quotesPerFillMax: 5 },
      },
      60 * MINUTE_MS,
    );
    const first = new Map(
      bench
        .timed('intent')
        .toReversed()
        .map(({ slice, at }) => [slice, at]),
    );
    expect(first.size).toBe(4);
    for (const [slice, at] of first) {
      const late = at - slice * 15 * MINUTE_MS;
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThan(SECOND_MS);
    }
  });
});
