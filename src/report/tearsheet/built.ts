import type { Report } from '../json/schema.ts';

type Portfolio = Report['portfolios'][number];
type Course = NonNullable<Portfolio['course']>;

/** Lowest and highest weight that a currency may have without being outside its band. */
export interface Band {
  readonly low: number;
  readonly high: number;
}

/** The band of a currency around its target. A currency with target 0 drifts absolutely in either case. */
export function bandOf(
  { targets, drift_type: type, drift_threshold: threshold }: Portfolio,
  currency: string,
): Band {
  const target = Number(targets[currency] ?? 0);
  const away = Number(threshold) * (type === 'relative' && target > 0 ? target : 1);
  return { low: Math.max(0, target - away), high: target + away };
}

/** The first point at which every weight lies in its band; 0 where none does. Until then the portfolio is being bought. */
export function builtAt(portfolio: Portfolio, { points }: Course): number {
  const currencies = [...new Set([...Object.keys(portfolio.targets), portfolio.cash])];
  const bands = currencies.map((currency) => ({ currency, ...bandOf(portfolio, currency) }));
  const isInside = ({ weights }: Course['points'][number]): boolean =>
    bands.every(
      ({ currency, low, high }) => (weights[currency] ?? 0) >= low && (weights[currency] ?? 0) <= high,
    );
  return Math.max(0, points.findIndex(isInside));
}

/** The largest drift of a point since the portfolio was built; `undefined` where that is no other than that of all points. */
export function driftSinceBuilt(
  portfolio: Portfolio,
): { readonly at: string; readonly drift: number } | undefined {
  const { course, targets, cash, drift_type: type } = portfolio;
  const built = course === undefined ? 0 : builtAt(portfolio, course);
  const points = course?.points.slice(built) ?? [];
  const [first] = points;
  if (built === 0 || first === undefined) return undefined;
  const driftOf = (weight: number, target: number): number =>
    Math.abs(weight - target) / (type === 'relative' && target > 0 ? target : 1);
  const drifts = points.flatMap(({ weights }) =>
    [...new Set([...Object.keys(targets), cash])].map((one) =>
      driftOf(weights[one] ?? 0, Number(targets[one] ?? 0)),
    ),
  );
  return { at: first.at, drift: drifts.reduce((most, each) => Math.max(most, each), 0) };
}
