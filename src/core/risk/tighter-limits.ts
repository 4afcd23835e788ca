import type { ClosedHours } from '../hours.ts';
import { greatest, least } from '../money.ts';
import type { AnyAmount } from '../money.ts';
import type { Limits } from './limits.ts';

/**
 * The limits that satisfy both: the tighter of two values, or the names in both lists. Both use the currency of the first.
 */
export const tighterLimits = (
  a: Limits,
  b: Limits,
): { readonly [K in keyof Required<Limits>]: Limits[K] } => ({
  currency: a.currency,
  orderNotionalMax: smaller(a.orderNotionalMax, b.orderNotionalMax),
  dayNotionalMax: smaller(a.dayNotionalMax, b.dayNotionalMax),
  pairDayNotionalMax: byName(a.pairDayNotionalMax, b.pairDayNotionalMax, least),
  orderQuantityMax: byName(a.orderQuantityMax, b.orderQuantityMax, least) ?? new Map(),
  collarBps: least(a.collarBps, b.collarBps),
  driftBpsMax: smaller(a.driftBpsMax, b.driftBpsMax),
  openDoubtsMax: Math.min(a.openDoubtsMax, b.openDoubtsMax),
  pairs: inBoth(a.pairs, b.pairs),
  sides: inBoth(a.sides, b.sides) ?? new Set(),
  minuteExecutionsMax: fewer(a.minuteExecutionsMax, b.minuteExecutionsMax),
  parentExecutionsMax: fewer(a.parentExecutionsMax, b.parentExecutionsMax),
  duplicateMs: either(a.duplicateMs, b.duplicateMs, Math.max),
  positionMin: byName(a.positionMin, b.positionMin, greatest),
  positionMax: byName(a.positionMax, b.positionMax, least),
  shortfallBpsMax: smaller(a.shortfallBpsMax, b.shortfallBpsMax),
  dayCostMax: smaller(a.dayCostMax, b.dayCostMax),
  closedHours: either(a.closedHours, b.closedHours, closedInOne),
});

/** The tighter of two values, or the only value. A missing value does not limit anything. */
function either<T>(a: T | undefined, b: T | undefined, tighter: (a: T, b: T) => T): T | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return tighter(a, b);
}

const smaller = <A extends AnyAmount>(a: A | undefined, b: A | undefined): A | undefined =>
  either(a, b, (one, other) => least(one, other));
const fewer = (a: number | undefined, b: number | undefined): number | undefined => either(a, b, Math.min);

const byName = <A extends AnyAmount>(
  a: ReadonlyMap<string, A> | undefined,
  b: ReadonlyMap<string, A> | undefined,
  tighter: (a: A, b: A) => A,
): ReadonlyMap<string, A> | undefined =>
  either(a, b, (one, other) => {
    const both = new Map(one);
    for (const [name, value] of other) {
      const known = one.get(name);
      both.set(name, known === undefined ? value : tighter(known, value));
    }
    return both;
  });

const inBoth = <T>(
  a: ReadonlySet<T> | undefined,
  b: ReadonlySet<T> | undefined,
): ReadonlySet<T> | undefined => either(a, b, (one, other) => one.intersection(other));

function closedInOne(a: readonly ClosedHours[], b: readonly ClosedHours[]): readonly ClosedHours[] {
  const known = new Map(
    [...a, ...b].map((each) => [JSON.stringify({ ...each, days: [...each.days].toSorted() }), each]),
  );
  return [...known.values()];
}
