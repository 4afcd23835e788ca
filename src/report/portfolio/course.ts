import { money, text } from '../../core/money.ts';
import { DAY_MS, isoOf } from '../../core/time.ts';
import { nineDigits } from '../figures/digits.ts';
import { mapped, onDemand } from '../figures/rows.ts';
import type { Report } from '../json/schema.ts';
import { fallsOf, monthsOf, performanceOf } from '../tearsheet/performance.ts';
import type { EquityCurve, EquityPoint } from './equity-curve.ts';
import type { Paid } from './fill-costs.ts';
import { decimalsOf, gapOf } from './gap.ts';

type Course = NonNullable<Report['portfolios'][number]['course']>;

interface Setting {
  /** Traded value, in cash. */
  readonly traded: number;
  /** Width of the band. */
  readonly threshold: number;
  readonly paid: readonly Paid[];
}

/** The course of a portfolio as `report.json` has it. */
export function courseOf(curve: EquityCurve, setting: Setting): Course {
  const { traded, threshold } = setting;
  const { stepMs, points, flows, currencies, built, holdGains } = curve;
  const meanValue = meanOf(points.map(({ value }) => value));
  const last = points.at(-1);
  const lowest = points.reduce(
    (low, point) => (low === undefined || point.drawdown < low.drawdown ? point : low),
    points[0],
  );
  const bought = points[built];
  return onDemand({
    step_ms: stepMs,
    mean_value: nineDigits(meanValue),
    turnover: nineDigits(traded / 2 / meanValue),
    return: nineDigits((last?.index ?? 1) - 1),
    target_return: nineDigits((last?.target_index ?? 1) - 1),
    drawdown: nineDigits(-(lowest?.drawdown ?? 0)),
    ...driftOf(points, threshold),
    get money_weighted_return() {
      return moneyWeighted(curve);
    },
    get gap() {
      return gapOf(curve, setting.paid);
    },
    get hold_gains() {
      const decimals = decimalsOf(points[0]?.value ?? 0);
      return Object.fromEntries(
        currencies.map((currency, i) => [currency, text(money((holdGains[i] ?? 0).toFixed(decimals)))]),
      );
    },
    flows: nineDigits(flows.reduce((sum, { amount }) => sum + amount, 0)),
    cash_flows: flows
      .toSorted((a, b) => Math.abs(b.amount) - Math.abs(a.amount))
      .slice(0, CASH_FLOWS_MAX)
      .toSorted((a, b) => a.at - b.at)
      .map(({ at, value, amount }) => ({
        at: isoOf(at),
        value: nineDigits(value),
        amount: nineDigits(amount),
      })),
    tracking_error: trackingError(points, stepMs),
    drawdown_at: lowest && lowest.drawdown < 0 ? isoOf(lowest.at) : undefined,
    since_built: bought && {
      at: isoOf(bought.at),
      ...driftOf(points.slice(built), threshold),
      tracking_error: trackingError(points.slice(built), stepMs),
    },
    get tearsheet() {
      return tearsheetOf(curve);
    },
    get points() {
      return points.map(({ weights, ...point }) => ({
        at: isoOf(point.at),
        ...mapped(['value', 'index', 'target_index', 'hold_index', 'drawdown'], (name) =>
          nineDigits(point[name]),
        ),
        weights: Object.fromEntries(currencies.map((currency, i) => [currency, nineDigits(weights[i] ?? 0)])),
      }));
    },
  });
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function driftOf(
  points: readonly EquityPoint[],
  threshold: number,
): Pick<Course, 'drift_mean' | 'drift_max' | 'outside'> {
  const drifts = points.map(({ drift }) => drift);
  return {
    drift_mean: nineDigits(meanOf(drifts)),
    drift_max: nineDigits(drifts.reduce((a, b) => Math.max(a, b), 0)),
    outside: nineDigits(drifts.filter((drift) => drift > threshold).length / points.length),
  };
}

/** Maximum number of listed flows. */
const CASH_FLOWS_MAX = 2_000;

/**
 * The internal rate of return of the period, not annualised: a root of V_0·x + Σ F_i·x^((T − t_i) / T) = V_T, less 1.
 */
function moneyWeighted({ points, flows }: EquityCurve): number {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const excess = (x: number): number =>
    flows.reduce(
      (sum, { at, amount }) => sum + amount * x ** ((last.at - at) / (last.at - first.at)),
      first.value * x - last.value,
    );
  let [low, high] = [0, 1e9];
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2;
    if (excess(middle) < 0) low = middle;
    else high = middle;
  }
  return nineDigits((low + high) / 2 - 1);
}

const YEAR_DAYS = 365.25;

/**
 * Yearly standard deviation (of a sample) of the differences from the targets after the first of these points. A
 * difference over `w` steps has `w` times the mean and variance of one over one step. For equal steps, it is the usual
 * standard deviation. `undefined` for fewer than ten differences.
 */
function trackingError(points: readonly EquityPoint[], stepMs: number): number | undefined {
  if (points.length <= 10) return undefined;
  let [sum, all, own, squares] = [0, 0, 0, 0];
  const steps = points
    .slice(1)
    .map(({ at, difference }, i) => ({ difference, step: (at - (points[i]?.at ?? 0)) / stepMs }));
  for (const { difference, step } of steps) {
    sum += difference;
    all += step;
    own += step ** 2;
  }
  for (const { difference, step } of steps) squares += (difference - (step * sum) / all) ** 2;
  return nineDigits(Math.sqrt(((squares / (all - own / all)) * (YEAR_DAYS * DAY_MS)) / stepMs));
}

/** Maximum number of listed drawdowns. */
const DRAWDOWNS_MAX = 5;

function tearsheetOf(curve: EquityCurve): Course['tearsheet'] {
  const targets = monthsOf(curve.points, 'target_index');
  return {
    portfolio: performanceOf(curve, 'index'),
    buy_and_hold: performanceOf(curve, 'hold_index'),
    targets_held: performanceOf(curve, 'target_index'),
    drawdowns: fallsOf(curve.points, 'index')
      .toSorted((a, b) => b.depth - a.depth)
      .slice(0, DRAWDOWNS_MAX)
      .map(({ depth, peakAt, lowestAt, recoveredAt }) => ({
        depth: nineDigits(depth),
        peak_at: isoOf(peakAt),
        lowest_at: isoOf(lowestAt),
        recovered_at: recoveredAt && isoOf(recoveredAt),
      })),
    months: monthsOf(curve.points, 'index').map((one, i) => ({
      month: one.month,
      return: nineDigits(one.return),
      targets_held: nineDigits(targets[i]?.return ?? 0),
      covers_ms: one.coversMs,
    })),
  };
}
