import { add, approximate, counted, fixedEven, isAmountText, negate, NO_MONEY, ratio, text } from '../../core/money.ts'; // prettier-ignore
import type { Money, Price, Quantity } from '../../core/money.ts';
import { drifts, largestDrift, valueOn } from '../../core/risk/portfolio.ts';
import type { Valued } from '../../core/risk/portfolio.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { courseOf } from './course.ts';
import { equityCurveOf } from './equity-curve.ts';
import type { TargetPortfolio } from './equity-curve.ts';
import type { Facts, FillFacts, LifeFacts } from '../figures/facts.ts';
import { atCosts } from '../figures/at-costs.ts';
import { assetGainsOf } from './asset-gains.ts';
import { fillCost, inCash, PAID_PARTS } from './fill-costs.ts';
import type { Paid } from './fill-costs.ts';
import { heldAt, heldBefore, holdingsOf } from './holdings.ts';
import type { Charge, Held } from './holdings.ts';
import { rebalancingsOf } from './rebalancings.ts';
import type { PriceBook } from '../figures/prices.ts';
import { mapped, onDemand } from '../figures/rows.ts';
import type { Report } from '../json/schema.ts';
import { isRecord } from '../../core/text/json.ts';

type Portfolio = Report['portfolios'][number];

interface Valuation {
  readonly row: NonNullable<Portfolio['end']>;
  readonly value: Money;
  readonly worths: ReadonlyMap<string, Money>;
}

export function portfoliosOf(
  facts: Facts,
  prices: PriceBook,
  {
    from,
    until,
    charges,
  }: { readonly from: Instant; readonly until: Instant; readonly charges?: readonly Charge[] | undefined },
): Report['portfolios'] {
  const plans = facts.lives.flatMap((life) => {
    const plan = planOf(life);
    return plan === undefined ? [] : [{ life, plan }];
  });
  if (plans.length === 0) return [];
  const story = holdingsOf(facts.holdings, charges);
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

/** A portfolio compared with its target weights over a period, as `report.json` has it. */
function portfolioOf(scene: Scene): Portfolio {
  const { facts, prices, story, life, plan, from, until } = scene;
  const own = [...facts.parents.values()].filter((parent) => parent.life === life);
  const decided = own.filter(({ decidedAt }) => decidedAt >= from && decidedAt <= until);
  const decisions = Map.groupBy(decided, ({ decidedAt }) => decidedAt);
  const worths = own
    .flatMap(({ fills }) => fills)
    .filter(({ record: { executed_at: at } }) => at >= from && at <= until)
    .map((fill) => amountIn(fill, scene));
  const curve = equityCurveOf(scene);
  const cash = { basis: plan.basis, prices };
  const [start, end] = [valuationAt(scene, from), valuationAt(scene, until)];
  const setting = onDemand({
    traded: worths.reduce((sum, worth) => sum + approximate(worth), 0),
    threshold: Number(plan.threshold),
    get paid() {
      return paidOf(scene);
    },
  });
  const paidFor = (part: (typeof PAID_PARTS)[number]): Money =>
    setting.paid.reduce((sum, one) => add(sum, one[part]), NO_MONEY);
  return onDemand({
    strategy: life.record.strategy,
    cash: plan.basis.cash,
    drift_type: plan.driftType,
    drift_threshold: plan.threshold,
    targets: Object.fromEntries([...plan.targets].map(([currency, weight]) => [currency, text(weight)])),
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
    traded: text(worths.reduce(add, NO_MONEY)),
    start: start?.row,
    end: end?.row,
    get gains() {
      return (
        start && end && assetGainsOf({ ...cash, story, from, until, start: start.worths, end: end.worths })
      );
    },
    get paid() {
      return mapped(PAID_PARTS, (part) => text(paidFor(part)));
    },
    get at_costs() {
      return end && atCosts(end.value, negate(add(paidFor('spread'), paidFor('fees'))));
    },
    course: curve && courseOf(curve, setting),
  });
}

/** Costs of the trades of the period between two currencies of the portfolio, and the interest on its currencies. */
function paidOf({ plan, prices, story, from, until }: Scene): readonly Paid[] {
  const cash = { basis: plan.basis, prices };
  const isOurs = (currency: string): boolean => plan.targets.has(currency) || currency === plan.basis.cash;
  return story.flatMap(({ at, fill, interest = [] }): readonly Paid[] => {
    if (at <= from || at > until) return [];
    if (fill !== undefined)
      return isOurs(fill.record.base) && isOurs(fill.record.quote) ? [fillCost(fill, cash, at)] : [];
    return [...interest].flatMap(([currency, amount]) => {
      const paid = isOurs(currency) ? inCash(cash, { currency, amount: counted(amount), at }) : undefined;
      return paid === undefined ? [] : [{ at, spread: NO_MONEY, fees: NO_MONEY, interest: paid }];
    });
  });
}

/** Value of a fill in cash: its amount or, for a cross pair, its amount at the price of the quote currency at that time. */
const amountIn = ({ record, figures: { amount } }: FillFacts, { plan: { basis }, prices }: Scene): Money =>
  inCash({ basis, prices }, { currency: record.quote, amount, at: record.executed_at }) ?? NO_MONEY;

/** Exact, from the newest prices known at that time; `undefined` when one is missing. */
function valuationAt({ plan, prices, story }: Scene, at: Instant): Valuation | undefined {
  const valued = valuedOf({ plan, prices }, at, heldAt(story, at));
  if (valued === undefined) return undefined;
  const drift = largestDrift(drifts(valued.weights, plan.targets, plan.driftType));
  const weights = [...valued.weights].map(([currency, weight]) => [currency, fixedEven(weight, 6)] as const);
  return {
    row: {
      at: isoOf(at),
      value: text(valued.value),
      weights: Object.fromEntries(weights),
      drift: fixedEven(drift, 6),
    },
    value: valued.value,
    worths: valued.worths,
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
