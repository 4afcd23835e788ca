import { approximate } from '../../core/money.ts';
import type { EquityCurve } from './equity-curve.ts';
import type { Report } from '../json/schema.ts';
import { PAID_PARTS } from './fill-costs.ts';
import type { Paid } from './fill-costs.ts';

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
export function gapOf({ steps, points, built }: EquityCurve, paid: readonly Paid[]): Gap {
  const [first, last] = [points[0], points.at(-1)];
  const [start, whole] = [first?.value ?? 0, last?.target_index ?? 1];
  const ordered = paid.toSorted((a, b) => a.at - b.at);
  const builtAt = points[built]?.at ?? Number.POSITIVE_INFINITY;
  const parts = { spread: 0, fees: 0, interest: 0, build_up: 0, drift: 0 };
  let next = 0;
  // What was paid up to the first point is part of the value at that point.
  while ((ordered[next]?.at ?? Number.POSITIVE_INFINITY) <= (first?.at ?? 0)) next++;
  for (const [i, { at, index, target_index: target, isFlow }] of steps.entries()) {
    const before = steps[i - 1];
    if (before === undefined) continue;
    const ofIndex = (start * before.index * whole) / target;
    const ofCash = before.value > 0 ? ofIndex / before.value : 0;
    let rest = (index / before.index - target / before.target_index) * ofIndex;
    // What is paid at the instant of a flow is paid from the money after it.
    const isIn = (one: Paid | undefined): one is Paid =>
      one !== undefined && (isFlow ? one.at < at : one.at <= at);
    for (let each = ordered[next]; isIn(each); each = ordered[++next])
      for (const part of PAID_PARTS) {
        const amount = approximate(each[part]) * ofCash;
        parts[part] -= amount;
        rest += amount;
      }
    parts[at <= builtAt ? 'build_up' : 'drift'] += rest;
  }
  return inWholeUnits(start, { total: start * ((last?.index ?? 1) - whole), ...parts });
}

/** Number of useful decimals for a value of this size. */
export const decimalsOf = (value: number): number => (value >= 1_000 ? 2 : value >= 10 ? 4 : 8);

/** Rounded so that the parts sum exactly to the total; the larger of the two parts without fills gets the remainder. */
function inWholeUnits(start: number, parts: Readonly<Record<'spread' | 'fees' | 'interest' | 'build_up' | 'drift' | 'total', number>>): Gap {
  const decimals = decimalsOf(start);
  const units = (value: number): bigint => BigInt(Math.round(value * 10 ** decimals));
  const total = units(parts.total);
  const rest = PAID_PARTS.reduce((left, part) => left - units(parts[part]), total);
  const isDrift = Math.abs(parts.drift) >= Math.abs(parts.build_up);
  const buildUp = isDrift ? units(parts.build_up) : rest - units(parts.drift);
  const written = (value: bigint): string => decimalText(value, decimals);
  return {
    total: written(total),
    trading: written(units(parts.spread)),
    fees: written(units(parts.fees)),
    interest: written(units(parts.interest)),
    drift: written(rest - buildUp),
    build_up: written(buildUp),
  };
} // prettier-ignore

function decimalText(units: bigint, decimals: number): string {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  const text = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/u, '');
  return units < 0n ? `-${text}` : text;
}
