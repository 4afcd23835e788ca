import { approximate, NOTHING } from '../../core/money.ts';
import { tradedPair } from '../../core/risk/portfolio.ts';
import type { Basis, Targets } from '../../core/risk/portfolio.ts';
import { DAY_MS, HOUR_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { DriftType } from '../../core/wake.ts';
import type { Held } from './holdings.ts';
import { countOf, momentOf } from '../figures/prices.ts';
import type { Moments, PriceBook } from '../figures/prices.ts';

/** The portfolio settings of a document. */
export interface TargetPortfolio {
  readonly targets: Targets;
  readonly basis: Basis;
  readonly driftType: DriftType;
  readonly threshold: string;
}

/**
 * The portfolio at the start of its period, at equidistant points in UTC and at its end. For statistics and charts,
 * never as money.
 */
export interface EquityCurve {
  /** The first and the last step are shorter if the period starts or ends between two points. */
  readonly stepMs: number;
  readonly points: EquityPoints;
  readonly currencies: readonly string[];
  readonly meanValue: number;
  /** Half of the value bought and sold, divided by the mean value: one-way turnover. */
  readonly turnover: number;
  /** Return of the period, adjusted for deposits and withdrawals. */
  readonly return: number;
  /** The same for the target weights, restored at every point without cost. */
  readonly targetReturn: number;
  /** Standard deviation of the return differences between points, per year; each is weighted by its duration. */
  readonly trackingError: number | undefined;
  /** Largest fall from a peak, as a fraction of the peak. */
  readonly drawdown: number;
  readonly drawdownAt: Instant | undefined;
  readonly drift: Drift;
  /**
   * The same from the first point within all bands, because the portfolio is being bought until then. `undefined` if no
   * point is within all bands.
   */
  readonly sinceBuilt: SinceBuilt | undefined;
  /**
   * Gain of each currency if it had been bought at its target weight of the value at the first point, without cost, and
   * held.
   */
  readonly holdGains: readonly number[];
  /** Value of all balance changes without a fill, and of trades against currencies outside the portfolio. */
  readonly flows: number;
}

export interface SinceBuilt extends Drift {
  readonly at: Instant;
  readonly trackingError: number | undefined;
}

/** Mean and maximum of the largest drift at each point, and the share of points outside the band. */
export interface Drift {
  readonly mean: number;
  readonly max: number;
  readonly outside: number;
}

/** In columns; only the first `count` rows are valid. */
export interface EquityPoints {
  readonly count: number;
  /** Unix ms. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** 1 at the first point; adjusted for deposits and withdrawals. */
  readonly indexes: Float64Array;
  /** The same for the target weights, restored at every point without cost. */
  readonly targetIndexes: Float64Array;
  /** The same for the target weights, bought at the first point without cost and held. */
  readonly holdIndexes: Float64Array;
  /** Distance below its peak, a fraction; 0 or less. */
  readonly drawdowns: Float64Array;
  /** Weight of each currency at the first point, then at the second, and so on. */
  readonly weights: Float64Array;
}

/** Maximum number of points: more than a chart or a year of days needs. */
const POINTS_MAX = 2_000;
const YEAR_DAYS = 365.25;

/** Daily if there are enough days, otherwise hourly, otherwise as many points as a line needs. */
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
  /** Traded value, in cash. */
  readonly traded: number;
}

/** `undefined` without the history of each pair, or with fewer than two points. */
export function equityCurveOf({
  plan,
  prices,
  story,
  from,
  until,
  traded,
}: EquityScene): EquityCurve | undefined {
  const pairs = [...plan.targets.keys()].filter((one) => one !== plan.basis.cash);
  if (pairs.some((currency) => prices.tape(tradedPair(currency, plan.basis)) === undefined)) return undefined;
  const stepMs = stepOf(from, until);
  const moments = { from, stepMs, until };
  const walk = new Walk(plan, prices, moments);
  let row = 0;
  for (let i = 0; i < countOf(moments); i++) {
    const at = momentOf(moments, i);
    for (; row < story.length && (story[row]?.at ?? at) <= at; row++) walk.hold(story[row]);
    if (row > 0) walk.step(i, at);
  }
  return walk.count < 2 ? undefined : walk.course(stepMs, traded);
}

/**
 * Visits the points in order and stores the data for the statistics. All lists by currency follow the order of
 * `currencies`.
 */
class Walk implements EquityPoints {
  readonly currencies: readonly string[];
  count = 0;
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly indexes: Float64Array;
  readonly targetIndexes: Float64Array;
  readonly holdIndexes: Float64Array;
  readonly drawdowns: Float64Array;
  readonly weights: Float64Array;
  /** Difference between the return of a point and the return of the targets; none for the first point. */
  readonly #differences: Float64Array;
  #peak = 1;
  #lowest = 0;
  #sum = 0;
  readonly #drift = new Drifts();
  #sinceBuilt: Drifts | undefined;
  /** The first point within all bands. */
  #built = 0;
  #flows = 0;
  readonly #flowing = new Map<string, number>();
  readonly #aside: number;
  readonly #cash: number;
  readonly #isAbsolute: boolean;
  readonly #threshold: number;
  readonly #targets: Float64Array;
  /** In cash: price of each currency at the first instant, then at the second, and so on. */
  readonly #prices: Float64Array;
  /** Holdings, without amounts that do not belong to the portfolio. */
  readonly #amounts: Float64Array;
  readonly #worths: Float64Array;
  /** The instants of the first and of the previous point. */
  #first = 0;
  #before = 0;

  constructor(plan: TargetPortfolio, prices: PriceBook, moments: Moments) {
    const { basis, targets } = plan;
    this.currencies = targets.has(basis.cash) ? [...targets.keys()] : [...targets.keys(), basis.cash];
    const { length } = this.currencies;
    const count = countOf(moments);
    this.times = new Float64Array(count);
    this.values = new Float64Array(count);
    this.indexes = new Float64Array(count);
    this.targetIndexes = new Float64Array(count);
    this.holdIndexes = new Float64Array(count);
    this.drawdowns = new Float64Array(count);
    this.weights = new Float64Array(count * length);
    this.#differences = new Float64Array(count);
    this.#isAbsolute = plan.driftType === 'absolute';
    this.#threshold = Number(plan.threshold);
    this.#targets = Float64Array.from(this.currencies, (currency) => approximate(targets.get(currency) ?? NOTHING)); // prettier-ignore
    this.#prices = new Float64Array(count * length);
    for (const [place, currency] of this.currencies.entries()) {
      const column = pricesOf(currency, plan, { prices, moments });
      for (let i = 0; i < count; i++) this.#prices[i * length + place] = column[i] ?? Number.NaN;
    }
    this.#amounts = new Float64Array(length);
    this.#worths = new Float64Array(length);
    this.#cash = this.currencies.indexOf(basis.cash);
    this.#aside = Number(basis.aside ?? 0);
    this.#amounts[this.#cash] = 0 - this.#aside;
  }

  /**
   * Changes the holdings. Changes without a fill count with the next point, as do proceeds of trades against currencies
   * outside the portfolio: they are not a return.
   */
  hold(held: Held | undefined): void {
    if (held === undefined) return;
    for (const [currency, change] of held.flows) this.#move(currency, approximate(change));
    const { currencies } = this;
    const isAcross =
      held.flows.size === 0 && held.changed.some(({ currency }) => !currencies.includes(currency));
    for (const { currency, now } of held.changed) {
      const place = currencies.indexOf(currency);
      if (place < 0) continue;
      const amount = approximate(now) - (place === this.#cash ? this.#aside : 0);
      if (isAcross) this.#move(currency, amount - (this.#amounts[place] ?? 0));
      this.#amounts[place] = amount;
    }
  }

  #move(currency: string, change: number): void {
    this.#flowing.set(currency, (this.#flowing.get(currency) ?? 0) + change);
  }

  /** Skips an instant without all prices; its flows count with the next one. */
  step(moment: number, at: number): void {
    const { count, weights } = this;
    const prices = this.#prices;
    const targets = this.#targets;
    const worths = this.#worths;
    const { length } = worths;
    let value = 0;
    for (let i = 0; i < length; i++) {
      const worth = (this.#amounts[i] ?? 0) * (prices[moment * length + i] ?? Number.NaN);
      worths[i] = worth;
      value += worth;
    }
    if (!(value > 0)) return;
    let drift = 0;
    for (let i = 0; i < length; i++) {
      const target = targets[i] ?? 0;
      const weight = (worths[i] ?? 0) / value;
      const away = Math.abs(weight - target);
      weights[count * length + i] = weight;
      // A currency with target 0 drifts absolutely in either case.
      drift = Math.max(drift, this.#isAbsolute || target === 0 ? away : away / target);
    }
    if (count === 0) {
      this.#first = moment;
      this.targetIndexes[0] = 1;
    }
    const index = count === 0 ? 1 : (this.indexes[count - 1] ?? 1) * (1 + this.#return(moment, value));
    this.holdIndexes[count] = 1 + this.#targetReturn(this.#first, moment);
    this.#peak = Math.max(this.#peak, index);
    const drawdown = index / this.#peak - 1;
    if (drawdown < (this.drawdowns[this.#lowest] ?? 0)) this.#lowest = count;
    this.times[count] = at;
    this.values[count] = value;
    this.indexes[count] = index;
    this.drawdowns[count] = drawdown;
    this.#sum += value;
    const isOutside = drift > this.#threshold;
    if (!isOutside && this.#sinceBuilt === undefined) {
      this.#sinceBuilt = new Drifts();
      this.#built = count;
    }
    this.#drift.add(drift, isOutside);
    this.#sinceBuilt?.add(drift, isOutside);
    this.#before = moment;
    this.count++;
    if (this.#flowing.size > 0) this.#flowing.clear();
  }

  /** Return since the previous point; also stores the difference from that of the targets. */
  #return(moment: number, value: number): number {
    const { count } = this;
    const flow = this.#flowing.size === 0 ? 0 : this.#flow(moment);
    const own = (value - flow) / (this.values[count - 1] ?? 0) - 1;
    const wanted = this.#targetReturn(this.#before, moment);
    this.targetIndexes[count] = (this.targetIndexes[count - 1] ?? 1) * (1 + wanted);
    this.#differences[count] = own - wanted;
    return own;
  }

  /** Return of the target weights at one instant, held until another. */
  #targetReturn(from: number, to: number): number {
    const prices = this.#prices;
    const targets = this.#targets;
    const { length } = targets;
    let sum = 0;
    for (let i = 0; i < length; i++) {
      const now = prices[to * length + i] ?? Number.NaN;
      sum += (targets[i] ?? 0) * (now / (prices[from * length + i] ?? Number.NaN) - 1);
    }
    return sum;
  }

  /** Deposits and withdrawals since the previous point, in cash. */
  #flow(moment: number): number {
    let flow = 0;
    for (const [currency, amount] of this.#flowing) {
      const place = this.currencies.indexOf(currency);
      const each = this.#prices[moment * this.currencies.length + place] ?? Number.NaN;
      flow += amount * (place < 0 ? 0 : each);
    }
    this.#flows += flow;
    return flow;
  }

  course(stepMs: number, traded: number): EquityCurve {
    const { count } = this;
    const meanValue = this.#sum / count;
    const drawdown = this.drawdowns[this.#lowest] ?? 0;
    return {
      stepMs,
      points: this,
      currencies: this.currencies,
      meanValue,
      turnover: traded / 2 / meanValue,
      return: (this.indexes[count - 1] ?? 1) - 1,
      targetReturn: (this.targetIndexes[count - 1] ?? 1) - 1,
      trackingError: this.#trackingError(stepMs, 0),
      drawdown: -drawdown,
      drawdownAt: drawdown < 0 ? instant(this.times[this.#lowest] ?? 0) : undefined,
      drift: this.#drift.sum(),
      sinceBuilt: this.#sinceBuilt && {
        at: instant(this.times[this.#built] ?? 0),
        ...this.#sinceBuilt.sum(),
        trackingError: this.#trackingError(stepMs, this.#built),
      },
      holdGains: this.currencies.map((_, place) => (this.values[0] ?? 0) * this.#held(place)),
      flows: this.#flows,
    };
  }

  /** Contribution of a currency, bought at its target weight at the first point, to the return until the last. */
  #held(place: number): number {
    const priceAt = (moment: number): number =>
      this.#prices[moment * this.currencies.length + place] ?? Number.NaN;
    return (this.#targets[place] ?? 0) * (priceAt(this.#before) / priceAt(this.#first) - 1);
  }

  /** Tracking error of the steps after a point. */
  #trackingError(stepMs: number, first: number): number | undefined {
    const { count } = this;
    return deviation(this.#differences.subarray(first + 1, count), this.times.subarray(first, count), stepMs);
  }
}

/** Statistics of the points so far. */
class Drifts {
  #count = 0;
  #sum = 0;
  #max = 0;
  #outside = 0;

  add(drift: number, isOutside: boolean): void {
    this.#count++;
    this.#sum += drift;
    this.#max = Math.max(this.#max, drift);
    if (isOutside) this.#outside++;
  }

  sum(): Drift {
    const count = this.#count;
    return { mean: this.#sum / count, max: this.#max, outside: this.#outside / count };
  }
}

/** The prices of a currency in cash, through the currency that it trades against if it has no pair against cash. */
function pricesOf(
  currency: string,
  { basis }: TargetPortfolio,
  { prices, moments }: { readonly prices: PriceBook; readonly moments: Moments },
): Float64Array {
  if (currency === basis.cash) return new Float64Array(countOf(moments)).fill(1);
  const direct = prices.numbersAt(tradedPair(currency, basis), moments);
  const bridge = basis.via?.[currency];
  if (bridge === undefined) return direct;
  const onward = prices.numbersAt(bridge + basis.cash, moments);
  return direct.map((price, i) => price * (onward[i] ?? Number.NaN));
}

/**
 * Standard deviation (of a sample) of values per year, each the sum over the time since the previous one: a value over
 * `w` steps has `w` times the mean and the variance of one. For equal steps it is the usual one. `undefined` for fewer
 * than ten.
 */
function deviation(values: Float64Array, times: Float64Array, stepMs: number): number | undefined {
  if (values.length < 10) return undefined;
  const steps = values.map((_, i) => ((times[i + 1] ?? 0) - (times[i] ?? 0)) / stepMs);
  let [sum, all, own, squares] = [0, 0, 0, 0];
  for (const [i, value] of values.entries()) {
    sum += value;
    all += steps[i] ?? 0;
    own += (steps[i] ?? 0) ** 2;
  }
  for (const [i, value] of values.entries()) squares += (value - ((steps[i] ?? 0) * sum) / all) ** 2;
  return Math.sqrt(((squares / (all - own / all)) * (YEAR_DAYS * DAY_MS)) / stepMs);
}
