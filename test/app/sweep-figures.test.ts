import { describe, expect, it } from 'vitest';
import { SettingRunner } from '../../src/app/sweep/sweep-run.ts';
import { combined, standardError } from '../../src/research/sweep/standard-error.ts';
import type { Spread } from '../../src/research/sweep/standard-error.ts';
import type { FigureName } from '../../src/research/sweep/sweep-figures.ts';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { HOUR_MS, instant } from '../../src/core/time.ts';
import { normalAt } from '../../src/simulator/market/random.ts';
import { closesTape } from '../research/bench.ts';
import { FRICTIONLESS } from '../research/portfolio.ts';
import { BEGIN } from './support/backtest.ts';
import { prepared, sweepFolder } from './support/sweep.ts';

const HOURS = 26;
/** Standard deviation of the logarithm of the price over an hour: 10 % over a day, so that the convexity σ²T/2 of a day is 50 bps. */
const HOURLY = 0.1 / Math.sqrt(24);

/** Hourly prices without a trend: the expected price of any later hour is that of now. The mirrored ones have the opposite steps. */
function driftless(seed: number, sign: number): Tape {
  let logarithm = Math.log(60_000);
  const closes = Array.from({ length: HOURS }, (_, hour) => {
    if (hour > 0) logarithm += sign * HOURLY * normalAt(seed, 0, hour) - HOURLY ** 2 / 2;
    return Number(Math.exp(logarithm).toFixed(2));
  });
  return closesTape('btcusd', { barMs: HOUR_MS, times: closes.map((_, hour) => BEGIN + hour * HOUR_MS), closes });
} // prettier-ignore

interface Seen {
  readonly values: Partial<Record<FigureName, number>>;
  readonly spreads: Partial<Record<FigureName, Spread>>;
}

/** Figures of each setting of an order over a day, on prices of this many seeds and on their mirrors. */
async function seen(
  size: string,
  { vary = 'slices=24', seeds, model = {} }: { vary?: string; seeds: number; model?: Partial<ExecutionModel> },
): Promise<readonly (readonly Seen[])[]> {
  const strategy = `id: day\nkind: twap\npair: btcusd\nduration: P1D\nslices: 24\n${size}\n`;
  const { base, jobs } = await prepared(sweepFolder({ strategy }), [vary]);
  const window = { from: instant(BEGIN + HOUR_MS), until: instant(BEGIN + HOURS * HOUR_MS) };
  return Array.from({ length: 2 * seeds }, (_, i) => {
    const tape = driftless(Math.floor(i / 2), i % 2 === 0 ? 1 : -1);
    const runner = new SettingRunner({ ...base, model: { ...base.model, ...FRICTIONLESS, ...model } }, [tape]);
    return jobs.map(({ strategies }): Seen => {
      const outcome = runner.run({ strategies, ...window });
      if (!('figures' in outcome)) throw new Error(outcome.refused);
      const { figures, spreads } = outcome;
      return { values: Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value)])), spreads };
    });
  });
} // prettier-ignore

/** The mean of a figure over pairs of mirrored prices, and its standard error over the pairs. */
function meanOf(values: readonly number[]): { readonly mean: number; readonly error: number } {
  const pairs = values.flatMap((value, i) => (i % 2 === 0 ? [] : [(value + (values[i - 1] ?? 0)) / 2]));
  const mean = pairs.reduce((sum, value) => sum + value, 0) / pairs.length;
  const squares = pairs.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (pairs.length - 1) / pairs.length) };
}

describe('the cost of a sweep on prices without a trend', () => {
  it.each([
    ['buys of a fixed amount', "side: buy\ntotal_notional: { amount: '60000', currency: usd }", -1],
    ['sales for a fixed amount', "side: sell\ntotal_notional: { amount: '50000', currency: usd }", 1],
    ['buys of a fixed quantity', "side: buy\ntotal_quantity: { amount: '1', currency: btc }", 0],
  ])('is zero for %s, although the average price of fixed amounts is a harmonic mean', async (_, size, sign) => {
    const runs = (await seen(size, { seeds: 50 })).map(([one]) => one?.values ?? {});
    for (const name of ['cost_bps', 'slippage_bps'] as const) {
      const { mean, error } = meanOf(runs.map((values) => values[name] ?? Number.NaN));
      expect(error).toBeLessThan(8);
      expect(Math.abs(mean)).toBeLessThan(3 * error);
    }
    // Slice k comes k hours after the arrival; the money of the report contains the convexity.
    const convexity = 10_000 * Array.from({ length: 24 }, (__, k) => Math.expm1(k * HOURLY ** 2)).reduce((a, b) => a + b, 0) / 24;
    const spent = sign > 0 ? 5 : 6;
    const { mean, error } = meanOf(runs.map((values) => (values.cost_usd ?? Number.NaN) / spent));
    expect(Math.abs(mean - sign * convexity)).toBeLessThan(3 * error);
  }); // prettier-ignore
});

describe('the standard errors of a run', () => {
  const size = "side: buy\ntotal_quantity: { amount: '1', currency: btc }";
  /** Mean square of a figure in standard errors, of which the expected value is n/(n − 2) if the error is right. */
  const square = (
    all: readonly (readonly [value: number | undefined, error: number | undefined])[],
  ): number =>
    all.reduce((sum, [value = Number.NaN, error = Number.NaN]) => sum + (value / error) ** 2, 0) / all.length;

  it('state the chance in the cost of a single order, and in the difference between two settings on the same prices', async () => {
    const runs = await seen(size, { vary: 'slices=24,12,4', seeds: 50 });
    const errorOf = (spread: Spread | undefined): number | undefined => spread && standardError(spread);
    for (const name of ['cost_bps', 'slippage_bps', 'cost_usd'] as const) {
      const own = square(runs.map(([one]) => [one?.values[name], errorOf(one?.spreads[name])]));
      const pairs = square(
        runs.map(([one, other]) => {
          const [mine, others] = [one?.spreads[name], other?.spreads[name]];
          const difference = (one?.values[name] ?? 0) - (other?.values[name] ?? 0);
          return [difference, mine && others && errorOf(combined(mine, others, -1))];
        }),
      );
      for (const mean of [own, pairs]) {
        expect(mean).toBeGreaterThan(0.7);
        expect(mean).toBeLessThan(1.6);
      }
    }
    // A comparison on the same prices is far more precise than two runs by themselves.
    const [[one, other] = []] = runs;
    const [mine, others] = [one?.spreads.cost_bps, other?.spreads.cost_bps];
    expect(mine && others && errorOf(combined(mine, others, -1))).toBeLessThan((errorOf(mine) ?? 0) / 2);
  }); // prettier-ignore

  it('are a hundredth of a basis point for execution, which moves of the market do not touch', async () => {
    const model = { halfSpreadBps: 2, impactBps: 20 };
    const [[few, many] = []] = await seen(size, { vary: 'slices=4,24', seeds: 1, model });
    // 20 bps times the root of the millions of a slice.
    for (const [one, slices] of [[few, 4], [many, 24]] as const) {
      const usd = one?.values.turnover_usd ?? Number.NaN;
      expect(one?.values.execution_bps).toBeCloseTo(2 + 20 * Math.sqrt(usd / 1e6 / slices), 1);
      expect(one?.spreads.execution_bps && standardError(one.spreads.execution_bps)).toBeLessThan(0.1);
      expect(one?.spreads.cost_bps && standardError(one.spreads.cost_bps)).toBeGreaterThan(100);
    }
  }); // prettier-ignore
});
