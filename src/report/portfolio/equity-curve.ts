import { approximate, NOTHING } from '../../core/money.ts';
import { tradedPair } from '../../core/risk/portfolio.ts';
import type { Basis, Targets } from '../../core/risk/portfolio.ts';
import { DAY_MS, HOUR_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { DriftType } from '../../core/wake.ts';
import type { Held } from './holdings.ts';
import { countOf, momentOf } from '../figures/prices.ts';
import type { PriceBook } from '../figures/prices.ts';

/** The portfolio settings of a document. */
export interface TargetPortfolio {
  readonly targets: Targets;
  readonly basis: Basis;
  readonly driftType: DriftType;
  readonly threshold: string;
}

/**
 * The portfolio at the start of its period, at equidistant points in UTC, and at its end, as numbers that are not
 * rounded. For statistics and charts; never used as money.
 */
export interface EquityCurve {
  /** The first and the last step are shorter if the period starts or ends between two points. */
  readonly stepMs: number;
  /** At least two. */
  readonly points: readonly EquityPoint[];
  /** The points, and the instants of flows between them. */
  readonly steps: readonly EquityStep[];
  /** Balance changes without a fill and without interest, and trades against currencies outside the portfolio. */
  readonly flows: readonly EquityFlow[];
  readonly currencies: readonly string[];
  /** The first point within all bands, because the portfolio is being bought until then; -1 if there is none. */
  readonly built: number;
  /** Gain of each currency if it had been bought at its target weight at the first point, without cost, and held. */
  readonly holdGains: readonly number[];
}

/** A point, or a flow; `value` is the value after it. */
export interface EquityStep extends Pick<EquityPoint, 'at' | 'value' | 'index' | 'target_index'> {
  readonly isFlow: boolean;
}

/** A flow as `report.json` describes it. */
export interface EquityFlow {
  readonly at: Instant;
  readonly value: number;
  readonly amount: number;
}

/** A point as `report.json` describes it. */
export interface EquityPoint {
  readonly at: Instant;
  readonly value: number;
  readonly index: number;
  readonly target_index: number;
  readonly hold_index: number;
  readonly drawdown: number;
  /** In the order of the currencies. */
  readonly weights: readonly number[];
  /** Largest drift of any currency. */
  readonly drift: number;
  /** Return since the previous point less that of the targets. */
  readonly difference: number;
}

/** Maximum number of points, which is more than a chart or a year of days needs. */
const POINTS_MAX = 2_000;

/** Points are daily if there are enough days, otherwise hourly. Otherwise, there are as many points as a line needs. */
function stepOf(from: number, until: number): number {
  const span = until - from;
  for (const step of [DAY_MS, HOUR_MS]) {
    if (span / step < 10) continue;
    return step * Math.ceil(span / step / POINTS_MAX);
  }
  return Math.max(1_000, Math.ceil(span / 100));
}

export interface EquityScene {
  readonly plan: TargetPortfolio;
  readonly prices: PriceBook;
  readonly story: readonly Held[];
  readonly from: Instant;
  readonly until: Instant;
}

/** `undefined` if the history of a pair is missing, or if there are fewer than two points. */
export function equityCurveOf({ plan, prices, story, from, until }: EquityScene): EquityCurve | undefined {
  const pairs = [...plan.targets.keys()].filter((one) => one !== plan.basis.cash);
  if (pairs.some((currency) => prices.tape(tradedPair(currency, plan.basis)) === undefined)) return undefined;
  const moments = { from, stepMs: stepOf(from, until), until };
  const walk = new Walk(plan, prices);
  let row = 0;
  for (let i = 0; i < countOf(moments); i++) {
    const at = instant(momentOf(moments, i));
    for (; row < story.length && (story[row]?.at ?? at) <= at; row++) walk.hold(story[row]);
    if (row > 0) walk.step(at);
  }
  return walk.points.length < 2 ? undefined : walk.curve(moments.stepMs);
}

/** Prices or amounts in the order of `currencies`. */
type List = readonly number[];

const sumOf = (amounts: List, prices: List): number =>
  amounts.reduce((sum, amount, i) => sum + amount * (prices[i] ?? Number.NaN), 0);

interface Closing extends Pick<EquityStep, 'at' | 'value'> {
  readonly prices: List;
  readonly after?: number | undefined;
}

/** A loss of everything counts as this index, because nothing could be divided by 0. */
const INDEX_MIN = 1e-9;

/**
 * Visits the points in order. The portfolio is also valued at each flow, so that its return is that of the money which
 * was in it (true time-weighted).
 */
class Walk {
  readonly points: EquityPoint[] = [];
  readonly steps: EquityStep[] = [];
  readonly currencies: readonly string[];
  readonly #plan: TargetPortfolio;
  readonly #targets: List;
  readonly #prices: PriceBook;
  /** Holdings, without amounts that do not belong to the portfolio. */
  readonly #amounts: number[];
  readonly #aside: number;
  /** Flows that are not valued yet, because a price was missing at their time. */
  #waiting: number[];
  readonly #flows: EquityFlow[] = [];
  #peak = 1;
  /** In cash, the prices at the first and at the previous point. */
  #first: List = [];
  #before: List = [];

  constructor(plan: TargetPortfolio, prices: PriceBook) {
    const { basis, targets } = plan;
    this.#plan = plan;
    this.#prices = prices;
    this.currencies = [...new Set([...targets.keys(), basis.cash])];
    this.#targets = this.currencies.map((currency) => approximate(targets.get(currency) ?? NOTHING));
    this.#aside = Number(basis.aside ?? 0);
    this.#amounts = this.currencies.map((currency) => (currency === basis.cash ? 0 - this.#aside : 0));
    this.#waiting = this.#amounts.map(() => 0);
  }

  /** Changes the holdings. Changes without a fill are flows, as are the proceeds of trades against other currencies. */
  hold(held: Held | undefined): void {
    if (held === undefined) return;
    const { currencies } = this;
    const before = [...this.#amounts];
    const isAcross =
      held.fill !== undefined && held.changed.some(({ currency }) => !currencies.includes(currency));
    const moved = currencies.map((currency) => approximate(held.flows.get(currency) ?? NOTHING));
    for (const { currency, now } of held.changed) {
      const place = currencies.indexOf(currency);
      if (place < 0) continue;
      const amount = approximate(now) - (currency === this.#plan.basis.cash ? this.#aside : 0);
      if (isAcross) moved[place] = amount - (before[place] ?? 0);
      this.#amounts[place] = amount;
    }
    if (this.points.length > 0 && moved.some((amount) => amount !== 0)) this.#flow(held.at, before, moved);
  }

  /** Values the portfolio before a flow. If a price is missing, the flow counts at the next instant that has all prices. */
  #flow(at: Instant, before: List, moved: List): void {
    const prices = this.#pricesAt(at);
    const [value, amount] = [sumOf(before, prices), sumOf(moved, prices)];
    if (Number.isFinite(value) && value >= 0) {
      this.#close({ at, prices, value, after: sumOf(this.#amounts, prices) });
      this.#flows.push({ at, value, amount });
    } else this.#waiting = this.#waiting.map((each, i) => each + (moved[i] ?? 0));
  }

  /** Ends the time since the step before, at a value; a flow changes it to the value `after`. */
  #close({ at, prices, value, after }: Closing): EquityStep {
    const late = sumOf(this.#waiting, prices);
    if (late !== 0) this.#flows.push({ at, value: value - late, amount: late });
    this.#waiting.fill(0);
    const last = this.steps.at(-1);
    const growth = last === undefined || !(last.value > 0) ? 1 : (value - late) / last.value;
    const step = {
      at,
      value: after ?? value,
      index: Math.max(INDEX_MIN, (last?.index ?? 1) * growth),
      target_index: (this.points.at(-1)?.target_index ?? 1) * (1 + this.#targetReturn(this.#before, prices)),
      isFlow: after !== undefined,
    };
    this.steps.push(step);
    return step;
  }

  /** Skips an instant at which a price is missing. */
  step(at: Instant): void {
    const prices = this.#pricesAt(at);
    const worths = this.#amounts.map((amount, i) => amount * (prices[i] ?? Number.NaN));
    const value = worths.reduce((sum, worth) => sum + worth, 0);
    if (!(value > 0)) return;
    const weights = worths.map((worth) => worth / value);
    const before = this.points.at(-1);
    if (before === undefined) [this.#first, this.#before] = [prices, prices];
    const { index, target_index: target } = this.#close({ at, prices, value });
    this.#peak = Math.max(this.#peak, index);
    this.points.push({
      at,
      value,
      index,
      target_index: target,
      hold_index: 1 + this.#targetReturn(this.#first, prices),
      drawdown: index / this.#peak - 1,
      weights,
      drift: weights.reduce((largest, weight, i) => Math.max(largest, this.#driftOf(weight, i)), 0),
      difference: before === undefined ? 0 : index / before.index - target / before.target_index,
    });
    this.#before = prices;
  }

  /** A currency with target 0 drifts absolutely in either case. */
  #driftOf(weight: number, place: number): number {
    const target = this.#targets[place] ?? 0;
    const away = Math.abs(weight - target);
    return this.#plan.driftType === 'absolute' || target === 0 ? away : away / target;
  }

  /** Return of the target weights at some prices, held until others. */
  #targetReturn(from: List, to: List): number {
    return this.#targets.reduce((sum, target, i) => sum + target * ((to[i] ?? 0) / (from[i] ?? 0) - 1), 0);
  }

  #pricesAt(at: Instant): List {
    return this.currencies.map((currency) => priceAt(currency, this.#plan, { prices: this.#prices, at }));
  }

  curve(stepMs: number): EquityCurve {
    const { points, steps, currencies } = this;
    const start = points[0]?.value ?? 0;
    const isBuilt = ({ drift }: EquityPoint): boolean => !(drift > Number(this.#plan.threshold));
    const heldOf = (target: number, i: number): number =>
      target * ((this.#before[i] ?? 0) / (this.#first[i] ?? 0) - 1);
    return {
      stepMs,
      points,
      steps,
      currencies,
      built: points.findIndex(isBuilt),
      holdGains: this.#targets.map((target, i) => start * heldOf(target, i)),
      flows: this.#flows,
    };
  }
}

/** The price of a currency in cash, through the currency that it trades against if it has no pair against cash. */
function priceAt(
  currency: string,
  { basis }: TargetPortfolio,
  { prices, at }: { readonly prices: PriceBook; readonly at: number },
): number {
  if (currency === basis.cash) return 1;
  const direct = prices.numberAt(tradedPair(currency, basis), at);
  const bridge = basis.via?.[currency];
  return bridge === undefined ? direct : direct * prices.numberAt(bridge + basis.cash, at);
}
