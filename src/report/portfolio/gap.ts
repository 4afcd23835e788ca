import { approximate } from '../../core/money.ts';
import type { EquityCurve } from './equity-curve.ts';
import type { Report } from '../json/schema.ts';
import type { FillCost } from './fill-costs.ts';

/**
 * Why a portfolio earned less or more than its targets. The initial value has grown to a different value with the
 * portfolio than with the targets; that difference, in cash, is split into its causes. Decimal text; positive means
 * that the portfolio earned more. The parts sum exactly to the total.
 */
export type Gap = NonNullable<Report['portfolios'][number]['course']>['gap'];

/**
 * For each step, the difference of the two returns is `r − t = Σ (w − w*)·r_c − costs / V`, where w are the weights
 * held in it. Each step is multiplied by the growth of the portfolio before it and the growth of the targets after it,
 * so that the steps sum to the difference between the two final values (GRAP 1997, "Synthèse des modèles d'attribution
 * de performance").
 */
export function gapOf(curve: EquityCurve, costs: readonly FillCost[]): Gap {
  const { points, built } = curve;
  const [first, last] = [points[0], points.at(-1)];
  const [start, whole] = [first?.value ?? 0, last?.target_index ?? 1];
  const ordered = costs.toSorted((a, b) => a.at - b.at);
  const builtAt = points[built]?.at ?? Number.POSITIVE_INFINITY;
  let [trading, fees, buildUp, drift, next] = [0, 0, 0, 0, 0];
  // Trades up to the first point are part of the value at that point.
  while ((ordered[next]?.at ?? Number.POSITIVE_INFINITY) <= (first?.at ?? 0)) next++;
  for (const [i, { at, index, target_index: target }] of points.entries()) {
    const before = points[i - 1];
    if (before === undefined) continue;
    const ofIndex = (start * before.index * whole) / target;
    let [spreadPaid, feesPaid] = [0, 0];
    for (let each = ordered[next]; each !== undefined && each.at <= at; each = ordered[++next]) {
      spreadPaid += approximate(each.spread);
      feesPaid += approximate(each.fees);
    }
    const ofCash = ofIndex / before.value;
    const difference = index / before.index - target / before.target_index;
    trading -= spreadPaid * ofCash;
    fees -= feesPaid * ofCash;
    const rest = difference * ofIndex + (spreadPaid + feesPaid) * ofCash;
    if (at <= builtAt) buildUp += rest;
    else drift += rest;
  }
  return inWholeUnits(start, {
    total: start * ((last?.index ?? 1) - whole),
    trading,
    fees,
    build_up: buildUp,
    drift,
  });
}

/** Number of useful decimals for a value of this size. */
export const decimalsOf = (value: number): number => (value >= 1_000 ? 2 : value >= 10 ? 4 : 8);

/** Rounded so that the parts sum exactly to the total; the larger of the two parts without fills gets the remainder. */
function inWholeUnits(start: number, parts: Readonly<Record<keyof Gap, number>>): Gap {
  const decimals = decimalsOf(start);
  const units = (value: number): bigint => BigInt(Math.round(value * 10 ** decimals));
  const [total, trading, fees] = [units(parts.total), units(parts.trading), units(parts.fees)];
  const rest = total - trading - fees;
  const isDrift = Math.abs(parts.drift) >= Math.abs(parts.build_up);
  const buildUp = isDrift ? units(parts.build_up) : rest - units(parts.drift);
  const written = (value: bigint): string => decimalText(value, decimals);
  return {
    total: written(total),
    trading: written(trading),
    fees: written(fees),
    drift: written(rest - buildUp),
    build_up: written(buildUp),
  };
}

function decimalText(units: bigint, decimals: number): string {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  const text = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/u, '');
  return units < 0n ? `-${text}` : text;
}
