import { describe, expect, it } from 'vitest';
import { price, text } from '../../src/core/money.ts';
import { DAY_MS, instant, MINUTE_MS } from '../../src/core/time.ts';
import { randomWalk } from '../../src/simulator/market/random-walk.ts';
import { later, START } from './world.ts';

const walk = (seed: string, volatilityPerRootDay = 0.03) =>
  randomWalk({ seed, startsAt: START, startPrice: price('60000'), volatilityPerRootDay });

/** Logarithms of the price divided by its start price, one every `stepMs`. */
const path = (seed: string, steps: number, stepMs: number): number[] =>
  Array.from({ length: steps }, (_, step) =>
    Math.log(
      walk(seed)
        .midAt(later(step * stepMs))
        .toNumber() / 60_000,
    ),
  );

const deviation = (values: readonly number[]): number => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
};

describe('a random walk', () => {
  it('is the same for the same seed in any order of reads, and different for another seed', () => {
    const times = [0, 17, 4_711, DAY_MS, 365 * DAY_MS, 3].map(later);
    const look = (seed: string, order: readonly number[]) =>
      order.map((at) => text(walk(seed).midAt(instant(at))));
    expect(look('a', times.toReversed()).toReversed()).toEqual(look('a', times));
    expect(look('b', times)).not.toEqual(look('a', times));
  });

  it('has the same prices in a reused walk as in a new one', () => {
    const one = walk('n');
    for (const at of [0, 1, 2.5, 15.9, 16, 17, 31, 32, 16, 0.5, 4_711, 4_712, 4_703, 4_720].map(later))
      expect(text(one.midAt(at))).toBe(text(walk('n').midAt(at)));
  });

  it('starts at its start price and does not move without volatility', () => {
    expect(text(walk('a').midAt(START))).toBe('60000');
    expect(text(walk('a', 0).midAt(later(DAY_MS)))).toBe('60000');
  });

  it('has the configured volatility over minutes and over days', () => {
    const daily = Array.from({ length: 400 }, (_, seed) =>
      Math.log(walk(String(seed)).midAt(later(DAY_MS)).toNumber() / 60_000),
    );
    expect(deviation(daily)).toBeGreaterThan(0.027);
    expect(deviation(daily)).toBeLessThan(0.033);
    const logs = path('m', 3_000, MINUTE_MS);
    const moves = logs.slice(1).map((log, index) => log - (logs[index] ?? 0));
    const perMinute = 0.03 * Math.sqrt(MINUTE_MS / DAY_MS);
    expect(deviation(moves) / perMinute).toBeGreaterThan(0.93);
    expect(deviation(moves) / perMinute).toBeLessThan(1.07);
  });

  it('does not jump between neighbouring instants', () => {
    const logs = path('j', 2_000, 20);
    const largest = Math.max(...logs.slice(1).map((log, index) => Math.abs(log - (logs[index] ?? 0))));
    expect(largest).toBeLessThan(6 * 0.03 * Math.sqrt(36 / DAY_MS));
  });
});
