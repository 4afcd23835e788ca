import type { Instrument } from '../core/instrument.ts';
import { approximate, decimalsOf, fraction, ratioOf, roundDown, scale, text } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { DAY_MS, instant, isoOf, parseDuration, parseTime } from '../core/time.ts';
import { checkUnits, oneOf } from './checks.ts';
import type { CheckWorld, Problem } from './kernel.ts';
import { anySlices, eachOf, endOf } from './recurring-fields.ts';
import type { Params } from './recurring-fields.ts';
import { firstOpen, smallestGapMs } from './schedule.ts';
import { smallestSize } from './slicing.ts';
import { checkTactics } from './tactic-fields.ts';

/** What is wrong across the fields of a recurring document. */
export function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems = [
    ...oneOf(plan, 'each_quantity', 'each_notional'),
    ...checkUnits(plan, { base: 'each_quantity', quote: 'each_notional' }, world),
    ...checkWindow(plan),
    ...checkTactics(plan, world, parseDuration(plan.window) / plan.slices),
  ];
  return problems.length > 0 ? problems : [...checkTimes(plan), ...checkMinimum(plan, world)];
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
  const slices = anySlices(plan, instrument);
  const [unit, least] =
    plan.each_quantity === undefined
      ? [instrument.quote, instrument.minimum.notional]
      : [instrument.base, instrument.minimum.quantity];
  if (decimalsOf(slices.total) > slices.precision)
    return `each occurrence has more decimals than ${unit} has (${slices.precision})`;
  const each = smallestSize(slices);
  if (each.gt(0) && (least === undefined || each.gte(least))) return undefined;
  const bound = least === undefined ? '' : `, the venue's minimum is ${text(least)}`;
  return `${slices.slices} slices of ${text(slices.total)} ${unit} are as small as ${text(each)} ${unit} each${bound}`;
}
