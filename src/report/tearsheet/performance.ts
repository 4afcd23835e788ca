import { DAY_MS, instant, isoOf } from '../../core/time.ts';

/** A value at increasing instants, excluding deposits and withdrawals. For statistics, never as money. */
export interface Growth {
  /** Unix ms. */
  readonly times: ArrayLike<number>;
  /** 1 at the first instant. */
  readonly indexes: ArrayLike<number>;
  /** Number of valid rows: columns may be longer. */
  readonly count: number;
  /** Time between two points; the first and the last step may be shorter. */
  readonly stepMs: number;
}

/**
 * The formulas of empyrical and QuantStats for a risk-free rate of 0. A figure is `undefined` if they do not define it.
 */
export interface Performance {
  readonly return: number;
  readonly cagr: number | undefined;
  readonly volatility: number | undefined;
  readonly sharpe: number | undefined;
  readonly sortino: number | undefined;
  readonly calmar: number | undefined;
  /** A fraction of the peak, 0 or more. */
  readonly drawdown: number;
}

/** One fall from a peak until the index reaches it again. Unix ms. */
export interface Fall {
  /** A fraction of the peak, above 0. */
  readonly depth: number;
  readonly peakAt: number;
  readonly lowestAt: number;
  /** `undefined`: not yet. */
  readonly recoveredAt: number | undefined;
}

export interface MonthReturn {
  /** `2026-01`, UTC. */
  readonly month: string;
  readonly return: number;
  /** How much of the month the index covers; `undefined`: all of it. */
  readonly coversMs: number | undefined;
}

export const YEAR_MS = 365.25 * DAY_MS;
/** Minimum number of returns for a deviation. */
const RETURNS_MIN = 10;

export function performanceOf(growth: Growth): Performance {
  const { times, indexes, count, stepMs } = growth;
  const [first, last] = [times[0] ?? 0, times[count - 1] ?? 0];
  const total = indexes[count - 1] ?? 1;
  const years = (last - first) / YEAR_MS;
  const cagr = years > 0 && total > 0 ? total ** (1 / years) - 1 : undefined;
  const drawdown = fallsOf(growth).reduce((deepest, { depth }) => Math.max(deepest, depth), 0);
  return {
    return: total - 1,
    cagr,
    drawdown,
    calmar: cagr === undefined || drawdown === 0 ? undefined : cagr / drawdown,
    ...ofReturns(returnsOf(growth), YEAR_MS / stepMs),
  };
}

/** Returns of whole steps, because a shorter first or last one would count as a calm one. */
function returnsOf({ times, indexes, count, stepMs }: Growth): readonly number[] {
  const returns: number[] = [];
  for (let i = 1; i < count; i++) {
    if ((times[i] ?? 0) - (times[i - 1] ?? 0) < stepMs) continue;
    returns.push((indexes[i] ?? 1) / (indexes[i - 1] ?? 1) - 1);
  }
  return returns;
}

function ofReturns(
  returns: readonly number[],
  perYear: number,
): Pick<Performance, 'volatility' | 'sharpe' | 'sortino'> {
  const { length } = returns;
  if (length < RETURNS_MIN) return { volatility: undefined, sharpe: undefined, sortino: undefined };
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
export function fallsOf({ times, indexes, count }: Growth): readonly Fall[] {
  const falls: Fall[] = [];
  let [peak, peakAt] = [indexes[0] ?? 1, times[0] ?? 0];
  let [lowest, lowestAt] = [peak, peakAt];
  const fall = (recoveredAt: number | undefined): void => {
    if (lowest < peak) falls.push({ depth: 1 - lowest / peak, peakAt, lowestAt, recoveredAt });
  };
  for (let i = 1; i < count; i++) {
    const [at, index] = [times[i] ?? 0, indexes[i] ?? 1];
    if (index >= peak) {
      fall(at);
      [peak, peakAt, lowest] = [index, at, index];
    } else if (index < lowest) [lowest, lowestAt] = [index, at];
  }
  fall(undefined);
  return falls;
}

/**
 * From the last point of a month to that of the next. A point at midnight belongs to the day, and the month, before it.
 */
export function monthsOf({ times, indexes, count }: Growth): readonly MonthReturn[] {
  const months: MonthReturn[] = [];
  let before = indexes[0] ?? 1;
  for (let i = 1; i < count; i++) {
    const month = monthOf(times[i] ?? 0);
    if (i + 1 < count && monthOf(times[i + 1] ?? 0) === month) continue;
    const index = indexes[i] ?? 1;
    months.push({
      month,
      return: index / before - 1,
      coversMs: coverOf(month, times[0] ?? 0, times[count - 1] ?? 0),
    });
    before = index;
  }
  return months;
}

function coverOf(month: string, from: number, to: number): number | undefined {
  const start = Date.parse(`${month}-01T00:00:00Z`);
  const first = new Date(start);
  const end = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1);
  return from <= start && to >= end ? undefined : Math.min(to, end) - Math.max(from, start);
}

const monthOf = (at: number): string => isoOf(instant(at - 1)).slice(0, 7);
