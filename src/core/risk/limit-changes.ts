import type { ClosedHours } from '../hours.ts';
import { ratio, text } from '../money.ts';
import type { Money, Quantity } from '../money.ts';
import type { Limits } from './limits.ts';

/** Limits of the config as text, such as `max_position.btc`: `"100"`. A missing entry means no limit. */
export type LimitTexts = Readonly<Record<string, string>>;

/** The kind of change that loosens a limit: a larger value, a smaller value, an added name, or any other value. */
type Loosens = 'larger' | 'smaller' | 'added' | 'other';

const LIMITS: { readonly [K in keyof Required<Limits>]: readonly [name: string, loosens: Loosens] } = {
  currency: ['currency', 'other'],
  orderNotionalMax: ['max_order_notional', 'larger'],
  dayNotionalMax: ['max_day_notional', 'larger'],
  pairDayNotionalMax: ['max_pair_day_notional', 'larger'],
  orderQuantityMax: ['max_order_quantity', 'larger'],
  collarBps: ['collar_bps', 'larger'],
  driftBpsMax: ['max_drift_bps', 'larger'],
  openDoubtsMax: ['max_open_doubts', 'larger'],
  pairs: ['pairs', 'added'],
  sides: ['sides', 'added'],
  minuteExecutionsMax: ['max_executions_per_minute', 'larger'],
  parentExecutionsMax: ['max_executions_per_parent', 'larger'],
  duplicateMs: ['duplicate_window', 'smaller'],
  positionMin: ['min_position', 'smaller'],
  positionMax: ['max_position', 'larger'],
  shortfallBpsMax: ['max_shortfall_bps', 'larger'],
  dayCostMax: ['max_day_cost', 'larger'],
  closedHours: ['restricted_hours', 'other'],
};

/** The settings under `controls` that are limits. */
export const limitNames: ReadonlySet<string> = new Set(Object.values(LIMITS).map(([name]) => name));

/** Settings with one limit per pair. */
const PAIR_LIMITS = new Set(['max_order_quantity', 'max_pair_day_notional']);
const DIRECTIONS = new Map<string, Loosens>(Object.values(LIMITS));

/** The limits as the journal stores them: under their names in the config, one entry per pair or currency. */
export function limitTexts(limits: Limits): LimitTexts {
  const texts: Record<string, string> = {};
  const put = (name: string, written: string | undefined): void => {
    if (written !== undefined) texts[name] = written;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own keys
  for (const key of Object.keys(LIMITS) as (keyof Limits)[]) {
    const value = limits[key];
    const [name] = LIMITS[key];
    if (isByName(value)) for (const [of, each] of value) put(`${name}.${of}`, text(each));
    else put(name, textOf(value));
  }
  return texts;
}

type Value = Limits[keyof Limits];
type ByName = ReadonlyMap<string, Money> | ReadonlyMap<string, Quantity>;

const isByName = (value: Value): value is ByName => value instanceof Map;
const isList = (value: Value): value is readonly ClosedHours[] => Array.isArray(value);
const isNames = (value: Value): value is ReadonlySet<string> => value instanceof Set;

function textOf(value: Exclude<Value, ByName>): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (isNames(value)) return namesOf(value).join(', ');
  if (!isList(value)) return text(value);
  const hours = value.map((each) => ({ ...each, days: namesOf(each.days) }));
  return hours.length === 0 ? undefined : JSON.stringify(hours);
}

const namesOf = (names: ReadonlySet<string>): readonly string[] =>
  [...names].toSorted((a, b) => (a < b ? -1 : 1));

/**
 * The limits that allow more than before, in words: `max_order_notional 1000 -> 5000`. A removed limit counts, unless its
 * pair may no longer be traded.
 */
export function loosenedLimits(before: LimitTexts, now: LimitTexts): readonly string[] {
  const pairs = now['pairs']?.split(', ');
  return Object.entries(before).flatMap(([name, was]) => {
    const [limit = '', of = ''] = name.split('.');
    const is = now[name];
    if (is === undefined && PAIR_LIMITS.has(limit) && pairs?.includes(of) === false) return [];
    const isMore = is === undefined || isLooser(DIRECTIONS.get(limit), was, is);
    return isMore ? [`${name} ${was} -> ${is ?? 'none'}`] : [];
  });
}

/** A limit that changed. A missing side means no limit. */
export interface LimitChange {
  readonly limit: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Every limit that differs, sorted by name. */
export function limitDifference(before: LimitTexts, now: LimitTexts): readonly LimitChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted((a, b) =>
    a < b ? -1 : 1,
  );
  return names.flatMap((limit) => {
    const [was, is] = [before[limit], now[limit]];
    if (was === is) return [];
    return [
      { limit, ...(was === undefined ? {} : { before: was }), ...(is === undefined ? {} : { after: is }) },
    ];
  });
}

/** `max_order_notional 1000 -> 5000`. */
export const changeWords = ({ limit, before = 'none', after = 'none' }: LimitChange): string =>
  `${limit} ${before} -> ${after}`;

/** A limit of a later version, whose direction is unknown, counts as looser when it differs. */
function isLooser(loosens: Loosens | undefined, was: string, is: string): boolean {
  switch (loosens) {
    case 'larger':
      return ratio(is).gt(ratio(was));
    case 'smaller':
      return ratio(is).lt(ratio(was));
    case 'added': {
      const allowed = new Set(was.split(', '));
      return is.split(', ').some((name) => name !== '' && !allowed.has(name));
    }
    case 'other':
    case undefined:
      return is !== was;
  }
}
