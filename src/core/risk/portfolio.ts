import {
  add,
  approximate,
  cost,
  fraction,
  NO_MONEY,
  NO_QUANTITY,
  NOTHING,
  ONE,
  quantity,
  ratio,
  size,
  subtract,
  through,
} from '../money.ts';
import type { AnyAmount, Money, Price, Quantity, Ratio } from '../money.ts';
import type { DriftType, Wait } from '../wake.ts';

/** A portfolio against its targets, valued in cash. */
export interface Valued {
  /** `Σ balance_i · mid_i`, cash at 1. In the cash currency. */
  readonly value: Money;
  /** Share of each currency in the value, in cash. */
  readonly worths: ReadonlyMap<string, Money>;
  /** The same as fractions of the value. 80 digits. */
  readonly weights: ReadonlyMap<string, Ratio>;
}

/** Target weight of each currency; they sum to 1. Cash may be among them. */
export type Targets = ReadonlyMap<string, Ratio>;

/**
 * The currency in which a portfolio is valued, and how its currencies are priced. Plain data, because the journal
 * stores it.
 */
export interface Basis {
  /** Currency of the valuation. */
  readonly cash: string;
  /** For each currency without a pair against cash: the currency that it trades against, which has such a pair. */
  readonly via?: Readonly<Record<string, string>> | undefined;
  /** Cash that does not belong to the portfolio, as text. */
  readonly aside?: string | undefined;
}

/** The pair in which a currency of a portfolio is traded. */
export const tradedPair = (currency: string, { cash, via }: Basis): string =>
  currency + (via?.[currency] ?? cash);

/**
 * Price of one unit of a currency in cash. A currency without a pair against cash is priced through the currency that it
 * trades against.
 */
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
 * Values the currencies of `targets` and cash. `midOf` gives the price of one unit in cash. `undefined` if a needed price is
 * missing or the portfolio is worth nothing.
 */
export function value(
  targets: Targets,
  cash: string,
  holdings: ReadonlyMap<string, Quantity>,
  midOf: (currency: string) => Price | undefined,
): Valued | undefined {
  const currencies = targets.has(cash) ? [...targets.keys()] : [...targets.keys(), cash];
  const held: Quantity[] = [];
  const prices: (Price | undefined)[] = [];
  for (const currency of currencies) {
    const each = currency === cash ? undefined : midOf(currency);
    if (currency !== cash && each === undefined) return undefined;
    held.push(holdings.get(currency) ?? NO_QUANTITY);
    prices.push(each);
  }
  const positions = { currencies, held, prices };
  if (!isSame(positions, lastValued.positions)) lastValued = { positions, valued: valuedAt(positions) };
  return lastValued.valued;
}

/** The balance of each currency, and the price of one unit in cash; `undefined` for cash itself. */
interface Positions {
  readonly currencies: readonly string[];
  readonly held: readonly Quantity[];
  readonly prices: readonly (Price | undefined)[];
}

/**
 * Cache: at one instant the same portfolio is valued several times, by the drift wait, the wake and the decision.
 */
let lastValued: { readonly positions: Positions; readonly valued: Valued | undefined } = {
  positions: { currencies: [], held: [], prices: [] },
  valued: undefined,
};

const isSame = (some: Positions, other: Positions): boolean =>
  some.currencies.length === other.currencies.length &&
  some.currencies.every((currency, at) => currency === other.currencies[at]) &&
  some.held.every((held, at) => isEqual(held, other.held[at])) &&
  some.prices.every((each, at) => isEqual(each, other.prices[at]));

const isEqual = (one: AnyAmount | undefined, other: AnyAmount | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && one.eq(other));

function valuedAt({ currencies, held, prices }: Positions): Valued | undefined {
  const worths = new Map<string, Money>();
  let total = NO_MONEY;
  for (const [at, currency] of currencies.entries()) {
    const [amount = NO_QUANTITY, each] = [held[at], prices[at]];
    const worth = each === undefined ? cashValue(amount) : cost(each, amount);
    worths.set(currency, worth);
    total = add(total, worth);
  }
  return total.lte(0) ? undefined : new Worths(total, worths);
}

/** Divides only when the weights are read. */
class Worths implements Valued {
  readonly value: Money;
  readonly worths: ReadonlyMap<string, Money>;
  #weights: ReadonlyMap<string, Ratio> | undefined;

  constructor(total: Money, worths: ReadonlyMap<string, Money>) {
    this.value = total;
    this.worths = worths;
  }

  get weights(): ReadonlyMap<string, Ratio> {
    return (this.#weights ??= new Map(
      [...this.worths].map(([currency, worth]) => [currency, fraction(worth, this.value)]),
    ));
  }
}

/** The value of cash is its amount. */
const cashValue = (held: Quantity): Money => add(NO_MONEY, held as unknown as Money); // oxlint-disable-line typescript/no-unsafe-type-assertion -- the unit changes here

/**
 * Drift of each currency: `w − w*` (absolute, a fraction of the portfolio) or `(w − w*)/w*` (relative).
 * A currency with target 0 drifts absolutely in either case.
 */
export const drifts = (
  weights: ReadonlyMap<string, Ratio>,
  targets: Targets,
  type: DriftType,
): ReadonlyMap<string, Ratio> =>
  new Map(
    [...weights].map(([currency, weight]) => [
      currency,
      driftFrom(weight, targets.get(currency) ?? NOTHING, type),
    ]),
  );

function driftFrom(weight: Ratio, target: Ratio, type: DriftType): Ratio {
  const away = subtract(weight, target);
  return type === 'absolute' || target.isZero() ? away : fraction(away, target);
}

/** The largest drift, without its sign. */
export function largestDrift(all: ReadonlyMap<string, Ratio>): Ratio {
  let largest = NOTHING;
  for (const drift of all.values()) {
    const away = size(drift);
    if (away.gt(largest)) largest = away;
  }
  return largest;
}

/**
 * The `largestDrift` of the portfolio's `drifts`. Doubles find the candidates for the largest drift; only those are divided
 * exactly.
 */
export function worstDrift(valued: Valued, targets: Targets, type: DriftType): Ratio {
  const all = roughDrifts(valued, targets, type);
  const least = all.reduce((most, { away, doubt }) => Math.max(most, away - doubt), 0);
  let worst = NOTHING;
  for (const { worth, target, away, doubt } of all) {
    if (away + doubt < least) continue;
    const drift = size(driftFrom(fraction(worth, valued.value), target, type));
    if (drift.gt(worst)) worst = drift;
  }
  return worst;
}

/**
 * Whether the largest drift exceeds the threshold; equality does not. Exact division only where doubles cannot decide.
 */
export function isOutside(valued: Valued, targets: Targets, { driftType, threshold }: Band): boolean {
  const bound = approximate(threshold);
  const margin = bound * DOUBT;
  let isUncertain = false;
  for (const { away, doubt } of roughDrifts(valued, targets, driftType)) {
    if (away - doubt > bound + margin) return true;
    if (!(away + doubt < bound - margin)) isUncertain = true;
  }
  return isUncertain && worstDrift(valued, targets, driftType).gt(threshold);
}

/** The drift that a portfolio is allowed. */
interface Band {
  readonly driftType: DriftType;
  readonly threshold: Ratio;
}

/** The size of a drift as a double, and its largest error. */
interface RoughDrift {
  readonly worth: Money;
  readonly target: Ratio;
  readonly away: number;
  readonly doubt: number;
}

function roughDrifts(valued: Valued, targets: Targets, type: DriftType): readonly RoughDrift[] {
  const total = approximate(valued.value);
  const all: RoughDrift[] = [];
  for (const [currency, worth] of valued.worths) {
    const target = targets.get(currency) ?? NOTHING;
    const [weight, goal] = [approximate(worth) / total, approximate(target)];
    const unit = type === 'absolute' || target.isZero() ? 1 : Math.abs(goal);
    const doubt = (DOUBT * (Math.abs(weight) + Math.abs(goal) + 1)) / unit;
    all.push({ worth, target, away: Math.abs(weight - goal) / unit, doubt });
  }
  return all;
}

/** Far more than the rounding error of a few double operations. */
const DOUBT = 1e-12;

/** Largest drift of the portfolio in a drift wait; `undefined` while a needed price is unknown. */
export function driftOf(wait: DriftWait, known: Known): Ratio | undefined {
  const targets = targetsOf(wait);
  const valued = valueOn(targets, wait, known);
  return valued === undefined ? undefined : worstDrift(valued, targets, wait.driftType);
}

/** Whether the portfolio has reached the drift of the wait; `false` while a needed price is unknown. */
export function hasDrifted(wait: DriftWait, known: Known): boolean {
  const targets = targetsOf(wait);
  const band = { driftType: wait.driftType, threshold: ratio(wait.threshold) };
  if (isWellInside(targets, wait, { ...known, ...band })) return false;
  const valued = valueOn(targets, wait, known);
  return valued !== undefined && isOutside(valued, targets, band);
}

/**
 * Whether doubles are enough to show that every weight is well inside its band. They are not if a balance is negative
 * or an amount is set aside.
 */
function isWellInside(
  targets: Targets,
  basis: Basis,
  { holdings, midOf, driftType, threshold }: Known & Band,
): boolean {
  if (basis.aside !== undefined) return false;
  const { cash } = basis;
  const worths: number[] = [];
  let total = 0;
  for (const currency of targets.has(cash) ? targets.keys() : [...targets.keys(), cash]) {
    const each = currency === cash ? ONE : priceIn(currency, basis, midOf);
    const worth =
      each === undefined
        ? Number.NaN
        : approximate(each) * approximate(holdings.get(currency) ?? NO_QUANTITY);
    if (!(worth >= 0)) return false;
    worths.push(worth);
    total += worth;
  }
  if (!(total > 0)) return false;
  const bound = approximate(threshold) * (1 - DOUBT);
  let place = 0;
  for (const target of targets.values()) {
    const goal = approximate(target);
    const away = Math.abs((worths[place++] ?? 0) / total - goal) + DOUBT * (2 + Math.abs(goal));
    if (!(away < (driftType === 'absolute' || goal === 0 ? bound : bound * Math.abs(goal)))) return false;
  }
  return targets.has(cash) || (worths[place] ?? 0) / total + DOUBT < bound;
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

/** Cache, because the same wait is evaluated many times. */
const readTargets = new WeakMap<DriftWait['targets'], Targets>();
