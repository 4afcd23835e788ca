import {
  add,
  approximate,
  cost,
  fixedEven,
  holding,
  isAmountText,
  negate,
  NO_MONEY,
  ratio,
  text,
} from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import { drifts, largestDrift, priceIn, valueOn } from '../../core/risk/portfolio.ts';
import type { Valued } from '../../core/risk/portfolio.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { DriftType } from '../../core/wake.ts';
import { equityCurveOf } from './equity-curve.ts';
import type { EquityCurve, TargetPortfolio } from './equity-curve.ts';
import type { Facts, FillFacts, LifeFacts } from '../figures/facts.ts';
import { atCosts } from '../figures/at-costs.ts';
import { assetGainsOf } from './asset-gains.ts';
import type { AssetGain } from './asset-gains.ts';
import { fillCost } from './fill-costs.ts';
import type { FillCost } from './fill-costs.ts';
import { gapOf } from './gap.ts';
import type { Gap } from './gap.ts';
import { heldAt, heldBefore, holdingsOf } from './holdings.ts';
import type { Held } from './holdings.ts';
import { rebalancingsOf } from './rebalancings.ts';
import type { Rebalancing } from './rebalancings.ts';
import type { PriceBook } from '../figures/prices.ts';
import { isRecord } from '../../core/text/json.ts';

/** A portfolio compared with its target weights over a period. Values in cash. */
export interface PortfolioFigures {
  readonly strategy: string;
  readonly cash: string;
  readonly driftType: DriftType;
  readonly threshold: string;
  readonly targets: Readonly<Record<string, string>>;
  /** Exact values at the first and the last instant with all prices. */
  readonly start: Valuation | undefined;
  readonly end: Valuation | undefined;
  /** `decisions`: evaluations that led to trades. */
  readonly decisions: number;
  /** The rebalancings that traded most. */
  readonly rebalancings: readonly Rebalancing[];
  readonly traded: Money;
  /** Statistics of the points; omitted if prices are missing. */
  readonly course: EquityCurve | undefined;
  /** Why its return differs from the return of its targets. */
  readonly gap: Gap | undefined;
  /** The gain of each currency; `undefined` if a price is missing. */
  readonly gains: readonly AssetGain[] | undefined;
  /** The value at the end if the trades of the period had cost nothing, their actual cost, or twice that. */
  readonly atCosts: ReturnType<typeof atCosts> | undefined;
}

export interface Valuation {
  readonly at: Instant;
  readonly value: Money;
  readonly worths: ReadonlyMap<string, Money>;
  /** Fractions, six decimals. */
  readonly weights: Readonly<Record<string, string>>;
  /** Largest drift of any currency at that time, of type `driftType`, six decimals. */
  readonly drift: string;
}

export function portfoliosOf(
  facts: Facts,
  prices: PriceBook,
  { from, until }: { readonly from: Instant; readonly until: Instant },
): readonly PortfolioFigures[] {
  const plans = facts.lives.flatMap((life) => {
    const plan = planOf(life);
    return plan === undefined ? [] : [{ life, plan }];
  });
  if (plans.length === 0) return [];
  const story = holdingsOf(facts.holdings);
  return plans.map(({ life, plan }) => {
    const begun = instant(Math.max(from, life.record.begun_at, story[0]?.at ?? from));
    const over = instant(Math.min(until, life.overAt ?? until));
    return portfolioOf({ facts, prices, story, life, plan, from: begun, until: over });
  });
}

interface Scene {
  readonly facts: Facts;
  readonly prices: PriceBook;
  readonly story: readonly Held[];
  readonly life: LifeFacts;
  readonly plan: TargetPortfolio;
  readonly from: Instant;
  readonly until: Instant;
}

function portfolioOf(scene: Scene): PortfolioFigures {
  const { facts, prices, story, life, plan, from, until } = scene;
  const { strategy } = life.record;
  const decisions = new Map<Instant, FillFacts[]>();
  let [traded, approximately] = [NO_MONEY, 0];
  for (const { life: of, decidedAt, fills } of facts.parents.values()) {
    if (of !== life) continue;
    if (decidedAt >= from && decidedAt <= until) {
      const own = decisions.get(decidedAt);
      if (own === undefined) decisions.set(decidedAt, [...fills]);
      else own.push(...fills);
    }
    for (const fill of fills) {
      const { executed_at: at } = fill.record;
      if (at < from || at > until) continue;
      const worth = inCash(fill, scene);
      traded = add(traded, worth);
      approximately += approximate(worth);
    }
  }
  const course = equityCurveOf({ ...scene, traded: approximately });
  const cash = { basis: plan.basis, prices };
  const end = valuationAt(scene, until);
  let costs: readonly FillCost[] | undefined;
  const costsOf = (): readonly FillCost[] => (costs ??= fillCostsOf(scene));
  return {
    strategy,
    cash: plan.basis.cash,
    driftType: plan.driftType,
    threshold: plan.threshold,
    targets: Object.fromEntries([...plan.targets].map(([currency, weight]) => [currency, text(weight)])),
    get start() {
      return valuationAt(scene, from);
    },
    end,
    decisions: decisions.size,
    get rebalancings() {
      return rebalancingsOf({
        ...cash,
        decisions,
        targets: plan.targets,
        driftType: plan.driftType,
        weightsAt: (at) => valuedOf(scene, at, heldBefore(story, at))?.weights,
      });
    },
    traded,
    course,
    get gap() {
      return course && gapOf(course, costsOf());
    },
    get gains() {
      const start = valuationAt(scene, from);
      return (
        start && end && assetGainsOf({ ...cash, story, from, until, start: start.worths, end: end.worths })
      );
    },
    get atCosts() {
      const paid = costsOf().reduce((sum, { spread, fees }) => add(sum, add(spread, fees)), NO_MONEY);
      return end && atCosts(end.value, negate(paid));
    },
  };
}

/** Costs of the trades of the period between two currencies of the portfolio. */
function fillCostsOf({ plan, prices, story, from, until }: Scene): readonly FillCost[] {
  const isOurs = (currency: string): boolean => plan.targets.has(currency) || currency === plan.basis.cash;
  return story.flatMap(({ at, fill }) => {
    if (fill === undefined || at <= from || at > until) return [];
    const { base, quote } = fill.record;
    return isOurs(base) && isOurs(quote) ? [fillCost(fill, { basis: plan.basis, prices }, at)] : [];
  });
}

/** Value of a fill in cash: its amount or, for a cross pair, its amount at the price of the quote currency at that time. */
function inCash({ record, figures }: FillFacts, { plan, prices }: Scene): Money {
  if (record.quote === plan.basis.cash) return figures.amount;
  const each = priceIn(record.quote, plan.basis, (pair) => prices.midAt(pair, record.executed_at)?.price);
  return each === undefined ? NO_MONEY : cost(each, holding(figures.amount));
}

/** Exact, from the newest prices known at that time; `undefined` when one is missing. */
function valuationAt({ plan, prices, story }: Scene, at: Instant): Valuation | undefined {
  const valued = valuedOf({ plan, prices }, at, heldAt(story, at));
  if (valued === undefined) return undefined;
  const drift = largestDrift(drifts(valued.weights, plan.targets, plan.driftType));
  return {
    at,
    value: valued.value,
    worths: valued.worths,
    weights: Object.fromEntries(
      [...valued.weights].map(([currency, weight]) => [currency, fixedEven(weight, 6)]),
    ),
    drift: fixedEven(drift, 6),
  };
}

function valuedOf(
  { plan, prices }: Pick<Scene, 'plan' | 'prices'>,
  at: Instant,
  holdings: ReadonlyMap<string, Quantity> | undefined,
): Valued | undefined {
  const midOf = (pair: string): Price | undefined => prices.midAt(pair, at)?.price;
  return holdings && valueOn(plan.targets, plan.basis, { holdings, midOf });
}

/** The target portfolio of a rebalancing strategy, with the defaults of its kind. */
function planOf({ record }: LifeFacts): TargetPortfolio | undefined {
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
