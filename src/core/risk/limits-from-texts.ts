import type { ClosedHours, Weekday } from '../hours.ts';
import { money, quantity, ratio } from '../money.ts';
import type { Side } from '../venue.ts';
import type { LimitTexts } from './limit-changes.ts';
import type { Limits } from './limits.ts';

/** The limits that `limitTexts` wrote. */
export function limitsFrom(texts: LimitTexts): Limits {
  const one = <T>(name: string, read: (text: string) => T): T | undefined => {
    const written = texts[name];
    return written === undefined ? undefined : read(written);
  };
  const each = <T>(name: string, read: (text: string) => T): ReadonlyMap<string, T> =>
    new Map(
      Object.entries(texts).flatMap(([key, written]) =>
        key.startsWith(`${name}.`) ? [[key.slice(name.length + 1), read(written)] as const] : [],
      ),
    );
  const some = <T>(name: string, read: (text: string) => T): ReadonlyMap<string, T> | undefined => {
    const found = each(name, read);
    return found.size === 0 ? undefined : found;
  };
  return {
    currency: texts['currency'] ?? '',
    orderNotionalMax: one('max_order_notional', money),
    dayNotionalMax: one('max_day_notional', money),
    pairDayNotionalMax: some('max_pair_day_notional', money),
    orderQuantityMax: each('max_order_quantity', quantity),
    collarBps: ratio(texts['collar_bps'] ?? '0'),
    driftBpsMax: one('max_drift_bps', ratio),
    openDoubtsMax: Number(texts['max_open_doubts'] ?? 0),
    pairs: one('pairs', namesIn),
    sides: new Set([...namesIn(texts['sides'] ?? '')].filter(isSide)),
    minuteExecutionsMax: one('max_executions_per_minute', Number),
    parentExecutionsMax: one('max_executions_per_parent', Number),
    duplicateMs: one('duplicate_window', Number),
    positionMin: some('min_position', quantity),
    positionMax: some('max_position', quantity),
    shortfallBpsMax: one('max_shortfall_bps', ratio),
    dayCostMax: one('max_day_cost', money),
    closedHours: one('restricted_hours', hoursIn),
  };
}

const namesIn = (written: string): ReadonlySet<string> =>
  new Set(written.split(', ').filter((name) => name !== ''));

const isSide = (name: string): name is Side => name === 'buy' || name === 'sell';

/** As `limitTexts` writes them. */
type HoursText = readonly (Omit<ClosedHours, 'days'> & { readonly days: readonly Weekday[] })[];

function hoursIn(written: string): readonly ClosedHours[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the journal has it from `limitTexts`
  const hours = JSON.parse(written) as HoursText;
  return hours.map((each) => ({ ...each, days: new Set(each.days) }));
}
