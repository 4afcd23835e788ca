import { describe, expect, it } from 'vitest';
import { iso, later } from '../../src/strategy/sdk.ts';
import { defineKernel, nextBar, text, z } from '../../src/strategy/sdk.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import type { BarsPort, KeptBars } from '../../src/engine/ports.ts';
import { moduleWith } from '../strategy/module-kind.ts';
import { START, aBench, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

/** Notes the bars that it sees at the end of each interval. */
const watching = (count = 3, interval = 'PT5M'): StrategySource => {
  const kernel = defineKernel({
    params: z.strictObject({}),
    bars: () => [{ pair: 'btcusd', interval, count }],
    start: (_, view) => ({ state: {}, waits: [{ on: 'at', at: nextBar(view.at, interval) }] }),
    step(state, _wake, _params, view) {
      const seen = view.bars('btcusd', interval).map(({ from }) => iso(from).slice(11, 16));
      return { state, waits: [{ on: 'at', at: nextBar(view.at, interval) }], note: seen.join(' ') };
    },
  });
  const document = {
    module: './watching.ts',
    pairs: ['btcusd'],
    total_notional: { amount: '1000', currency: 'usd' },
  };
  return { id: 'watching', kind: 'module', hash: 'w', document, bound: moduleWith(kernel).bind(document) };
};

function memoryBars(): BarsPort {
  let kept: readonly KeptBars[] = [];
  return {
    read: () => kept,
    keep: (series) => {
      kept = series;
    },
  };
}

const notes = (bench: Bench): readonly (string | undefined)[] =>
  bench.bodies('wake').flatMap((body) => (body.on === 'at' ? [body.note] : []));

function running(until: number, over: Partial<BenchOptions> = {}): Bench {
  return started({ strategies: [watching()], ...over }, until);
}

/** A venue that gives no quotes between two times. */
const silent = (from: number, to: number): Pick<BenchOptions, 'wrap'> => ({
  wrap: (venue, clock) => ({
    ...venue,
    quote(request) {
      const ms = clock.wall() - START;
      return venue.quote(ms > from && ms < to ? { ...request, pair: 'xxxusd' } : request);
    },
  }),
});

describe('bars built from the prices that a desk sees', () => {
  it('are available as soon as their interval ends, up to the requested number', () => {
    const bench = running(21 * MINUTE_MS);
    expect(notes(bench)).toEqual(['00:00', '00:00 00:05', '00:00 00:05 00:10', '00:05 00:10 00:15']);
  });

  it('contain the first, highest, lowest and last price of their interval', () => {
    const mids: { readonly at: number; readonly mid: string }[] = [];
    const bench = aBench({
      strategies: [watching()],
      observer: { reference: ({ mid }) => mids.push({ at: bench.clock.wall(), mid: text(mid) }) },
    });
    bench.start();
    bench.until(10 * MINUTE_MS);
    const seen = mids.filter(({ at }) => at >= START + 5 * MINUTE_MS && at < START + 10 * MINUTE_MS);
    const prices = seen.map(({ mid }) => Number(mid));
    const bar = bench.desk.bars.newest('btcusd', 5 * MINUTE_MS, 1)[0];
    expect(seen.length).toBeGreaterThan(20);
    expect(bar && [bar.open, bar.high, bar.low, bar.close].map((one) => Number(text(one)))).toEqual([
      prices[0],
      Math.max(...prices),
      Math.min(...prices),
      prices.at(-1),
    ]);
  });

  it('are missing for an interval with a minute without prices, and for one that begins without prices', () => {
    const bench = running(26 * MINUTE_MS, silent(7 * MINUTE_MS, 11 * MINUTE_MS + 10 * SECOND_MS));
    expect(notes(bench).at(-1)).toBe('00:00 00:15 00:20');
  });

  it('are missing for a minute in which no price arrives for 30 s', () => {
    const strategies = [watching(9, 'PT1M')];
    const outage = silent(2 * MINUTE_MS + 5 * SECOND_MS, 2 * MINUTE_MS + 50 * SECOND_MS);
    expect(notes(running(4 * MINUTE_MS, { strategies, ...outage })).at(-1)).toBe('00:00 00:01 00:03');
  });

  it('continue with those of the previous process, except for the interval of the restart', () => {
    const bars = memoryBars();
    const first = running(11 * MINUTE_MS, { bars });
    const next = nextProcess(first, 30 * SECOND_MS, { strategies: [watching()], bars });
    next.until(21 * MINUTE_MS);
    expect(notes(next).at(-1)).toBe('00:00 00:05 00:15');
  });

  it('are collected while the strategy runs, and cause no quotes without a strategy', () => {
    const probes = (strategies: BenchOptions['strategies']): number => {
      let count = 0;
      started({ strategies, observer: { reference: () => (count += 1) } }, HOUR_MS);
      return count;
    };
    expect(probes([])).toBe(0);
    expect(probes([watching()])).toBeGreaterThan(600);
  });
});

describe('a module that requests unavailable bars', () => {
  it.each([
    [
      { pair: 'btcusd', interval: 'PT7M', count: 3 },
      'bars of PT7M: expected a duration of PT1M to P1D that divides a day',
    ],
    [{ pair: 'ethusd', interval: 'PT5M', count: 3 }, 'it requests bars of ethusd, and its pairs are btcusd'],
    [{ pair: 'btcusd', interval: 'PT5M', count: 1001 }, 'bars.0.count'],
    [{ pair: 'btcusd', interval: 'PT5M' }, "write { pair: 'btcusd', interval: 'PT1H', count: 50 }"],
  ])('is refused at validation: %j', (wish, says) => {
    // prettier-ignore
    const kernel = {
      params: z.strictObject({}),
      bars: () => [wish],
      start: () => ({ state: {}, waits: [{ on: 'at', at: later(START, 'PT5M') }] }),
      step: () => ({ state: {}, finished: true }),
    };
    const bound = moduleWith(kernel).bind({
      module: './x.ts',
      pairs: ['btcusd'],
      total_notional: { amount: '1000', currency: 'usd' },
    });
    const problems = bound.check({
      minimum: () => ({}),
      currencies: () => ({ base: 'btc', quote: 'usd' }),
      precisions: () => ({ basePrecision: 8, quotePrecision: 2 }),
    });
    expect(problems.map(({ message }) => message).join()).toContain(says);
  });
});
