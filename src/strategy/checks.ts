import {
  add,
  decimalsOf,
  money,
  quantity,
  roundDown,
  roundUp,
  share,
  subtract,
  text,
} from '../core/money.ts';
import type { Minimum } from '../core/instrument.ts';
import type { Quantity } from '../core/money.ts';
import { parseDuration, SECOND_MS } from '../core/time.ts';
import type { AmountField } from './fields.ts';
import type { CheckWorld, Problem } from './kernel.ts';

/** Checks across fields that several kinds share. */

/** Requires exactly one of two fields. */
export function oneOf<Plan extends object>(
  plan: Plan,
  a: keyof Plan & string,
  b: keyof Plan & string,
): Problem[] {
  if ((plan[a] === undefined) !== (plan[b] === undefined)) return [];
  return plan[a] === undefined
    ? [{ path: [], message: `give one of ${a} and ${b}` }]
    : atMostOneOf(plan, a, b);
}

/** Allows at most one of two fields. */
export function atMostOneOf<Plan extends object>(
  plan: Plan,
  a: keyof Plan & string,
  b: keyof Plan & string,
): Problem[] {
  if (plan[a] === undefined || plan[b] === undefined) return [];
  return [{ path: [b], message: `give either ${a} or ${b}, not both: remove one` }];
}

/** Rejects names that occur twice in a list. */
export const atMostOnce = (names: readonly string[], field: string): Problem[] =>
  names.flatMap((name, n) =>
    names.indexOf(name) === n ? [] : [{ path: [field, n], message: `${name} is listed twice: remove one` }],
  );

/** The fields of most kinds for their total. */
export const TOTAL = { base: 'total_quantity', quote: 'total_notional' } as const;

/** Requires one of the two fields of a size, in its own currency. */
export const checkSize = <Field extends string>(
  plan: SizedPlan<Field>,
  fields: SizeFields<Field>,
  world: CheckWorld,
): readonly Problem[] => [...oneOf(plan, fields.base, fields.quote), ...checkUnits(plan, fields, world)];

/** Rejects an interval between pieces below a second. */
export const checkInterval = ({ interval }: { readonly interval: string }): readonly Problem[] =>
  parseDuration(interval) < SECOND_MS
    ? [{ path: ['interval'], message: 'the interval must be at least one second (PT1S)' }]
    : [];

/** Checks a largest piece. Each of two equal pieces is more than half of it, and half of it must reach the venue's minimum. */
export const checkPiece = (largest: string | undefined, { notional }: Minimum): readonly Problem[] =>
  largest === undefined || notional === undefined || money(largest).gte(notional.times(2))
    ? []
    : [
        {
          path: ['max_slice_notional', 'amount'],
          message: `pieces could be below the venue's minimum of ${text(notional)}: write at least twice as much`,
        },
      ];

/** The names of two fields for one size: the first in the base currency of the pair, the second in its quote currency. */
export interface SizeFields<Field extends string> {
  readonly base: Field;
  readonly quote: Field;
}

/** A document with such fields. */
export type SizedPlan<Field extends string> = { readonly pair: string } & {
  readonly [F in Field]?: AmountField | undefined;
};

/** Rejects an amount in the wrong currency of the pair, and names the field that accepts this currency. */
export function checkUnits<Field extends string>(
  plan: SizedPlan<Field>,
  { base, quote }: SizeFields<Field>,
  world: CheckWorld,
): readonly Problem[] {
  const known = world.currencies(plan.pair);
  if (known === undefined) return [];
  const cases = [
    { field: base, expected: known.base, other: known.quote, instead: quote },
    { field: quote, expected: known.quote, other: known.base, instead: base },
  ];
  return cases.flatMap(({ field, expected, other, instead }) => {
    const given = plan[field]?.currency;
    if (given === undefined || given === expected) return [];
    const hint = given === other ? `; for ${given} write ${instead}` : '';
    const message = `${field} of ${plan.pair} must be in ${expected}, not ${given}${hint}`;
    return [{ path: [field, 'currency'], message }];
  });
}

/** Rejects a size with more decimals than the pair is sized in, and names the nearest usable sizes. */
export function checkDecimals<Field extends string>(
  plan: SizedPlan<Field>,
  { base, quote }: SizeFields<Field>,
  { world, isUsable = () => true }: DecimalsRule,
): readonly Problem[] {
  const { basePrecision, quotePrecision } = world.precisions(plan.pair);
  const isBase = plan[base] !== undefined;
  const field = isBase ? base : quote;
  const precision = isBase ? basePrecision : quotePrecision;
  const given = plan[field];
  if (given === undefined || precision === undefined) return [];
  const total = quantity(given.amount);
  if (decimalsOf(total) <= precision) return [];
  const unit = given.currency;
  const { lot } = world.minimum(plan.pair);
  const isLot = isBase && lot !== undefined && decimalsOf(lot) === precision;
  const rule = isLot
    ? `quantities of ${plan.pair} are multiples of its lot of ${text(lot)}`
    : `${unit} has ${precision} decimals`;
  const near = nearestSizes(total, precision, isUsable).map((one) => `${text(one)} ${unit}`);
  const fix = near.length === 0 ? '' : `: write ${near.join(' or ')}`;
  return [{ path: [field, 'amount'], message: `${text(total)} ${unit} cannot be traded, ${rule}${fix}` }];
}

interface DecimalsRule {
  readonly world: CheckWorld;
  /** Whether a size of the right decimals can be traded. Every size between two usable sizes must be usable. */
  readonly isUsable?: ((size: Quantity) => boolean) | undefined;
}

/** Returns `size` rounded down, if usable, and the smallest usable size that is not below it, if there is one. */
export function nearestSizes(
  size: Quantity,
  precision: number,
  isUsable: (size: Quantity) => boolean,
): readonly Quantity[] {
  const below = roundDown(size, precision);
  const above = roundUp(size, precision);
  const usable = [below, above].filter((one, i, all) => one.gt(0) && (i === 0 || !one.eq(all[0] ?? one)));
  const found = usable.filter(isUsable);
  if (found.some((one) => one.gte(size))) return found;
  // Doubles the size until it is usable, then bisects to the smallest usable size.
  let low = above;
  let high = add(above, above);
  for (let tries = 0; !isUsable(high); tries++) {
    if (tries === DOUBLINGS_MAX) return found;
    [low, high] = [high, add(high, high)];
  }
  for (;;) {
    const half = share(subtract(high, low), 2, precision);
    if (!half.gt(0)) return [...found, high];
    const middle = add(low, half);
    if (isUsable(middle)) high = middle;
    else low = middle;
  }
}
const DOUBLINGS_MAX = 64;
