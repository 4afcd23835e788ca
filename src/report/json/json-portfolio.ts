import { money, text } from '../../core/money.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Drift, EquityCurve } from '../portfolio/equity-curve.ts';
import { nineDigits } from '../figures/digits.ts';
import { fallsOf, monthsOf, performanceOf } from '../tearsheet/performance.ts';
import type { Growth, Performance } from '../tearsheet/performance.ts';
import type { PortfolioFigures, Valuation } from '../portfolio/portfolio.ts';
import { decimalsOf } from '../portfolio/gap.ts';
import type { Report } from './schema.ts';

export const portfolioJson = (figures: PortfolioFigures): Report['portfolios'][number] => ({
  strategy: figures.strategy,
  cash: figures.cash,
  drift_type: figures.driftType,
  drift_threshold: figures.threshold,
  targets: figures.targets,
  decisions: figures.decisions,
  get rebalancings() {
    return figures.rebalancings;
  },
  traded: text(figures.traded),
  get start() {
    return figures.start && valuationJson(figures.start);
  },
  end: figures.end && valuationJson(figures.end),
  gains: figures.gains,
  at_costs: figures.atCosts,
  course: figures.course && courseJson(figures.course, figures),
});

const valuationJson = ({
  at,
  value,
  weights,
  drift,
}: Valuation): NonNullable<Report['portfolios'][number]['start']> => ({
  at: isoOf(at),
  value: text(value),
  weights,
  drift,
});

type CourseJson = NonNullable<Report['portfolios'][number]['course']>;
function courseJson(course: EquityCurve, figures: PortfolioFigures): CourseJson {
  const { drawdownAt, sinceBuilt } = course;
  let points: CourseJson['points'] | undefined;
  let tearsheet: CourseJson['tearsheet'] | undefined;
  return {
    step_ms: course.stepMs,
    mean_value: nineDigits(course.meanValue),
    turnover: nineDigits(course.turnover),
    return: nineDigits(course.return),
    target_return: nineDigits(course.targetReturn),
    drawdown: nineDigits(course.drawdown),
    ...driftJson(course.drift),
    get gap(): CourseJson['gap'] {
      const { gap } = figures;
      if (gap === undefined) throw new Error('invariant broken: the course has no gap');
      return gap;
    },
    get hold_gains(): CourseJson['hold_gains'] {
      const decimals = decimalsOf(course.points.values[0] ?? 0);
      return Object.fromEntries(
        course.currencies.map((currency, i) => [
          currency,
          text(money((course.holdGains[i] ?? 0).toFixed(decimals))),
        ]),
      );
    },
    flows: nineDigits(course.flows),
    tracking_error: digits(course.trackingError),
    drawdown_at: drawdownAt && isoOf(drawdownAt),
    since_built: sinceBuilt && {
      at: isoOf(sinceBuilt.at),
      ...driftJson(sinceBuilt),
      tracking_error: digits(sinceBuilt.trackingError),
    },
    get tearsheet(): CourseJson['tearsheet'] {
      return (tearsheet ??= tearsheetJson(course));
    },
    get points(): CourseJson['points'] {
      return (points ??= pointsJson(course));
    },
  };
}

const digits = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : nineDigits(value);

const driftJson = ({
  mean,
  max,
  outside,
}: Drift): Pick<CourseJson, 'drift_mean' | 'drift_max' | 'outside'> => ({
  drift_mean: nineDigits(mean),
  drift_max: nineDigits(max),
  outside: nineDigits(outside),
});

/** Maximum number of listed drawdowns. */
const DRAWDOWNS_MAX = 5;

function tearsheetJson({ points, stepMs }: EquityCurve): CourseJson['tearsheet'] {
  const { times, count } = points;
  const growthOf = (indexes: Float64Array): Growth => ({ times, indexes, count, stepMs });
  const [own, held] = [growthOf(points.indexes), growthOf(points.targetIndexes)];
  const months = monthsOf(held);
  return {
    portfolio: performanceJson(performanceOf(own)),
    buy_and_hold: performanceJson(performanceOf(growthOf(points.holdIndexes))),
    targets_held: performanceJson(performanceOf(held)),
    drawdowns: fallsOf(own)
      .toSorted((a, b) => b.depth - a.depth)
      .slice(0, DRAWDOWNS_MAX)
      .map(({ depth, peakAt, lowestAt, recoveredAt }) => ({
        depth: nineDigits(depth),
        peak_at: isoOf(instant(peakAt)),
        lowest_at: isoOf(instant(lowestAt)),
        recovered_at: recoveredAt === undefined ? undefined : isoOf(instant(recoveredAt)),
      })),
    months: monthsOf(own).map((one, i) => ({
      month: one.month,
      return: nineDigits(one.return),
      targets_held: nineDigits(months[i]?.return ?? 0),
      covers_ms: one.coversMs,
    })),
  };
}

type PerformanceJson = CourseJson['tearsheet']['portfolio'];
function performanceJson(one: Performance): PerformanceJson {
  return {
    return: nineDigits(one.return),
    drawdown: nineDigits(one.drawdown),
    cagr: digits(one.cagr),
    volatility: digits(one.volatility),
    sharpe: digits(one.sharpe),
    sortino: digits(one.sortino),
    calmar: digits(one.calmar),
  };
}

function pointsJson({ points, currencies }: EquityCurve): CourseJson['points'] {
  const { count, times, values, indexes, targetIndexes, holdIndexes, drawdowns, weights } = points;
  const unknown = Object.fromEntries(currencies.map((currency) => [currency, Number.NaN]));
  const rows: CourseJson['points'][number][] = [];
  let place = 0;
  for (let i = 0; i < count; i++) {
    const all = { ...unknown };
    for (const currency of currencies) all[currency] = nineDigits(weights[place++] ?? 0);
    rows.push({
      at: isoOf(instant(times[i] ?? 0)),
      value: nineDigits(values[i] ?? 0),
      index: nineDigits(indexes[i] ?? 0),
      target_index: nineDigits(targetIndexes[i] ?? 0),
      hold_index: nineDigits(holdIndexes[i] ?? 0),
      drawdown: nineDigits(drawdowns[i] ?? 0),
      weights: all,
    });
  }
  return rows;
}
