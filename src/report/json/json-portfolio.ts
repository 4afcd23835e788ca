import { text } from '../../core/money.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { EquityCurve } from '../figures/equity-curve.ts';
import { nineDigits } from '../figures/digits.ts';
import type { PortfolioFigures, Valuation } from '../figures/portfolio.ts';
import { known } from './json-parts.ts';
import type { Report } from './schema.ts';

export const portfolioJson = (figures: PortfolioFigures): Report['portfolios'][number] => ({
  strategy: figures.strategy,
  cash: figures.cash,
  drift_type: figures.driftType,
  drift_threshold: figures.threshold,
  targets: figures.targets,
  decisions: figures.decisions,
  traded: text(figures.traded),
  get start() {
    return figures.start && valuationJson(figures.start);
  },
  ...known({
    end: figures.end && valuationJson(figures.end),
    course: figures.course && courseJson(figures.course),
  }),
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
function courseJson(course: EquityCurve): CourseJson {
  const { drawdownAt } = course;
  let points: CourseJson['points'] | undefined;
  return {
    step_ms: course.stepMs,
    mean_value: nineDigits(course.meanValue),
    turnover: nineDigits(course.turnover),
    return: nineDigits(course.return),
    target_return: nineDigits(course.targetReturn),
    drawdown: nineDigits(course.drawdown),
    drift_mean: nineDigits(course.driftMean),
    drift_max: nineDigits(course.driftMax),
    outside: nineDigits(course.outside),
    flows: nineDigits(course.flows),
    ...known({
      tracking_error: course.trackingError === undefined ? undefined : nineDigits(course.trackingError),
      drawdown_at: drawdownAt && isoOf(drawdownAt),
    }),
    get points(): CourseJson['points'] {
      return (points ??= pointsJson(course));
    },
  };
}

function pointsJson({ points, currencies }: EquityCurve): CourseJson['points'] {
  const { count, times, values, indexes, drawdowns, weights } = points;
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
      drawdown: nineDigits(drawdowns[i] ?? 0),
      weights: all,
    });
  }
  return rows;
}
