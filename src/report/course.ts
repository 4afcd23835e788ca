import { approximate, NO_QUANTITY, NOTHING } from '../core/money.ts';
import { tradedPair } from '../core/portfolio.ts';
import type { Basis, Targets } from '../core/portfolio.ts';
import { DAY_MS, HOUR_MS, instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { DriftType } from '../core/wake.ts';
import type { Held } from './holdings.ts';
import type { Moments, PriceBook } from './prices.ts';

/** What a document says of the portfolio that it keeps. */
export interface Plan {
  readonly targets: Targets;
  readonly basis: Basis;
  readonly driftType: DriftType;
  readonly threshold: string;
}

/** The portfolio at evenly spaced moments. For statistics and charts: no money is made of these numbers. */
export interface Course {
  readonly stepMs: number;
  readonly points: readonly CoursePoint[];
  readonly currencies: readonly string[];
  /** Of each of the currencies at the first point, then at the second, and so on. */
  readonly weights: readonly number[];
  readonly meanValue: number;
  /** Sold and bought value, halved, of the mean value: one-way. */
  readonly turnover: number;
  /** Return of the period, deposits and withdrawals taken out. */
  readonly return: number;
  /** The same of target weights that are restored, free of cost, at every point. */
  readonly targetReturn: number;
  /** Standard deviation of the difference of the returns of the points, a year. */
  readonly trackingError: number | undefined;
  /** Largest fall from a peak, a fraction of the peak. */
  readonly drawdown: number;
  readonly drawdownAt: Instant | undefined;
  /** Mean and largest of the largest drift at each point, and the share of points outside the band. */
  readonly driftMean: number;
  readonly driftMax: number;
  readonly outside: number;
  /** Value of all changes that no fill explains. */
  readonly flows: number;
}

export interface CoursePoint {
  readonly at: Instant;
  readonly value: number;
  /** 1 at the first point; deposits and withdrawals taken out. */
  readonly index: number;
  /** Below its peak, a fraction; 0 or less. */
  readonly drawdown: number;
}

/** Most points: more than a chart or a year of days needs. */
const POINTS_MAX = 2_000;
const YEAR_DAYS = 365.25;

/** Days when there are enough of them, else hours, else as many points as make a line. */
function stepOf(from: number, until: number): number {
  const span = until - from;
  for (const step of [DAY_MS, HOUR_MS]) {
    if (span / step < 10) continue;
    return step * Math.ceil(span / step / POINTS_MAX);
  }
  return Math.max(1_000, Math.ceil(span / 100));
}

export interface CourseScene {
  readonly plan: Plan;
  readonly prices: PriceBook;
  readonly story: readonly Held[];
  readonly from: Instant;
  readonly until: Instant;
  /** What was traded, in cash. */
  readonly traded: number;
}

/** `undefined` without the history of each of its pairs, or of fewer than two points. */
export function courseOf({ plan, prices, story, from, until, traded }: CourseScene): Course | undefined {
  const pairs = [...plan.targets.keys()].filter((one) => one !== plan.basis.cash);
  if (pairs.some((currency) => prices.tape(tradedPair(currency, plan.basis)) === undefined)) return undefined;
  const stepMs = stepOf(from, until);
  const moments = { from, stepMs, count: until < from ? 0 : Math.floor((until - from) / stepMs) + 1 };
  const walk = new Walk(plan, prices, moments);
  let row = 0;
  for (let i = 0; i < moments.count; i++) {
    const at = from + i * stepMs;
    for (; row < story.length && (story[row]?.at ?? at) <= at; row++) walk.hold(story[row]);
    if (row > 0) walk.step(i, instant(at));
  }
  const { points, drifts } = walk;
  const last = points.at(-1);
  if (last === undefined || points.length < 2) return undefined;
  const meanValue = points.reduce((sum, { value }) => sum + value, 0) / points.length;
  const deepest = points.reduce((a, b) => (b.drawdown < a.drawdown ? b : a));
  const limit = Number(plan.threshold);
  return {
    stepMs,
    points,
    currencies: walk.currencies,
    weights: walk.weights,
    meanValue,
    turnover: traded / 2 / meanValue,
    return: last.index - 1,
    targetReturn: walk.targetIndex - 1,
    trackingError: deviation(walk.differences, (YEAR_DAYS * DAY_MS) / stepMs),
    drawdown: -deepest.drawdown,
    drawdownAt: deepest.drawdown < 0 ? deepest.at : undefined,
    driftMean: drifts.reduce((sum, drift) => sum + drift, 0) / drifts.length,
    driftMax: drifts.reduce((a, b) => Math.max(a, b)),
    outside: drifts.filter((drift) => drift > limit).length / drifts.length,
    flows: walk.flows,
  };
}

/** Goes from point to point and keeps what the statistics need. All lists that go by currency have its place in `currencies`. */
class Walk {
  readonly currencies: readonly string[];
  readonly points: CoursePoint[] = [];
  readonly weights: number[] = [];
  readonly drifts: number[] = [];
  readonly differences: number[] = [];
  targetIndex = 1;
  flows = 0;
  #peak = 1;
  readonly #flowing = new Map<string, number>();
  readonly #plan: Plan;
  readonly #isAbsolute: boolean;
  readonly #targets: Float64Array;
  /** In cash, at each moment. */
  readonly #prices: readonly Float64Array[];
  /** Held, less what does not belong to the portfolio. */
  readonly #amounts: Float64Array;
  readonly #worths: Float64Array;
  /** The moment of the point before. */
  #before = 0;

  constructor(plan: Plan, prices: PriceBook, moments: Moments) {
    const { basis, targets } = plan;
    this.currencies = targets.has(basis.cash) ? [...targets.keys()] : [...targets.keys(), basis.cash];
    this.#plan = plan;
    this.#isAbsolute = plan.driftType === 'absolute';
    this.#targets = Float64Array.from(this.currencies, (currency) => approximate(targets.get(currency) ?? NOTHING)); // prettier-ignore
    this.#prices = this.currencies.map((currency) => pricesOf(currency, plan, { prices, moments }));
    this.#amounts = new Float64Array(this.currencies.length);
    this.#worths = new Float64Array(this.currencies.length);
  }

  /** What is held from now on. Changes that no fill explains count with the next point. */
  hold(held: Held | undefined): void {
    if (held === undefined) return;
    const { cash, aside } = this.#plan.basis;
    for (const [currency, change] of held.flows)
      this.#flowing.set(currency, (this.#flowing.get(currency) ?? 0) + approximate(change));
    for (const [i, currency] of this.currencies.entries()) {
      const amount = approximate(held.balances.get(currency) ?? NO_QUANTITY);
      this.#amounts[i] = currency === cash ? amount - Number(aside ?? 0) : amount;
    }
  }

  /** Where not everything has a price the moment is left out, and its flows count with the next. */
  step(moment: number, at: Instant): void {
    const count = this.currencies.length;
    let value = 0;
    for (let i = 0; i < count; i++) {
      const worth = (this.#amounts[i] ?? 0) * this.#priceAt(i, moment);
      this.#worths[i] = worth;
      value += worth;
    }
    if (!(value > 0)) return;
    let drift = 0;
    for (let i = 0; i < count; i++) {
      const weight = (this.#worths[i] ?? 0) / value;
      this.weights.push(weight);
      drift = Math.max(drift, this.#drift(weight, this.#targets[i] ?? 0));
    }
    const before = this.points.at(-1);
    const index = before === undefined ? 1 : before.index * (1 + this.#returns(moment, value, before));
    this.#before = moment;
    this.#peak = Math.max(this.#peak, index);
    this.points.push({ at, value, index, drawdown: index / this.#peak - 1 });
    this.drifts.push(drift);
    this.#flowing.clear();
  }

  #priceAt(place: number, moment: number): number {
    return this.#prices[place]?.[moment] ?? Number.NaN;
  }

  /** The return since the point before; that of the targets is kept beside it. */
  #returns(moment: number, value: number, before: CoursePoint): number {
    let [flow, wanted] = [0, 0];
    for (const [currency, amount] of this.#flowing) {
      const place = this.currencies.indexOf(currency);
      flow += amount * (place < 0 ? 0 : this.#priceAt(place, moment));
    }
    this.flows += flow;
    const own = (value - flow) / before.value - 1;
    for (let i = 0; i < this.#targets.length; i++)
      wanted += (this.#targets[i] ?? 0) * (this.#priceAt(i, moment) / this.#priceAt(i, this.#before) - 1);
    this.targetIndex *= 1 + wanted;
    this.differences.push(own - wanted);
    return own;
  }

  #drift(weight: number, target: number): number {
    const away = Math.abs(weight - target);
    // A currency with target 0 drifts absolutely in either case.
    return this.#isAbsolute || target === 0 ? away : away / target;
  }
}

/** The prices of a currency in cash, through the one that it trades against where it has no pair of its own. */
function pricesOf(
  currency: string,
  { basis }: Plan,
  { prices, moments }: { readonly prices: PriceBook; readonly moments: Moments },
): Float64Array {
  if (currency === basis.cash) return new Float64Array(moments.count).fill(1);
  const direct = prices.numbersAt(tradedPair(currency, basis), moments);
  const bridge = basis.via?.[currency];
  if (bridge === undefined) return direct;
  const onward = prices.numbersAt(bridge + basis.cash, moments);
  return direct.map((price, i) => price * (onward[i] ?? Number.NaN));
}

/** Standard deviation (of a sample) of values per period, per year; `undefined` of fewer than ten. */
function deviation(values: readonly number[], perYear: number): number | undefined {
  if (values.length < 10) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt((squares / (values.length - 1)) * perYear);
}
