import { describe, expect, it } from 'vitest';
import { normalAt } from '../../src/simulator/market/random.ts';
import { ordersAYear } from '../../src/strategy/kinds/rebalance/rebalance-orders.ts';
import type { Band } from '../../src/strategy/kinds/rebalance/rebalance-orders.ts';

const HOURS = 8_760;
const logOdds = (weight: number): number => Math.log(weight / (1 - weight));
const BAND = { weight: 0.5, halfWidth: 0.05, volatility: 0.6, rebalanceTo: 'target' } as const;

/** Orders a year of a band that is checked every hour, over many years: a random walk of the log-odds of the weight. */
function simulated({ weight, halfWidth, volatility, rebalanceTo, minimum = 0 }: Band, years: number): number {
  const step = volatility / Math.sqrt(HOURS);
  let [odds, orders] = [logOdds(weight), 0];
  for (let hour = 0; hour < years * HOURS; hour++) {
    odds += step * normalAt(7, 0, hour);
    const drift = 1 / (1 + Math.exp(-odds)) - weight;
    const goal = rebalanceTo === 'target' ? 0 : Math.sign(drift) * halfWidth;
    if (Math.abs(drift) <= halfWidth || Math.abs(drift - goal) < minimum) continue;
    odds = logOdds(weight + goal);
    orders++;
  }
  return orders / years;
}

describe('the expected orders of a band', () => {
  it.each<[Partial<Band>, number]>([
    [{}, 40.83],
    [{ weight: 0.6 }, 44.35],
    [{ weight: 0.3, volatility: 0.8 }, 32.72],
  ])('to the target are 365 days by the expected time to its edges, as published: %j', (over, days) => {
    expect(365 / ordersAYear({ ...BAND, ...over })).toBeCloseTo(days, 1);
  });

  it.each<Partial<Band>>([
    {},
    { weight: 0.3, volatility: 0.8 },
    { minimum: 0.08 },
    { rebalanceTo: 'band_edge' },
    { rebalanceTo: 'band_edge', minimum: 0.005 },
    { rebalanceTo: 'band_edge', minimum: 0.02, weight: 0.2, halfWidth: 0.03 },
  ])('are those of hourly checks over 300 years: %j', (over) => {
    const band = { ...BAND, ...over, checkedEvery: 1 / HOURS };
    expect(ordersAYear(band) / simulated(band, 300)).toBeCloseTo(1, 1);
  });

  it('fall from a thousand to some forty on 10 million if the minimum to the edge rises from 10 to 50,000 usd', () => {
    const edge = { ...BAND, rebalanceTo: 'band_edge', checkedEvery: 1 / (365 * 1_440) } as const;
    const [small, large] = [10, 50_000].map((usd) => ordersAYear({ ...edge, minimum: usd / 1e7 }));
    expect(small).toBeGreaterThan(1_000);
    expect(large).toBeLessThan(50);
    expect(ordersAYear({ ...edge, checkedEvery: 0 })).toBe(Number.POSITIVE_INFINITY);
    // Prices never take a weight to 0 or beyond 1.
    expect(ordersAYear({ ...BAND, weight: 0.03, halfWidth: 0.05 })).toBe(0);
  });
});
