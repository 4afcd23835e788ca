import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimate, leftAfter, urgency } from '../../src/strategy/kinds/almgren-chriss.ts';
import { shortfall } from '../../src/strategy/kinds/shortfall.ts';
import { twap } from '../../src/strategy/kinds/twap.ts';
import { describePage, describeSliced, PLAN, slotsOf } from './sliced.ts';
import { instrumentOf, NINE } from './views.ts';

const OWN = {
  risk_aversion: 3.65,
  volatility: '0.6',
  impact: { bps: 3, per_hour: { amount: '8', currency: 'btc' } },
};
const plan = (over: object = {}): object => ({ ...PLAN, ...OWN, ...over });
const sizes = (over: object = {}): readonly string[] =>
  slotsOf(shortfall, plan(over)).map(({ size }) => size);
const shares = (over: object = {}): readonly number[] => sizes(over).map((size) => Number(size) / 8);
const forecastOf = (over: object = {}) => {
  const forecast = shortfall.bind(plan(over)).forecast(NINE, instrumentOf('btcusd'));
  if (forecast === undefined) throw new Error('a shortfall has a forecast');
  return forecast;
};

/** The figures of a document as the paper names them, per hour and as fractions: written down apart from the kernel. */
function figures(over: { risk_aversion?: number; slices?: number; half_spread_bps?: number } = {}) {
  const { risk_aversion: lambda = OWN.risk_aversion, slices: n = 4 } = over;
  const tau = 4 / n;
  const sigma = 0.6 / Math.sqrt(365 * 24);
  const eta = 3 / 10_000; // 8 btc in an hour cost 3 bps
  const kappaTau = Math.acosh(1 + (lambda * sigma ** 2 * tau ** 2) / (2 * eta));
  return { lambda, n, tau, sigma, eta, kappaTau, total: n * kappaTau };
}

describeSliced('shortfall', {
  kind: shortfall,
  own: OWN,
  // cosh of the urgency is 1.25, so that what is left after k of 4 is (2^(4-k) - 2^(k-4)) / (2^4 - 2^-4):
  // 7.875, 3.75 and 1.5 of 15.9375.
  sizes: ['4.04705882', '2.07058824', '1.12941176', '0.75294118'],
  anyOwn: fc
    .record({
      risk_aversion: fc.double({ min: 0, max: 20, noNaN: true }),
      bps: fc.double({ min: 0.5, max: 100, noNaN: true }),
      volatility: fc.constantFrom('0.05', '0.6', '1.2'),
      pace: fc.integer({ min: 1, max: 10_000 }),
    })
    .map(({ risk_aversion, bps, volatility, pace }) => ({
      risk_aversion,
      volatility,
      impact: { bps, per_hour: { amount: String(pace), currency: 'btc' } },
    })),
});

describe('the schedule of Almgren and Chriss', () => {
  it.each([0.05, 1, 3.65, 20, 100])(
    'is sinh(κ(T − t)) / sinh(κT) with a risk aversion of %d',
    (risk_aversion) => {
      for (const slices of [1, 2, 7, 48]) {
        const { n, kappaTau, total } = figures({ risk_aversion, slices });
        const left = (k: number): number => Math.sinh((n - k) * kappaTau) / Math.sinh(total);
        for (const [k, share] of shares({ risk_aversion, slices }).entries())
          expect(Math.abs(share - (left(k) - left(k + 1)))).toBeLessThan(1e-8);
      }
    },
  );

  it('equals that of a twap to the last digit if risk has no price', () => {
    for (const over of [{}, { slices: 7 }, { slices: 7, jitter: { time_pct: 30, size_pct: 20, seed: 5 } }])
      expect(slotsOf(shortfall, plan({ ...over, risk_aversion: 0 }))).toEqual(
        slotsOf(twap, { ...PLAN, ...over }),
      );
  });

  it('trades almost everything at once if risk dominates, and still sums to the total', () => {
    const [first, ...later] = shares({ risk_aversion: 1e6 });
    expect(first).toBeGreaterThan(0.9999);
    expect(later.every((share) => share >= 0 && share < 1e-4)).toBe(true);
    for (const slices of [4, 5_000]) {
      const perStep = urgency(
        { riskAversion: 1e6, hourlyVolatility: 0.1, impactBps: 1e-6, halfSpreadBps: 0 },
        { slices, stepHours: 1 },
      );
      expect([0, 1, slices].map((k) => leftAfter(k, slices, perStep))).toEqual([1, expect.closeTo(0, 9), 0]);
      expect([0, 1, slices].map((k) => leftAfter(k, slices, Number.POSITIVE_INFINITY))).toEqual([1, 0, 0]);
    }
  });

  it('has no slice larger than the previous one, and a larger first slice if risk costs more', () => {
    const aversion = fc.double({ min: 0, max: 200, noNaN: true });
    fc.assert(
      fc.property(aversion, aversion, fc.integer({ min: 2, max: 60 }), (a, b, slices) => {
        const [less = [], more = []] = [Math.min(a, b), Math.max(a, b)].map((risk_aversion) =>
          shares({ risk_aversion, slices }),
        );
        // Two units of slack: sums are rounded, not slices; the last of equal slices takes the remainder.
        expect(more.every((share, k) => k === 0 || share <= (more[k - 1] ?? 0) + slices * 1e-8)).toBe(true);
        expect(more[0]).toBeGreaterThanOrEqual((less[0] ?? 0) - 1e-8);
      }),
      { numRuns: 100 },
    );
  });

  it('has the lowest sum of cost and priced risk: any shift between slices increases it', () => {
    const objective = (parts: readonly number[], risk_aversion: number): number => {
      const { sigma, tau } = figures({ risk_aversion, slices: parts.length });
      const model = { riskAversion: risk_aversion, hourlyVolatility: sigma, impactBps: 3, halfSpreadBps: 0 };
      const { costBps, riskBps } = estimate(model, { slices: parts.length, stepHours: tau }, parts);
      // A basis point of cost is worth as much as `risk_aversion` times one percent squared.
      return costBps + risk_aversion * (riskBps / 100) ** 2;
    };
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 50, noNaN: true }),
        fc.integer({ min: 2, max: 30 }),
        fc.nat(),
        fc.nat(),
        fc.double({ min: 0.0001, max: 0.1, noNaN: true }),
        (risk_aversion, slices, from, to, moved) => {
          const { n, kappaTau } = figures({ risk_aversion, slices });
          const best = Array.from(
            { length: n },
            (_, k) => leftAfter(k, n, kappaTau) - leftAfter(k + 1, n, kappaTau),
          );
          const other = best.map(
            (part, k) => part - (k === from % n ? moved : 0) + (k === to % n ? moved : 0),
          );
          expect(objective(other, risk_aversion)).toBeGreaterThanOrEqual(
            objective(best, risk_aversion) * (1 - 1e-12),
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});

/** The published table of the DROP library: "Optimal Execution of Portfolio Transactions", one million units in five days. */
describe('the table of Almgren and Chriss', () => {
  const [X, N, sigma, epsilon, gamma, eta] = [1e6, 5, 0.95, 0.0625, 2.5e-7, 2.5e-6];
  /** The kernel's model has no permanent impact: with γ, the same schedule follows from η̃ = η − γτ/2, τ of one day. */
  const modelOf = (lambda: number, permanent: number) => ({ riskAversion: lambda, hourlyVolatility: sigma, impactBps: 1e4 * (eta - permanent / 2), halfSpreadBps: 0 }); // prettier-ignore
  const leftOf = (lambda: number, permanent: number): readonly number[] => {
    const perStep = urgency(modelOf(lambda, permanent), { slices: N, stepHours: 1 });
    return Array.from({ length: N }, (_, k) => X * leftAfter(k + 1, N, perStep));
  };

  it.each([
    [1e-6, [541_956, 289_854, 147_897, 62_142, 0]],
    [2e-6, [428_599, 182_933, 76_296, 27_643, 0]],
  ])('has its remainders at a risk aversion of %d', (lambda, table) => {
    expect(leftOf(lambda, gamma).map(Math.round)).toEqual(table);
  });

  it.each([
    [1e-9, 0.6625, 1.0812, 0.6636, 51.3],
    [2e-9, 0.6625, 1.0794, 0.6647, 36.27],
    [5e-9, 0.6625, 1.074, 0.6679, 22.94],
    [9e-9, 0.6626, 1.0669, 0.6722, 17.1],
  ])('has its costs and variances at a risk aversion of %d', (lambda, cost, variance, both, halfLife) => {
    const model = modelOf(lambda, gamma);
    const perStep = urgency(model, { slices: N, stepHours: 1 });
    const parts = Array.from({ length: N }, (_, k) => leftAfter(k, N, perStep) - leftAfter(k + 1, N, perStep));
    const { costBps, riskBps } = estimate(model, { slices: N, stepHours: 1 }, parts);
    // The permanent and the fixed cost depend on the total alone.
    const expected = (gamma * X ** 2) / 2 + epsilon * X + X ** 2 * (costBps / 1e4);
    const spread = X ** 2 * (riskBps / 1e4) ** 2;
    expect([expected / 1e6, spread / 1e12, (expected + lambda * spread) / 1e6].map((one) => one.toFixed(4))).toEqual([cost, variance, both].map((one) => one.toFixed(4)));
    // For small steps, κτ is σ√(λ/η̃).
    expect(1 / perStep / halfLife).toBeCloseTo(1, 3);
  }); // prettier-ignore

  it.each([1e-7, 1e-6, 2e-6])('follows the closed form without permanent impact, at a risk aversion of %d', (lambda) => {
    const kappa = Math.acosh(1 + (lambda * sigma ** 2) / (2 * eta));
    for (const [k, left] of leftOf(lambda, 0).entries())
      expect(left / X).toBeCloseTo(Math.sinh((N - k - 1) * kappa) / Math.sinh(N * kappa), 12);
    // Permanent impact makes waiting dearer, so that less is left.
    for (const [k, left] of leftOf(lambda, gamma).slice(0, -1).entries()) expect(left).toBeLessThan(leftOf(lambda, 0)[k] ?? 0);
  }); // prettier-ignore
});

describe('the forecast of a shortfall', () => {
  it.each([0, 0.5, 3.65, 40])('is the sum over its slices, with a risk aversion of %d', (risk_aversion) => {
    for (const jitter of [undefined, { time_pct: 0, size_pct: 30, seed: 9 }]) {
      const { sigma, eta, tau } = figures({ slices: 12 });
      const planned = shares({ risk_aversion, slices: 12, jitter });
      const cost = planned.reduce((sum, share) => sum + eta * (share / tau) * share, 0);
      // Slice k is traded at its slot; until the next one the market moves what slices k + 1 and later are still to do.
      const variance = planned.reduce(
        (sum, _, k) => sum + tau * sigma ** 2 * planned.slice(k + 1).reduce((a, b) => a + b, 0) ** 2,
        0,
      );
      const forecast = forecastOf({ risk_aversion, slices: 12, jitter });
      expect(forecast.costBps).toBeCloseTo(cost * 10_000, 9);
      expect(forecast.riskBps).toBeCloseTo(Math.sqrt(variance) * 10_000, 6);
    }
  });

  it('also states the cost of equal slices, which is lower at a higher risk', () => {
    const { even, costBps, riskBps } = forecastOf({ slices: 4 });
    // Four quarters, one an hour: 3 bps x 4 x 1/16; hourly risk x the root of 9/16 + 4/16 + 1/16.
    expect(even.costBps).toBeCloseTo(0.75, 12);
    expect(even.riskBps).toBeCloseTo((6_000 / Math.sqrt(8_760)) * Math.sqrt(14 / 16), 9);
    expect(costBps).toBeGreaterThan(even.costBps);
    expect(riskBps).toBeLessThan(even.riskBps);
  });

  it('adds half the spread, and follows the total and the pace', () => {
    const bare = forecastOf().costBps;
    expect(forecastOf({ impact: { ...OWN.impact, half_spread_bps: 1.5 } }).costBps).toBeCloseTo(
      bare + 1.5,
      12,
    );
    const twice = {
      total_quantity: { amount: '16', currency: 'btc' },
      impact: { bps: 1.5, per_hour: { amount: '8', currency: 'btc' } },
    };
    expect(forecastOf(twice).costBps).toBeCloseTo(bare, 7);
  });

  it('does not exist for a kind without a cost model', () => {
    expect(twap.bind(PLAN).forecast(NINE, instrumentOf('btcusd'))).toBeUndefined();
  });
});

describePage('shortfall', shortfall, {
  column: 2,
  more: (example) => {
    const forecast = shortfall.bind(example).forecast(NINE, instrumentOf('btcusd'));
    const row = (name: string, costBps = 0, riskBps = 0): string =>
      `| ${name} | ${costBps.toFixed(2)} | ${riskBps.toFixed(1)} |`;
    return [
      row('as planned', forecast?.costBps, forecast?.riskBps),
      row('equal slices', forecast?.even.costBps, forecast?.even.riskBps),
    ];
  },
});
