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
 * The portfolio at the start of its period, at equidistant points in UTC, and at its end, as numbers that are not
 * rounded. For statistics and charts; never used as money.
 */
export interface EquityCurve {
  /** The first and the last step are shorter if the period starts or ends between two points. */
  readonly stepMs: number;
  /** At least two. */
  readonly points: readonly EquityPoint[];
  readonly currencies: readonly string[];
  /** The first point within all bands, because the portfolio is being bought until then; -1 if there is none. */
  readonly built: number;
  /** Gain of each currency if it had been bought at its target weight at the first point, without cost, and held. */
  readonly holdGains: readonly number[];
  /** Value of all balance changes without a fill, and of trades against currencies outside the portfolio. */
  readonly flows: number;
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
  const walk = new Walk(plan, prices, moments);
  let row = 0;
  for (let i = 0; i < countOf(moments); i++) {
    const at = momentOf(moments, i);
    for (; row < story.length && (story[row]?.at ?? at) <= at; row++) walk.hold(story[row]);
    if (row > 0) walk.step(i, at);
  }
  return walk.points.length < 2 ? undefined : walk.curve(moments.stepMs);
}

/** Visits the points in order. All lists by currency follow the order of `currencies`. */
class Walk {
  readonly points: EquityPoint[] = [];
  readonly currencies: readonly string[];
  readonly #plan: TargetPortfolio;
  readonly #targets: readonly number[];
  /** In cash: the price of each currency at each instant. */
  readonly #prices: readonly (readonly number[])[];
  /** Holdings, without amounts that do not belong to the portfolio. */
  readonly #amounts: number[];
  readonly #aside: number;
  /** Changes of holdings since the previous point that are no return. */
  readonly #flowing = new Map<string, number>();
  #flows = 0;
  #peak = 1;
  /** The instants of the first and of the previous point. */
  #first = 0;
  #before = 0;

  constructor(plan: TargetPortfolio, prices: PriceBook, moments: Moments) {
    const { basis, targets } = plan;
    this.#plan = plan;
    this.currencies = [...new Set([...targets.keys(), basis.cash])];
    this.#targets = this.currencies.map((currency) => approximate(targets.get(currency) ?? NOTHING));
    this.#prices = Array.from({ length: countOf(moments) }, (_, i) =>
      this.currencies.map((currency) => priceAt(currency, plan, { prices, at: momentOf(moments, i) })),
    );
    this.#aside = Number(basis.aside ?? 0);
    this.#amounts = this.currencies.map((currency) => (currency === basis.cash ? 0 - this.#aside : 0));
  }

  /**
   * Changes the holdings. Changes without a fill count with the next point, as do the proceeds of trades against
   * currencies outside the portfolio. Neither is a return.
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
      const amount = approximate(now) - (currency === this.#plan.basis.cash ? this.#aside : 0);
      if (isAcross) this.#move(currency, amount - (this.#amounts[place] ?? 0));
      this.#amounts[place] = amount;
    }
  }

  #move(currency: string, change: number): void {
    this.#flowing.set(currency, (this.#flowing.get(currency) ?? 0) + change);
  }

  /** Skips an instant at which a price is missing; its flows count with the next instant. */
  step(moment: number, at: number): void {
    const worths = this.#amounts.map((amount, i) => amount * this.#price(moment, i));
    const value = worths.reduce((sum, worth) => sum + worth, 0);
    if (!(value > 0)) return;
    const weights = worths.map((worth) => worth / value);
    const before = this.points.at(-1);
    if (before === undefined) this.#first = moment;
    const flow = before === undefined ? 0 : this.#flow(moment);
    const own = before === undefined ? 0 : (value - flow) / before.value - 1;
    const wanted = before === undefined ? 0 : this.#targetReturn(this.#before, moment);
    const index = (before?.index ?? 1) * (1 + own);
    this.#peak = Math.max(this.#peak, index);
    this.points.push({
      at: instant(at),
      value,
      index,
      target_index: (before?.target_index ?? 1) * (1 + wanted),
      hold_index: 1 + this.#targetReturn(this.#first, moment),
      drawdown: index / this.#peak - 1,
      weights,
      drift: weights.reduce((largest, weight, i) => Math.max(largest, this.#driftOf(weight, i)), 0),
      difference: own - wanted,
    });
    this.#before = moment;
    this.#flowing.clear();
  }

  #price(moment: number, place: number): number {
    return this.#prices[moment]?.[place] ?? Number.NaN;
  }

  /** A currency with target 0 drifts absolutely in either case. */
  #driftOf(weight: number, place: number): number {
    const target = this.#targets[place] ?? 0;
    const away = Math.abs(weight - target);
    return this.#plan.driftType === 'absolute' || target === 0 ? away : away / target;
  }

  /** Return of the target weights at one instant, held until another. */
  #targetReturn(from: number, to: number): number {
    return this.#targets.reduce(
      (sum, target, i) => sum + target * (this.#price(to, i) / this.#price(from, i) - 1),
      0,
    );
  }

  /** Deposits and withdrawals since the previous point, in cash. */
  #flow(moment: number): number {
    let flow = 0;
    for (const [currency, amount] of this.#flowing) {
      const place = this.currencies.indexOf(currency);
      flow += amount * (place < 0 ? 0 : this.#price(moment, place));
    }
    this.#flows += flow;
    return flow;
  }

  curve(stepMs: number): EquityCurve {
    const { points, currencies } = this;
    const start = points[0]?.value ?? 0;
    const isBuilt = ({ drift }: EquityPoint): boolean => !(drift > Number(this.#plan.threshold));
    const heldOf = (target: number, i: number): number =>
      target * (this.#price(this.#before, i) / this.#price(this.#first, i) - 1);
    return {
      stepMs,
      points,
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
