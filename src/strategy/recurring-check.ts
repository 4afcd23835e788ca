import type { Instrument, Minimum } from '../core/instrument.ts';
import { approximate, fraction, ratioOf, roundDown, scale, text } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { DAY_MS, instant, isoOf, parseDuration, parseTime } from '../core/time.ts';
import { checkDecimals, checkUnits, nearestSizes, oneOf } from './checks.ts';
import type { CheckWorld, Problem } from './kernel.ts';
import { anySlices, eachOf, endOf } from './recurring-fields.ts';
import type { Params } from './recurring-fields.ts';
import { firstOpen, smallestGapMs } from './schedule.ts';
import { smallestSize, unfitPlan } from './slicing.ts';
import type { SizeRule } from './slicing.ts';
import { checkTactics } from './tactic-fields.ts';

/** What is wrong across the fields of a recurring document. */
export function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems = [
    ...oneOf(plan, 'each_quantity', 'each_notional'),
    ...checkUnits(plan, { base: 'each_quantity', quote: 'each_notional' }, world),
    ...checkWindow(plan),
    ...checkTactics(plan, world, parseDuration(plan.window) / plan.slices),
  ];
  if (problems.length > 0) return problems;
  const small = checkMinimum(plan, world);
  return [...checkTimes(plan), ...(small.length > 0 ? small : checkSizes(plan, world))];
}

function checkWindow(plan: Params): readonly Problem[] {
  const end = endOf(plan);
  if (end !== undefined && plan.start_time !== undefined && end <= parseTime(plan.start_time))
    return [{ path: ['end_time'], message: 'end_time must be later than start_time' }];
  if (parseDuration(plan.window) > WINDOW_MAX_MS)
    return [{ path: ['window'], message: 'the window of an occurrence is at most seven days: P7D' }];
  return [];
}
const WINDOW_MAX_MS = 7 * DAY_MS;

/** Where a schedule without start and end is looked at: the answer must not depend on the day on which it is asked. */
const SOME_DAY = instant(Date.UTC(2026, 0, 1) - 1);
const LOOKED_MS = 4 * 366 * DAY_MS;

/** A schedule of which nothing is left, and a window that runs into the next occurrence. */
function checkTimes(plan: Params): readonly Problem[] {
  const { start_time: start } = plan;
  const end = endOf(plan);
  const someDay = end === undefined ? SOME_DAY : instant(end - LOOKED_MS);
  const from = start === undefined ? someDay : instant(parseTime(start) - 1);
  const until = end ?? instant(from + LOOKED_MS);
  const first = firstOpen(plan.schedule, { from, until });
  if (first === undefined) {
    const span = `${isoOf(instant(from + 1))} and ${isoOf(until)}`;
    const path = ['schedule', plan.schedule.cron === undefined ? 'first' : 'cron'];
    return [{ path, message: `no time of the schedule lies between ${span}` }];
  }
  if (first.closed !== undefined) {
    const when = `the first, ${isoOf(first.at)}, is closed by: ${first.closed}`;
    return [
      {
        path: ['schedule'],
        message: `every time of the schedule is closed; ${when}. Move the time or what closes it`,
      },
    ];
  }
  const gapMs = smallestGapMs(plan.schedule, first.at);
  if (gapMs === undefined || parseDuration(plan.window) <= gapMs) return [];
  return [
    {
      path: ['window'],
      message: `the window is longer than the ${gapMs / 1000} s from one occurrence to the next: write at most PT${gapMs / 1000}S`,
    },
  ];
}

/** A slice below the venue's minimum is refused here, with the largest number of slices that would do. */
function checkMinimum(plan: Params, world: CheckWorld): readonly Problem[] {
  const { quantity: least, notional } = world.minimum(plan.pair);
  const minimum = plan.each_quantity === undefined ? notional : least;
  const each = smallestSize(anySlices(plan, undefined));
  if (minimum === undefined || each.gte(minimum)) return [];
  const unit = (plan.each_quantity ?? plan.each_notional)?.currency ?? '';
  const most = feasibleSlices(plan, minimum);
  const fix =
    most < 1
      ? `every occurrence is below the venue's minimum of ${text(minimum)} ${unit}`
      : `${text(eachOf(plan))} ${unit} in ${plan.slices} slices is less than the venue's minimum of ${text(minimum)} ${unit} each: write slices: ${most} or fewer`;
  const field = plan.each_quantity === undefined ? 'each_notional' : 'each_quantity';
  return [{ path: most < 1 ? [field] : ['slices'], message: fix }];
}

function feasibleSlices(plan: Params, minimum: Quantity | Money): number {
  const smallest = scale(eachOf(plan), ratioOf(100 - (plan.jitter?.size_pct ?? 0)));
  return approximate(roundDown(fraction(smallest, scale(minimum, ratioOf(100))), 0));
}

/** Why no occurrence can trade, now that precision and minimum are known; `undefined` when they can. */
export function unfit(plan: Params, instrument: Instrument): string | undefined {
  return unfitPlan(anySlices(plan, instrument), sizeRuleOf(plan, instrument.minimum, instrument));
}

const sizeRuleOf = (
  plan: Params,
  minimum: Minimum,
  { base, quote }: Pick<Instrument, 'base' | 'quote'>,
): SizeRule => ({
  ...(plan.each_quantity === undefined
    ? { unit: quote, minimum: minimum.notional }
    : { unit: base, minimum: minimum.quantity }),
  what: 'each occurrence',
});

/** What the desk would refuse when the strategy begins, as far as its decimals are known, with sizes that would do. */
function checkSizes(plan: Params, world: CheckWorld): readonly Problem[] {
  const known = world.precisions(plan.pair);
  const names = world.currencies(plan.pair);
  const precision = plan.each_quantity === undefined ? known.quotePrecision : known.basePrecision;
  if (names === undefined || precision === undefined) return [];
  const fields = { base: 'each_quantity', quote: 'each_notional' } as const;
  const slices = anySlices(plan, known);
  const rule = sizeRuleOf(plan, world.minimum(plan.pair), names);
  const isUsable = (total: Quantity | Money): boolean => unfitPlan({ ...slices, total }, rule) === undefined;
  const decimals = checkDecimals(plan, fields, { world, isUsable });
  const why = decimals.length > 0 ? undefined : unfitPlan(slices, rule);
  if (why === undefined) return decimals;
  const [more] = nearestSizes(slices.total, precision, isUsable);
  const fix = more === undefined ? '' : `, or ${text(more)} ${rule.unit} or more each time`;
  return [{ path: ['slices'], message: `${why}: write fewer slices${fix}` }];
}
