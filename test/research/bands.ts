import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, instant } from '../../src/core/time.ts';
import { solvedOver } from '../../src/research/run/wake-index.ts';
import { indexPrices } from '../../src/research/tape/index.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { aStrategy, START } from '../engine/harness.ts';
import { aRun, walkTape } from './bench.ts';
import { FRICTIONLESS } from './portfolio.ts';

interface Shape {
  readonly weight: number;
  readonly halfWidth: number;
  readonly volatility: number;
  readonly to: 'target' | 'band_edge';
  /** Length of each run. */
  readonly years: number;
  readonly barMs: number;
  /** Smallest trade, as a fraction of the portfolio. */
  readonly minimum?: number;
}

interface Held {
  /** Orders in the whole run. */
  readonly orders: number;
  /** Half the sum of all trades, each relative to the value of the portfolio at that time. */
  readonly turnover: number;
  /** Mean distance from the target weight. */
  readonly drift: number;
}

/** A portfolio of one asset and cash over prices without a trend in their logarithm, which begins at its target. */
function held({ weight, halfWidth, volatility, to, years, barMs, minimum = 0.000_01 }: Shape, seed: number): Held {
  const rows = Math.round((years * 365 * DAY_MS) / barMs);
  const tape = walkTape({ pair: 'btcusd', rows, seed: `band ${seed}`, barMs, startPrice: 1_000, volatility: volatility * Math.sqrt(barMs / (365 * DAY_MS)) });
  const [usd, btc] = [(1 - weight) * VALUE, (weight * VALUE) / 1_000];
  const ran = aRun({
    tapes: [tape],
    strategies: [aStrategy('band', 'rebalance', {
      target_weights: { btc: String(weight), usd: (1 - weight).toFixed(2) },
      drift_threshold: String(halfWidth),
      rebalance_to: to,
      // One check a bar, also while the drift is past the edge by less than the minimum.
      min_interval: `PT${barMs / MINUTE_MS}M`,
      min_trade_notional: { amount: String(minimum * VALUE), currency: 'usd' },
    })],
    policy: { minimumOf: () => ({}) },
    model: { ...FRICTIONLESS, maxUsd: '1000000000000' },
    holdings: { usd: usd.toFixed(2), btc: btc.toFixed(2) },
    nextPossible: solvedOver([tape], indexPrices),
  });
  let [cash, coins, turnover] = [usd, btc, 0];
  const { fills, portfolios } = figuresOf(ran.journal.read(), { version: '0', end: instant(START + rows * barMs), prices: [tape] });
  for (const { side, quantity, amount } of fills) {
    const value = cash + (coins * Number(amount)) / Number(quantity);
    turnover += Number(amount) / value / 2;
    cash += side === 'sell' ? Number(amount) : -Number(amount);
    coins += side === 'sell' ? -Number(quantity) : Number(quantity);
  }
  return { orders: fills.length, turnover, drift: portfolios[0]?.course?.drift_mean ?? Number.NaN };
} // prettier-ignore
const VALUE = 1_000_000;

/** Expects a mean over seeds within three standard errors of what a formula says. */
function expectMean(values: readonly number[], expected: number): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
  expect(Math.abs(mean - expected)).toBeLessThan((3 * deviation) / Math.sqrt(values.length));
} // prettier-ignore

const logOdds = (weight: number): number => Math.log(weight / (1 - weight));

/** Trades to the target in some years: the last time is cut off, so that they are a sixth fewer than T/Eτ. */
const ordersIn = (years: number, days: number): number => (365 * years) / days - 1 / 6;

/** Bands of two assets against their closed forms. */
export function describeBands(seeds: number): void {
  const runs = (shape: Omit<Shape, 'years'>): readonly Held[] => Array.from({ length: seeds }, (_, seed) => held({ ...shape, years: 1 }, seed));

  describe(`a band around the weight of one asset, over ${seeds} seeds`, () => {
    it.each([
      [0.5, 0.05, 0.6, 40.83],
      [0.6, 0.05, 0.6, 44.35],
      [0.3, 0.05, 0.8, 32.72],
    ])('is left every A·B/σ² days if trades go to the target: %d ± %d at %d', (weight, halfWidth, volatility, days) => {
      const [above, below] = [logOdds(weight + halfWidth) - logOdds(weight), logOdds(weight) - logOdds(weight - halfWidth)];
      expect((365 * above * below) / volatility ** 2).toBeCloseTo(days, 1);
      const orders = ordersIn(1, days);
      const all = runs({ weight, halfWidth, volatility, to: 'target', barMs: 5 * MINUTE_MS });
      expectMean(all.map((one) => one.orders), orders);
      expectMean(all.map((one) => one.turnover), (orders * halfWidth) / 2);
      expectMean(all.map((one) => one.drift), halfWidth / 3);
    });

    it('is pushed back at its edges at the rate of a reflected Brownian motion if trades go to the edge', () => {
      const [weight, halfWidth, volatility] = [0.5, 0.05, 0.6];
      const edge = logOdds(weight + halfWidth);
      // Hourly bars are as if the edge lay further away by 0.5826 of their deviation (Siegmund 1979); held is no more than the edge.
      const over = 0.5826 * volatility * Math.sqrt(HOUR_MS / (365 * DAY_MS));
      // Itô's formula for x²/2b: the sum of all pushes is σ²T/2b less b/6, because it begins in the middle.
      const turnover = (time: number, at = edge): number => ((0.55 * 0.45) / 2) * ((volatility ** 2 * time) / (2 * at) - at / 6);
      expect([(ordersIn(5, 40.83) * halfWidth) / 2, turnover(5)]).toEqual([expect.closeTo(1.113, 3), expect.closeTo(0.551, 3)]);
      const all = runs({ weight, halfWidth, volatility, to: 'band_edge', barMs: HOUR_MS });
      expectMean(all.map((one) => one.turnover), turnover(1, edge + over));
      expectMean(all.map((one) => one.drift), (halfWidth * (edge / 2 + over)) / (edge + over));
    });
  });
} // prettier-ignore
