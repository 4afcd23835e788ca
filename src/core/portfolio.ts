import {
  add,
  cost,
  fraction,
  NO_MONEY,
  NO_QUANTITY,
  NOTHING,
  quantity,
  ratio,
  size,
  subtract,
  through,
} from './money.ts';
import type { Money, Price, Quantity, Ratio } from './money.ts';
import type { DriftType, Wait } from './wake.ts';

/** A portfolio against its targets, valued in cash. */
export interface Valued {
  /** `Σ balance_i · mid_i`, cash at 1. In the cash currency. */
  readonly value: Money;
  readonly weights: ReadonlyMap<string, Ratio>;
}

/** Target weight of each currency; they sum to 1. Cash may be among them. */
export type Targets = ReadonlyMap<string, Ratio>;

/** What a portfolio is counted in, and how its currencies are priced. Plain data: a journal holds it. */
export interface Basis {
  /** Currency that everything is valued in. */
  readonly cash: string;
  /** Currencies without a pair against cash, each with the one that it trades against and that has such a pair. */
  readonly via?: Readonly<Record<string, string>> | undefined;
  /** Cash that does not belong to the portfolio, as text. */
  readonly aside?: string | undefined;
}

/** The pair in which a currency of a portfolio is traded. */
export const tradedPair = (currency: string, { cash, via }: Basis): string =>
  currency + (via?.[currency] ?? cash);

/** Price of one unit of a currency in cash, through the currency that it trades against where it has no pair of its own. */
export function priceIn(
  currency: string,
  basis: Basis,
  midOf: (pair: string) => Price | undefined,
): Price | undefined {
  const direct = midOf(tradedPair(currency, basis));
  const bridge = basis.via?.[currency];
  if (direct === undefined || bridge === undefined) return direct;
  const onward = midOf(bridge + basis.cash);
  return onward === undefined ? undefined : through(direct, onward);
}

/** As `value`, with prices by pair. */
export function valueOn(targets: Targets, basis: Basis, { holdings, midOf }: Known): Valued | undefined {
  const { cash, aside } = basis;
  const own =
    aside === undefined
      ? holdings
      : new Map([...holdings, [cash, subtract(holdings.get(cash) ?? NO_QUANTITY, quantity(aside))]]);
  return value(targets, cash, own, (currency) => priceIn(currency, basis, midOf));
}

interface Known {
  readonly holdings: ReadonlyMap<string, Quantity>;
  readonly midOf: (pair: string) => Price | undefined;
}

/**
 * Values the currencies of `targets` and cash. `midOf` gives the price of one unit in cash.
 * `undefined` when a price that matters is missing or the portfolio is worth nothing.
 */
export function value(
  targets: Targets,
  cash: string,
  holdings: ReadonlyMap<string, Quantity>,
  midOf: (currency: string) => Price | undefined,
): Valued | undefined {
  const positions: Position[] = [];
  for (const currency of targets.has(cash) ? targets.keys() : [...targets.keys(), cash]) {
    const held = holdings.get(currency) ?? NO_QUANTITY;
    const each = currency === cash ? undefined : midOf(currency);
    if (currency !== cash && each === undefined) return undefined;
    positions.push({ currency, held, each });
  }
  if (!isSame(positions, lastValued.positions)) lastValued = { positions, valued: valuedAt(positions) };
  return lastValued.valued;
}

/** What is held of a currency, and the price of one unit in cash; `undefined` for cash itself. */
interface Position {
  readonly currency: string;
  readonly held: Quantity;
  readonly each: Price | undefined;
}

/** The same portfolio is valued several times at an instant: by who waits for it to drift, by who is woken, by who decides. */
let lastValued: { readonly positions: readonly Position[]; readonly valued: Valued | undefined } = {
  positions: [],
  valued: undefined,
};

const isSame = (some: readonly Position[], others: readonly Position[]): boolean =>
  some.length === others.length &&
  some.every(({ currency, held, each }, at) => {
    const other = others[at];
    return (
      other?.currency === currency &&
      other.held.eq(held) &&
      (each === undefined ? other.each === undefined : other.each?.eq(each) === true)
    );
  });

function valuedAt(positions: readonly Position[]): Valued | undefined {
  const values = positions.map(({ held, each }) => (each === undefined ? cashValue(held) : cost(each, held)));
  const total = values.reduce((sum, worth) => add(sum, worth), NO_MONEY);
  if (total.lte(0)) return undefined;
  const weights = new Map<string, Ratio>();
  for (const [at, worth] of values.entries())
    weights.set(positions[at]?.currency ?? '', fraction(worth, total));
  return { value: total, weights };
}

/** One unit of cash is worth one. */
const cashValue = (held: Quantity): Money => add(NO_MONEY, held as unknown as Money); // oxlint-disable-line typescript/no-unsafe-type-assertion -- the unit changes here

/**
 * Drift of each currency: `w − w*` (absolute, a fraction of the portfolio) or `(w − w*)/w*` (relative).
 * A currency with target 0 drifts absolutely in either case.
 */
export function drifts(
  weights: ReadonlyMap<string, Ratio>,
  targets: Targets,
  type: DriftType,
): ReadonlyMap<string, Ratio> {
  const { of } = lastDrifts;
  if (of?.weights !== weights || of.targets !== targets || of.type !== type) {
    const all = new Map<string, Ratio>();
    for (const [currency, weight] of weights) {
      const target = targets.get(currency) ?? NOTHING;
      const away = subtract(weight, target);
      all.set(currency, type === 'absolute' || target.isZero() ? away : fraction(away, target));
    }
    lastDrifts = { of: { weights, targets, type }, all };
  }
  return lastDrifts.all;
}

/** Likewise looked at more than once. */
let lastDrifts: {
  readonly of:
    | {
        readonly weights: ReadonlyMap<string, Ratio>;
        readonly targets: Targets;
        readonly type: DriftType;
      }
    | undefined;
  readonly all: ReadonlyMap<string, Ratio>;
} = { of: undefined, all: new Map() };

/** The largest drift, without its sign. */
export function largestDrift(all: ReadonlyMap<string, Ratio>): Ratio {
  let largest = NOTHING;
  for (const drift of all.values()) {
    const away = size(drift);
    if (away.gt(largest)) largest = away;
  }
  return largest;
}

/** Largest drift of the portfolio that a strategy waits for; `undefined` while a price that matters is unknown. */
export function driftOf(wait: DriftWait, known: Known): Ratio | undefined {
  const targets = targetsOf(wait);
  const valued = valueOn(targets, wait, known);
  return valued === undefined ? undefined : largestDrift(drifts(valued.weights, targets, wait.driftType));
}

type DriftWait = Wait & { on: 'drift' };

/** The targets of a wait as amounts. */
export function targetsOf({ targets }: Pick<DriftWait, 'targets'>): Targets {
  let read = readTargets.get(targets);
  if (read === undefined) {
    read = new Map(Object.entries(targets).map(([currency, weight]) => [currency, ratio(weight)]));
    readTargets.set(targets, read);
  }
  return read;
}

/** One wait is looked at again and again. */
const readTargets = new WeakMap<DriftWait['targets'], Targets>();

/** Whether a drift is what a strategy waits for: the threshold itself is not. */
export const isAdrift = (drift: Ratio, { threshold }: Pick<DriftWait, 'threshold'>): boolean =>
  drift.gt(ratio(threshold));
