import {
  approximate,
  cost,
  fraction,
  least,
  money,
  ONE,
  price,
  quantity,
  ratioOf,
  roundDown,
  scale,
  subtract,
  text,
} from '../core/money.ts';
import type { Money, Quantity, Ratio } from '../core/money.ts';
import type { Instrument, Minimum, Precisions } from '../core/instrument.ts';
import { instant, parseDuration, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { checkDecimals, checkUnits, nearestSizes, oneOf } from './checks.ts';
import type { CheckWorld, Problem } from './kernel.ts';
import type { SlicedKind } from './sliced.ts';
import { durationMsOf, slicesOf, SLICES_MAX } from './sliced-fields.ts';
import type { Sliced } from './sliced-fields.ts';
import { unfitPlan } from './slicing.ts';
import type { Curve, SizeRule, SlicePlan } from './slicing.ts';
import { checkTactics } from './tactic-fields.ts';

/** How the total of a document is held against decimals and minimum: the same for the desk and for `validate`. */
export const sizeRuleOf = (
  plan: Sliced,
  minimum: Minimum,
  { base, quote }: Pick<Instrument, 'base' | 'quote'>,
): SizeRule =>
  plan.total_quantity === undefined
    ? { unit: quote, minimum: minimum.notional }
    : { unit: base, minimum: minimum.quantity };

/** A kind, and how the desk plans its slices. */
interface PlannedKind<Params extends Sliced> extends SlicedKind<Params> {
  planOf(plan: Params, begunAt: Instant, known: Precisions): SlicePlan<Quantity | Money>;
}

/** What is wrong across the fields of a document of a sliced kind. */
export function check<Params extends Sliced>(
  kind: PlannedKind<Params>,
  plan: Params,
  world: CheckWorld,
): readonly Problem[] {
  const problems = [
    ...oneOf<Sliced>(plan, 'total_quantity', 'total_notional'),
    ...oneOf<Sliced>(plan, 'interval', 'slices'),
    ...oneOf<Sliced>(plan, 'duration', 'end_time'),
    ...checkUnits<Sliced>(plan, { base: 'total_quantity', quote: 'total_notional' }, world),
  ];
  if (problems.length > 0) return problems;
  const wrong = [
    ...checkWindow(plan),
    ...checkTactics(plan, world, sliceMsOf(plan)),
    ...(kind.check?.(plan, world) ?? []),
  ];
  // A curve is made of what was checked so far.
  if (kind.curve !== undefined && wrong.length > 0) return wrong;
  const small = checkMinimum(plan, world, { curveOf: curveMaker(kind, plan), hint: kind.smallestHint });
  return [...wrong, ...(wrong.length + small.length > 0 ? small : checkSizes(kind, plan, world))];
}

/** What the desk would refuse when the parent begins, as far as its decimals are known, with totals that would do. */
function checkSizes<Params extends Sliced>(
  kind: PlannedKind<Params>,
  plan: Params,
  world: CheckWorld,
): readonly Problem[] {
  const known = world.precisions(plan.pair);
  const names = world.currencies(plan.pair);
  const isBase = plan.total_quantity !== undefined;
  const precision = isBase ? known.basePrecision : known.quotePrecision;
  const fields = { base: 'total_quantity', quote: 'total_notional' } as const;
  if (names === undefined || precision === undefined) return [];
  // A curve that needs its start is held against the minimum when the parent begins.
  if (plan.start_time === undefined && kind.curveNeedsStart === true)
    return checkDecimals<Sliced>(plan, fields, { world });
  const slices = kind.planOf(
    plan,
    instant(plan.start_time === undefined ? 0 : parseTime(plan.start_time)),
    known,
  );
  const rule = sizeRuleOf(plan, world.minimum(plan.pair), names);
  // Each try looks at every slice of a curve.
  const isSearched = slices.curve === undefined || slices.slices <= SEARCHED_MAX;
  const isUsable = (total: Quantity | Money): boolean => unfitPlan({ ...slices, total }, rule) === undefined;
  const decimals = checkDecimals<Sliced>(plan, fields, {
    world,
    isUsable: isSearched ? isUsable : undefined,
  });
  const why = decimals.length > 0 ? undefined : unfitPlan(slices, rule);
  if (why === undefined) return decimals;
  const [more] = isSearched ? nearestSizes(slices.total, precision, isUsable) : [];
  const fix = more === undefined ? '' : `, or a total of ${text(more)} ${rule.unit} or more`;
  return [
    {
      path: [plan.slices === undefined ? 'interval' : 'slices'],
      message: `${why}: write fewer slices${fix}`,
    },
  ];
}

/** Slices of a curve up to which totals that would do are looked for. */
const SEARCHED_MAX = 2_000;

/** How long a slice may be tried, ms; 0 while the window makes no sense. */
function sliceMsOf(plan: Sliced): number {
  const durationMs = durationMsOf(plan, plan.start_time === undefined ? 0 : parseTime(plan.start_time));
  return durationMs > 0 ? durationMs / slicesOf(plan, durationMs) : Number.POSITIVE_INFINITY;
}

function checkWindow(plan: Sliced): readonly Problem[] {
  if (plan.end_time !== undefined && plan.start_time === undefined) {
    return [{ path: ['end_time'], message: 'end_time needs start_time; or write duration instead' }];
  }
  const startMs = plan.start_time === undefined ? 0 : parseTime(plan.start_time);
  const durationMs = durationMsOf(plan, startMs);
  if (durationMs <= 0) return [{ path: ['end_time'], message: 'end_time must be later than start_time' }];
  const problems: Problem[] = [];
  if (plan.interval !== undefined && durationMs % parseDuration(plan.interval) !== 0) {
    const near = Math.max(1, Math.round(durationMs / parseDuration(plan.interval)));
    problems.push({
      path: ['interval'],
      message: `interval does not divide the window of ${durationMs / 1000} s; write slices: ${near} instead`,
    });
  }
  if (slicesOf(plan, durationMs) > SLICES_MAX) {
    problems.push({
      path: ['interval'],
      message: `more than ${SLICES_MAX} slices: choose a longer interval`,
    });
  }
  return problems;
}

/** The curve over so many slices; `undefined` where all are equal. */
type CurveMaker = (slices: number) => Curve | undefined;

/**
 * How the total would be spread. While the start is not known, a curve that needs it is taken as even: the smallest slice
 * is never larger than that, and the parent checks it again when it begins.
 */
function curveMaker<Params extends Sliced>(kind: SlicedKind<Params>, plan: Params): CurveMaker {
  if (plan.start_time === undefined && kind.curveNeedsStart === true) return () => undefined;
  const startMs = plan.start_time === undefined ? 0 : parseTime(plan.start_time);
  return (slices) => kind.curve?.(plan, { startMs, durationMs: durationMsOf(plan, startMs), slices });
}

/** A slice below the venue's minimum is refused here, with the largest number of slices that would do. */
function checkMinimum(
  plan: Sliced,
  world: CheckWorld,
  { curveOf, hint }: { readonly curveOf: CurveMaker; readonly hint: string | undefined },
): readonly Problem[] {
  const durationMs = durationMsOf(plan, plan.start_time === undefined ? 0 : parseTime(plan.start_time));
  const slices = slicesOf(plan, durationMs);
  const [tightest] = minimumsOf(plan, world).toSorted((a, b) => a.feasible - b.feasible);
  if (tightest === undefined) return [];
  const { minimum, total, unit, shareMin } = tightest;
  const curve = curveOf(slices);
  const smallest = curve === undefined ? undefined : smallestShare(curve, slices);
  if (smallest === undefined ? slices <= tightest.feasible : smallest.gte(shareMin)) return [];
  const field = plan.slices === undefined ? 'interval' : 'slices';
  const feasible = smallest === undefined ? tightest.feasible : feasibleAlong(curveOf, slices, tightest);
  if (feasible < 1) {
    const message = `the whole total is below the venue's minimum of ${text(minimum)} ${unit}`;
    return [{ path: [field], message }];
  }
  const bound = `the venue's minimum of ${text(minimum)} ${unit}`;
  const wrong =
    smallest === undefined
      ? `${text(total)} ${unit} in ${slices} slices is less than ${bound} each`
      : `the smallest of ${slices} slices is ${text(roundDown(scale(minimum, fraction(smallest, shareMin)), 8))} ${unit}, less than ${bound}`;
  const fix = `at most ${feasible} slices are possible${field === 'interval' ? `, so write slices: ${feasible} instead` : ''}`;
  const other = smallest === undefined || hint === undefined ? '' : `; ${hint}`;
  return [{ path: [field], message: `${wrong}; ${fix}${other}` }];
}

function smallestShare(curve: Curve, slices: number): Ratio {
  const shares = Array.from({ length: slices }, (_, k) => subtract(curve(k + 1), curve(k)));
  return shares.reduce((a, b) => least(a, b), ONE);
}

/** Most slices, below those asked for, of which a curve makes none too small. More slices make the smallest smaller. */
function feasibleAlong(curveOf: CurveMaker, slices: number, { shareMin, feasible }: Bound): number {
  const isFeasible = (count: number): boolean => {
    const curve = curveOf(count);
    return (curve === undefined ? fraction(ONE, ratioOf(count)) : smallestShare(curve, count)).gte(shareMin);
  };
  let [yes, no] = [0, Math.min(slices, feasible + 1)];
  while (no - yes > 1) {
    const between = Math.floor((yes + no) / 2);
    if (isFeasible(between)) yes = between;
    else no = between;
  }
  return yes;
}

/** The total against one minimum of the venue, both in `unit`. */
interface Bound {
  readonly minimum: Quantity | Money;
  readonly total: Quantity | Money;
  readonly unit: string;
  /** Most equal slices that it allows. */
  readonly feasible: number;
  /** Smallest share of the total that a slice may be planned with. */
  readonly shareMin: Ratio;
}

/** What a minimum allows when jitter makes a slice as small as it may. */
function boundOf(plan: Sliced, { minimum, total, unit }: Pick<Bound, 'minimum' | 'total' | 'unit'>): Bound {
  const needed = scale(minimum, ratioOf(100));
  const smallest = scale(total, ratioOf(100 - (plan.jitter?.size_pct ?? 0)));
  const feasible = needed.gt(0) ? approximate(roundDown(fraction(smallest, needed), 0)) : SLICES_MAX;
  return { minimum, total, unit, feasible, shareMin: fraction(needed, smallest) };
}

/** The minimums that can be compared: in the unit of the total, and through limit_price in the other one. */
function minimumsOf(plan: Sliced, world: CheckWorld): readonly Bound[] {
  const { quantity: fewest, notional } = world.minimum(plan.pair);
  if (plan.total_notional !== undefined) {
    const { amount, currency } = plan.total_notional;
    return notional === undefined
      ? []
      : [boundOf(plan, { minimum: notional, total: money(amount), unit: currency })];
  }
  const total = quantity(plan.total_quantity?.amount ?? '0');
  const bounds =
    fewest === undefined
      ? []
      : [boundOf(plan, { minimum: fewest, total, unit: plan.total_quantity?.currency ?? '' })];
  if (notional !== undefined && plan.limit_price !== undefined) {
    const unit = world.currencies(plan.pair)?.quote ?? 'quote currency';
    bounds.push(boundOf(plan, { minimum: notional, total: cost(price(plan.limit_price), total), unit }));
  }
  return bounds;
}
