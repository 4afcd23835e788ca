import type { ClosedHours, Weekday } from '../hours.ts';
import { greatest, least, money, quantity, ratio, text } from '../money.ts';
import type { AnyAmount, Quantity } from '../money.ts';
import type { Side } from '../venue.ts';
import type { Limits } from './limits.ts';

/** Limits of the config as text, such as `max_position.btc`: `"100"`. A missing entry means no limit. */
export type LimitTexts = Readonly<Record<string, string>>;

/** The kind of change that loosens a limit: a larger value, a smaller value, an added name, or any other value. */
export type Loosens = 'larger' | 'smaller' | 'added' | 'other';

/** One limit. How the journal stores it, how it is read again and how two of it combine follow from its entry. */
interface Entry<T> {
  /** Name in the config. */
  readonly name: string;
  readonly loosens: Loosens;
  readonly write: (limit: T) => LimitTexts;
  readonly read: (texts: LimitTexts) => T | undefined;
  /** The tighter of two limits. */
  readonly tighter: (a: T, b: T) => T;
}

interface Form<T> {
  readonly read: (text: string) => T;
  readonly write: (limit: T) => string | undefined;
  readonly tighter: (a: T, b: T) => T;
  /** The limit of a text that is missing; default: none. */
  readonly otherwise?: T | undefined;
}

const one = <T>(name: string, loosens: Loosens, { read, write, tighter, otherwise }: Form<T>): Entry<T> => ({
  name,
  loosens,
  tighter,
  write(limit) {
    const written = write(limit);
    return written === undefined ? {} : { [name]: written };
  },
  read(texts) {
    const written = texts[name];
    return written === undefined ? otherwise : read(written);
  },
});

const amount = <A extends AnyAmount>(name: string, read: (text: string) => A, otherwise?: A): Entry<A> =>
  one(name, 'larger', { read, write: text, tighter: (a, b) => least(a, b), otherwise });

const count = (name: string, loosens: 'larger' | 'smaller' = 'larger', otherwise?: number): Entry<number> =>
  one(name, loosens, {
    read: Number,
    write: String,
    tighter: loosens === 'larger' ? Math.min : Math.max,
    otherwise,
  });

/** One amount per pair or currency. */
const amounts = <A extends AnyAmount>(
  name: string,
  loosens: 'larger' | 'smaller',
  read: (text: string) => A,
  otherwise?: ReadonlyMap<string, A>,
): Entry<ReadonlyMap<string, A>> => ({
  name,
  loosens,
  write: (limit) => Object.fromEntries([...limit].map(([of, each]) => [`${name}.${of}`, text(each)])),
  read(texts) {
    const own = Object.entries(texts).filter(([key]) => key.startsWith(`${name}.`));
    return own.length === 0
      ? otherwise
      : new Map(own.map(([key, written]) => [key.slice(name.length + 1), read(written)]));
  },
  tighter(a, b) {
    const both = new Map(a);
    for (const [of, value] of b) {
      const known = a.get(of);
      if (known === undefined) both.set(of, value);
      else both.set(of, loosens === 'larger' ? least(known, value) : greatest(known, value));
    }
    return both;
  },
});

const names = <Name extends string>(
  name: string,
  isName: (word: string) => word is Name,
  otherwise?: ReadonlySet<Name>,
): Entry<ReadonlySet<Name>> =>
  one(name, 'added', {
    read: (written) => new Set(written.split(', ').filter(isName)),
    write: (limit) => sorted(limit).join(', '),
    tighter: (a, b) => a.intersection(b),
    otherwise,
  });

const sorted = <Name extends string>(all: ReadonlySet<Name>): readonly Name[] =>
  [...all].toSorted((a, b) => (a < b ? -1 : 1));

const isNamed = (word: string): word is string => word !== '';
const isSide = (word: string): word is Side => word === 'buy' || word === 'sell';

/** As the journal stores them. */
type HoursText = Omit<ClosedHours, 'days'> & { readonly days: readonly Weekday[] };

const closedHours: Form<readonly ClosedHours[]> = {
  read(written) {
    const hours = JSON.parse(written) as readonly HoursText[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- `write` wrote it
    return hours.map((each) => ({ ...each, days: new Set(each.days) }));
  },
  write: (limit) =>
    limit.length === 0
      ? undefined
      : JSON.stringify(limit.map((each) => ({ ...each, days: sorted(each.days) }))),
  tighter: (a, b) => [
    ...new Map(
      [...a, ...b].map((each) => [JSON.stringify({ ...each, days: sorted(each.days) }), each]),
    ).values(),
  ],
};

const LIMITS: { readonly [K in keyof Required<Limits>]: Entry<NonNullable<Limits[K]>> } = {
  currency: one('currency', 'other', { read: String, write: String, tighter: (a) => a, otherwise: '' }),
  orderNotionalMax: amount('max_order_notional', money),
  dayNotionalMax: amount('max_day_notional', money),
  pairDayNotionalMax: amounts('max_pair_day_notional', 'larger', money),
  orderQuantityMax: amounts('max_order_quantity', 'larger', quantity, new Map<string, Quantity>()),
  collarBps: amount('collar_bps', ratio, ratio('0')),
  driftBpsMax: amount('max_drift_bps', ratio),
  openDoubtsMax: count('max_open_doubts', 'larger', 0),
  pairs: names('pairs', isNamed),
  sides: names('sides', isSide, new Set()),
  minuteExecutionsMax: count('max_executions_per_minute'),
  parentExecutionsMax: count('max_executions_per_parent'),
  duplicateMs: count('duplicate_window', 'smaller'),
  positionMin: amounts('min_position', 'smaller', quantity),
  positionMax: amounts('max_position', 'larger', quantity),
  shortfallBpsMax: amount('max_shortfall_bps', ratio),
  dayCostMax: amount('max_day_cost', money),
  closedHours: one('restricted_hours', 'other', closedHours),
};
const ENTRIES = Object.entries(LIMITS) as unknown as readonly (readonly [keyof Limits, Entry<unknown>])[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- each is used only with limits of its key

/** The settings under `controls` that are limits. */
export const limitNames: ReadonlySet<string> = new Set(ENTRIES.map(([, { name }]) => name));

/** What loosens a limit, by its name in the config. */
export const loosening: ReadonlyMap<string, Loosens> = new Map(
  ENTRIES.map(([, { name, loosens }]) => [name, loosens]),
);

type Every = { readonly [K in keyof Required<Limits>]: Limits[K] };

const every = (of: (key: keyof Limits, entry: Entry<unknown>) => unknown): Every =>
  Object.fromEntries(ENTRIES.map(([key, entry]) => [key, of(key, entry)])) as unknown as Every; // oxlint-disable-line typescript/no-unsafe-type-assertion -- one value for each key

/** The limits as the journal stores them: under their names in the config, one entry per pair or currency. */
export const limitTexts = (limits: Limits): LimitTexts =>
  Object.fromEntries(
    ENTRIES.flatMap(([key, { write }]) =>
      limits[key] === undefined ? [] : Object.entries(write(limits[key])),
    ),
  );

/** The limits that `limitTexts` wrote. */
export const limitsFrom = (texts: LimitTexts): Every => every((_, { read }) => read(texts));

/** The limits that satisfy both: the tighter of two values, or the names in both lists. Both use the currency of the first. */
export const tighterLimits = (a: Limits, b: Limits): Every =>
  every((key, { tighter }) =>
    // A missing value does not limit anything.
    a[key] === undefined || b[key] === undefined ? (a[key] ?? b[key]) : tighter(a[key], b[key]),
  );
