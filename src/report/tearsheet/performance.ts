import { DAY_MS, after, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { nineDigits } from '../figures/digits.ts';
import type { Report } from '../json/schema.ts';
import type { EquityCurve, EquityPoint } from '../portfolio/equity-curve.ts';

/** One of the indexes of a curve: 1 at the first point, excluding deposits and withdrawals. */
type Index = 'index' | 'target_index' | 'hold_index';

/** The formulas of empyrical and QuantStats for a risk-free rate of 0. A figure is omitted if they do not define it. */
export type Performance = NonNullable<Report['portfolios'][number]['course']>['tearsheet']['portfolio'];

/** One fall from a peak until the index reaches it again. */
export interface Fall {
  /** A fraction of the peak, above 0. */
  readonly depth: number;
  readonly peakAt: Instant;
  readonly lowestAt: Instant;
  /** `undefined`: not yet. */
  readonly recoveredAt: Instant | undefined;
}

export interface MonthReturn {
  /** `2026-01`, UTC. */
  readonly month: string;
  readonly return: number;
  /** How much of the month the index covers; `undefined`: the whole month. */
  readonly coversMs: number | undefined;
}

export const YEAR_MS = 365.25 * DAY_MS;
/** Minimum number of returns for a deviation. */
const RETURNS_MIN = 10;

export function performanceOf(
  { points, stepMs }: Pick<EquityCurve, 'points' | 'stepMs'>,
  by: Index,
): Performance {
  const total = points.at(-1)?.[by] ?? 1;
  const years = ((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0)) / YEAR_MS;
  const cagr = years > 0 && total > 0 ? total ** (1 / years) - 1 : undefined;
  const drawdown = fallsOf(points, by).reduce((deepest, { depth }) => Math.max(deepest, depth), 0);
  const { volatility, sharpe, sortino } = ofReturns(returnsOf(points, stepMs, by), YEAR_MS / stepMs);
  const digits = (value: number | undefined): number | undefined =>
    value === undefined ? undefined : nineDigits(value);
  return {
    return: nineDigits(total - 1),
    drawdown: nineDigits(drawdown),
    cagr: digits(cagr),
    volatility: digits(volatility),
    sharpe: digits(sharpe),
    sortino: digits(sortino),
    calmar: cagr === undefined || drawdown === 0 ? undefined : nineDigits(cagr / drawdown),
  };
}

/** Returns of whole steps, because a shorter first or last step would count as a calm one. */
const returnsOf = (points: readonly EquityPoint[], stepMs: number, by: Index): readonly number[] =>
  points.flatMap((point, i) => {
    const before = points[i - 1];
    return before === undefined || point.at - before.at < stepMs ? [] : [point[by] / before[by] - 1];
  });

function ofReturns(
  returns: readonly number[],
  perYear: number,
): Readonly<Partial<Record<'volatility' | 'sharpe' | 'sortino', number | undefined>>> {
  const { length } = returns;
  if (length < RETURNS_MIN) return {};
  let [sum, downside, squares] = [0, 0, 0];
  for (const each of returns) {
    sum += each;
    downside += Math.min(each, 0) ** 2;
  }
  const mean = sum / length;
  for (const each of returns) squares += (each - mean) ** 2;
  const deviation = Math.sqrt(squares / (length - 1));
  const yearly = Math.sqrt(perYear);
  return {
    volatility: deviation * yearly,
    sharpe: deviation === 0 ? undefined : (mean / deviation) * yearly,
    sortino: downside === 0 ? undefined : (mean / Math.sqrt(downside / length)) * yearly,
  };
}

/** Oldest first. */
export function fallsOf(points: readonly EquityPoint[], by: Index): readonly Fall[] {
  const falls: Fall[] = [];
  let [peak, lowest] = [points[0], points[0]];
  const fall = (recoveredAt: Instant | undefined): void => {
    if (peak && lowest && lowest[by] < peak[by])
      falls.push({ depth: 1 - lowest[by] / peak[by], peakAt: peak.at, lowestAt: lowest.at, recoveredAt });
  };
  for (const point of points.slice(1)) {
    if (peak === undefined || point[by] >= peak[by]) {
      fall(point.at);
      [peak, lowest] = [point, point];
    } else if (lowest === undefined || point[by] < lowest[by]) lowest = point;
  }
  fall(undefined);
  return falls;
}

/** From the last point of a month to the last point of the next. A point at midnight belongs to the day, and the month, before it. */
export function monthsOf(points: readonly EquityPoint[], by: Index): readonly MonthReturn[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return [];
  let before = first;
  return points.slice(1).flatMap((point, i) => {
    const month = monthOf(point.at);
    const next = points[i + 2];
    if (next !== undefined && monthOf(next.at) === month) return [];
    const one = { month, return: point[by] / before[by] - 1, coversMs: coverOf(month, first.at, last.at) };
    before = point;
    return [one];
  });
}

function coverOf(month: string, from: number, to: number): number | undefined {
  const start = Date.parse(`${month}-01T00:00:00Z`);
  const first = new Date(start);
  const end = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1);
  return from <= start && to >= end ? undefined : Math.min(to, end) - Math.max(from, start);
}

const monthOf = (at: Instant): string => isoOf(after(at, -1)).slice(0, 7);
