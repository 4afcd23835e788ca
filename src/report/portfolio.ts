import {
  add,
  approximate,
  cost,
  isAmountText,
  money,
  NO_MONEY,
  quantity,
  ratio,
  text,
} from '../core/money.ts';
import type { Money, Price } from '../core/money.ts';
import { drifts, largestDrift, priceIn, tradedPair, valueOn } from '../core/portfolio.ts';
import type { Basis, Targets, Valued } from '../core/portfolio.ts';
import type { FillRecord } from '../core/record.ts';
import { DAY_MS, HOUR_MS, instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { DriftType } from '../core/wake.ts';
import type { Facts, LifeFacts } from './facts.ts';
import { holdingsOf } from './holdings.ts';
import type { Held } from './holdings.ts';
import type { PriceBook } from './prices.ts';

/** A portfolio against its target weights over a period. Values in cash. */
export interface PortfolioFigures {
  readonly strategy: string;
  readonly cash: string;
  readonly driftType: DriftType;
  readonly threshold: string;
  readonly targets: Readonly<Record<string, string>>;
  /** Exact, at the first and the last moment at which everything had a price. */
  readonly start: Valuation | undefined;
  readonly end: Valuation | undefined;
  /** `decisions`: looks that led to trades. */
  readonly decisions: number;
  readonly traded: Money;
  /** Statistics of the points: none without prices. */
  readonly course: Course | undefined;
}

export interface Valuation {
  readonly at: Instant;
  readonly value: Money;
  /** Fractions, six decimals. */
  readonly weights: Readonly<Record<string, string>>;
  /** Largest drift of any currency then, as `driftType` says, six decimals. */
  readonly drift: string;
}

/** The portfolio at evenly spaced moments. For statistics and charts: no money is made of these numbers. */
export interface Course {
  readonly stepMs: number;
  readonly points: readonly CoursePoint[];
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
  readonly weights: Readonly<Record<string, number>>;
  /** 1 at the first point; deposits and withdrawals taken out. */
  readonly index: number;
  /** Below its peak, a fraction; 0 or less. */
  readonly drawdown: number;
}

/** Most points: more than a chart or a year of days needs. */
const POINTS_MAX = 2_000;
const YEAR_DAYS = 365.25;

interface Plan {
  readonly targets: Targets;
  readonly basis: Basis;
  readonly driftType: DriftType;
  readonly threshold: string;
}

export function portfoliosOf(
  facts: Facts,
  prices: PriceBook,
  { from, until }: { readonly from: Instant; readonly until: Instant },
): readonly PortfolioFigures[] {
  const plans = [...facts.lives.values()].flatMap((life) => {
    const plan = planOf(life);
    return plan === undefined ? [] : [{ life, plan }];
  });
  if (plans.length === 0) return [];
  const story = holdingsOf(facts.holdings);
  return plans.map(({ life, plan }) => {
    const begun = instant(Math.max(from, life.record.begun_at, story[0]?.at ?? from));
    const over = instant(Math.min(until, life.finished?.at ?? until));
    return portfolioOf({ facts, prices, story, life, plan, from: begun, until: over });
  });
}

interface Scene {
  readonly facts: Facts;
  readonly prices: PriceBook;
  readonly story: readonly Held[];
  readonly life: LifeFacts;
  readonly plan: Plan;
  readonly from: Instant;
  readonly until: Instant;
}

function portfolioOf(scene: Scene): PortfolioFigures {
  const { facts, life, plan, from, until } = scene;
  const { strategy } = life.record;
  const own = [...facts.parents.values()].filter((parent) => parent.life === keyOf(life));
  const fills = own
    .flatMap((parent) => parent.fills.map(({ record }) => record))
    .filter(({ executed_at: at }) => at >= from && at <= until);
  return {
    strategy,
    cash: plan.basis.cash,
    driftType: plan.driftType,
    threshold: plan.threshold,
    targets: Object.fromEntries([...plan.targets].map(([currency, weight]) => [currency, text(weight)])),
    start: valuationAt(scene, from),
    end: valuationAt(scene, until),
    decisions: new Set(own.map(({ decidedAt }) => decidedAt)).size,
    traded: fills.reduce((sum, fill) => add(sum, inCash(fill, scene)), NO_MONEY),
    course: courseOf(scene, fills),
  };
}

const keyOf = ({ record: { strategy, hash } }: LifeFacts): string => `${strategy}\n${hash}`;

/** What a fill was worth in cash: its amount, for a cross pair at the price of its quote currency then. */
function inCash(fill: FillRecord, { plan, prices }: Scene): Money {
  if (fill.quote === plan.basis.cash) return money(fill.amount);
  const each = priceIn(fill.quote, plan.basis, (pair) => prices.midAt(pair, fill.executed_at)?.price);
  return each === undefined ? NO_MONEY : cost(each, quantity(fill.amount));
}

/** Exact, from the newest prices known then; `undefined` when one is missing. */
function valuationAt({ plan, prices, story }: Scene, at: Instant): Valuation | undefined {
  const held = story.findLast((one) => one.at <= at);
  if (held === undefined) return undefined;
  const midOf = (pair: string): Price | undefined => prices.midAt(pair, at)?.price;
  const valued: Valued | undefined = valueOn(plan.targets, plan.basis, { holdings: held.balances, midOf });
  if (valued === undefined) return undefined;
  const drift = largestDrift(drifts(valued.weights, plan.targets, plan.driftType));
  return {
    at,
    value: valued.value,
    weights: Object.fromEntries(
      [...valued.weights].map(([currency, weight]) => [currency, weight.toFixed(6, 'even')]),
    ),
    drift: drift.toFixed(6, 'even'),
  };
}

/** Days when there are enough of them, else hours, else as many points as make a line. */
function stepOf(from: number, until: number): number {
  const span = until - from;
  for (const step of [DAY_MS, HOUR_MS]) {
    if (span / step < 10) continue;
    return step * Math.ceil(span / step / POINTS_MAX);
  }
  return Math.max(1_000, Math.ceil(span / 100));
}

function courseOf(scene: Scene, fills: readonly FillRecord[]): Course | undefined {
  const { prices, plan, story, from, until } = scene;
  const pairs = [...plan.targets.keys()].filter((one) => one !== plan.basis.cash);
  if (pairs.some((currency) => prices.tape(tradedPair(currency, plan.basis)) === undefined)) return undefined;
  const stepMs = stepOf(from, until);
  const walk = new Walk(plan, (currency, at) =>
    numberIn(currency, plan.basis, (pair) => prices.numberAt(pair, at)),
  );
  let row = 0;
  let flows = new Map<string, number>();
  for (let at: number = from; at <= until; at += stepMs) {
    for (; row < story.length && (story[row]?.at ?? at) <= at; row++)
      for (const [currency, change] of story[row]?.flows ?? [])
        flows.set(currency, (flows.get(currency) ?? 0) + approximate(change));
    const held = story[row - 1];
    if (held !== undefined && walk.step(instant(at), held, flows)) flows = new Map();
  }
  const { points } = walk;
  const last = points.at(-1);
  if (last === undefined || points.length < 2) return undefined;
  const meanValue = points.reduce((sum, { value }) => sum + value, 0) / points.length;
  const traded = fills.reduce((sum, fill) => sum + approximate(inCash(fill, scene)), 0);
  const deepest = points.reduce((a, b) => (b.drawdown < a.drawdown ? b : a));
  const limit = Number(plan.threshold);
  return {
    stepMs,
    points,
    meanValue,
    turnover: traded / 2 / meanValue,
    return: last.index - 1,
    targetReturn: walk.targetIndex - 1,
    trackingError: deviation(walk.differences, (YEAR_DAYS * DAY_MS) / stepMs),
    drawdown: -deepest.drawdown,
    drawdownAt: deepest.drawdown < 0 ? deepest.at : undefined,
    driftMean: walk.drifts.reduce((sum, drift) => sum + drift, 0) / walk.drifts.length,
    driftMax: Math.max(...walk.drifts),
    outside: walk.drifts.filter((drift) => drift > limit).length / walk.drifts.length,
    flows: walk.flows,
  };
}

/** Goes from point to point and keeps what the statistics need. */
class Walk {
  readonly points: CoursePoint[] = [];
  readonly drifts: number[] = [];
  readonly differences: number[] = [];
  targetIndex = 1;
  flows = 0;
  #peak = 1;
  #prices = new Map<string, number>();
  readonly #plan: Plan;
  readonly #weights: readonly (readonly [currency: string, weight: number])[];
  readonly #priceOf: (currency: string, at: number) => number;

  constructor(plan: Plan, priceOf: (currency: string, at: number) => number) {
    this.#plan = plan;
    this.#priceOf = priceOf;
    const targets = [...plan.targets].map(([currency, weight]) => [currency, approximate(weight)] as const);
    const { cash } = plan.basis;
    this.#weights = plan.targets.has(cash) ? targets : [...targets, [cash, 0]];
  }

  /** Whether everything had a price: without, the moment is left out, and its flows count with the next. */
  step(at: Instant, held: Held, flows: ReadonlyMap<string, number>): boolean {
    const { basis } = this.#plan;
    const prices = new Map(
      this.#weights.map(([currency]) => [
        currency,
        currency === basis.cash ? 1 : this.#priceOf(currency, at),
      ]),
    );
    const aside = Number(basis.aside ?? 0);
    const values = this.#weights.map(([currency]) => {
      const amount = approximate(held.balances.get(currency) ?? quantity('0'));
      return (amount - (currency === basis.cash ? aside : 0)) * (prices.get(currency) ?? Number.NaN);
    });
    const value = values.reduce((sum, one) => sum + one, 0);
    if (!(value > 0)) return false;
    const weights = values.map((one) => one / value);
    const before = this.points.at(-1);
    const index =
      before === undefined ? 1 : before.index * (1 + this.#returns({ value, before, prices, flows }));
    this.#prices = prices;
    this.#peak = Math.max(this.#peak, index);
    const named = this.#weights.map(([currency], i) => [currency, weights[i] ?? 0] as const);
    this.points.push({
      at,
      value,
      weights: Object.fromEntries(named),
      index,
      drawdown: index / this.#peak - 1,
    });
    this.drifts.push(Math.max(...this.#weights.map(([, target], i) => this.#drift(weights[i] ?? 0, target))));
    return true;
  }

  /** The return since the point before; that of the targets is kept beside it. */
  #returns({
    value,
    before,
    prices,
    flows,
  }: {
    readonly value: number;
    readonly before: CoursePoint;
    readonly prices: ReadonlyMap<string, number>;
    readonly flows: ReadonlyMap<string, number>;
  }): number {
    let flow = 0;
    for (const [currency, amount] of flows) flow += amount * (prices.get(currency) ?? 0);
    this.flows += flow;
    const own = (value - flow) / before.value - 1;
    const moved = ([currency, target]: readonly [string, number]): number =>
      target * ((prices.get(currency) ?? 0) / (this.#prices.get(currency) ?? Number.NaN) - 1);
    const wanted = this.#weights.reduce((sum, one) => sum + moved(one), 0);
    this.targetIndex *= 1 + wanted;
    this.differences.push(own - wanted);
    return own;
  }

  #drift(weight: number, target: number): number {
    const away = Math.abs(weight - target);
    // A currency with target 0 drifts absolutely in either case.
    return this.#plan.driftType === 'absolute' || target === 0 ? away : away / target;
  }
}

function numberIn(currency: string, basis: Basis, numberAt: (pair: string) => number): number {
  const direct = numberAt(tradedPair(currency, basis));
  const bridge = basis.via?.[currency];
  return bridge === undefined ? direct : direct * numberAt(bridge + basis.cash);
}

/** Standard deviation (of a sample) of values per period, per year; `undefined` of fewer than ten. */
function deviation(values: readonly number[], perYear: number): number | undefined {
  if (values.length < 10) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt((squares / (values.length - 1)) * perYear);
}

/** Targets of a document that keeps some; with the defaults of its kind. */
function planOf({ record }: LifeFacts): Plan | undefined {
  const { document, type } = record;
  if (type !== 'rebalance' || !isRecord(document) || !isRecord(document['target_weights'])) return undefined;
  const weights = Object.entries(document['target_weights']);
  if (!weights.every((entry): entry is [string, string] => isAmount(entry[1]))) return undefined;
  const {
    cash = 'usd',
    drift_type: driftType = 'absolute',
    drift_threshold: threshold,
    via,
    cash_buffer: buffer,
  } = document;
  if (typeof cash !== 'string' || !isAmount(threshold)) return undefined;
  const aside = isRecord(buffer) && isAmount(buffer['amount']) ? buffer['amount'] : undefined;
  return {
    targets: new Map(weights.map(([currency, weight]) => [currency, ratio(weight)])),
    basis: {
      cash,
      ...(isRecord(via) ? { via: textsOf(via) } : {}),
      ...(aside === undefined ? {} : { aside }),
    },
    driftType: driftType === 'relative' ? 'relative' : 'absolute',
    threshold,
  };
}

const textsOf = (record: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
const isAmount = (value: unknown): value is string => typeof value === 'string' && isAmountText(value);
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
