import {
  approximate,
  cost,
  fraction,
  money,
  price,
  quantity,
  ratioOf,
  roundDown,
  scale,
  text,
} from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { parseDuration, parseTime } from '../core/time.ts';
import type { CheckWorld, Problem } from './kernel.ts';
import { durationMsOf, slicesOf, SLICES_MAX } from './twap-fields.ts';
import type { Params } from './twap-fields.ts';

/** What is wrong across the fields of a twap document. */
export function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems = [
    ...oneOf(plan, 'total_quantity', 'total_notional'),
    ...oneOf(plan, 'interval', 'slices'),
    ...oneOf(plan, 'duration', 'end_time'),
    ...checkUnits(plan, world),
  ];
  return problems.length > 0 ? problems : [...checkWindow(plan), ...checkMinimum(plan, world)];
}

const oneOf = (plan: Params, a: keyof Params, b: keyof Params): Problem[] => {
  if ((plan[a] === undefined) !== (plan[b] === undefined)) return [];
  const both = plan[a] !== undefined;
  return [
    {
      path: both ? [b] : [],
      message: both ? `give either ${a} or ${b}, not both: remove one` : `give one of ${a} and ${b}`,
    },
  ];
};

function checkUnits(plan: Params, world: CheckWorld): readonly Problem[] {
  const known = world.currencies(plan.pair);
  if (known === undefined) return [];
  const problems: Problem[] = [];
  const wrong = (field: 'total_quantity' | 'total_notional', expected: string, other: string): void => {
    const given = plan[field]?.currency;
    if (given === undefined || given === expected) return;
    const hint =
      given === (field === 'total_quantity' ? known.quote : known.base)
        ? `; for ${given} write ${other}`
        : '';
    problems.push({
      path: [field, 'currency'],
      message: `${field} of ${plan.pair} is counted in ${expected}, not ${given}${hint}`,
    });
  };
  wrong('total_quantity', known.base, 'total_notional');
  wrong('total_notional', known.quote, 'total_quantity');
  return problems;
}

function checkWindow(plan: Params): readonly Problem[] {
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

/** A slice below the venue's minimum is refused here, with the largest number of slices that would do. */
function checkMinimum(plan: Params, world: CheckWorld): readonly Problem[] {
  const durationMs = durationMsOf(plan, plan.start_time === undefined ? 0 : parseTime(plan.start_time));
  const slices = slicesOf(plan, durationMs);
  const [tightest] = minimumsOf(plan, world).toSorted((a, b) => a.feasible - b.feasible);
  if (tightest === undefined || slices <= tightest.feasible) return [];
  const { minimum, total, unit, feasible } = tightest;
  const field = plan.slices === undefined ? 'interval' : 'slices';
  const fix =
    feasible < 1
      ? `the whole total is below the venue's minimum of ${text(minimum)} ${unit}`
      : `${text(total)} ${unit} in ${slices} slices is less than the venue's minimum of ${text(minimum)} ${unit} each; at most ${feasible} slices are possible${
          field === 'interval' ? `, so write slices: ${feasible} instead` : ''
        }`;
  return [{ path: [field], message: fix }];
}

/** The total against one minimum of the venue, both in `unit`. */
interface Bound {
  readonly minimum: Quantity | Money;
  readonly total: Quantity | Money;
  readonly unit: string;
  /** Most slices that it allows. */
  readonly feasible: number;
}

/** How many slices stay at or above the minimum when jitter makes one as small as it may. */
function feasibleSlices(plan: Params, total: Quantity | Money, minimum: Quantity | Money): number {
  const least = scale(minimum, ratioOf(100));
  if (!least.gt(0)) return SLICES_MAX;
  const smallest = scale(total, ratioOf(100 - (plan.jitter?.size_pct ?? 0)));
  return approximate(roundDown(fraction(smallest, least), 0));
}

/** The minimums that can be compared: in the unit of the total, and through limit_price in the other one. */
function minimumsOf(plan: Params, world: CheckWorld): readonly Bound[] {
  const { quantity: least, notional } = world.minimum(plan.pair);
  const bound = (minimum: Quantity | Money, total: Quantity | Money, unit: string): Bound => ({
    minimum,
    total,
    unit,
    feasible: feasibleSlices(plan, total, minimum),
  });
  if (plan.total_notional !== undefined) {
    const { amount, currency } = plan.total_notional;
    return notional === undefined ? [] : [bound(notional, money(amount), currency)];
  }
  const total = quantity(plan.total_quantity?.amount ?? '0');
  const bounds = least === undefined ? [] : [bound(least, total, plan.total_quantity?.currency ?? '')];
  if (notional !== undefined && plan.limit_price !== undefined) {
    const unit = world.currencies(plan.pair)?.quote ?? 'quote currency';
    bounds.push(bound(notional, cost(price(plan.limit_price), total), unit));
  }
  return bounds;
}
