import { add, cost, NO_MONEY, NO_QUANTITY, subtract } from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import type { FillRecord, StoredRecord } from '../../core/record.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { AttemptFacts, Facts, UntradedFacts } from './facts.ts';
import { fillRow, fillsFigures } from './fill-figures.ts';
import type { FillRow, FillsFigures } from './fill-figures.ts';
import { foldJournal } from './fold-journal.ts';
import { passedOf } from './passed-times.ts';
import type { Passed } from './passed-times.ts';
import { portfoliosOf } from '../portfolio/portfolio.ts';
import type { PortfolioFigures } from '../portfolio/portfolio.ts';
import { PriceBook } from './prices.ts';
import type { PriceColumns } from './prices.ts';
import { quotingOf } from './quoting.ts';
import type { Quoting } from './quoting.ts';
import type { BacktestFacts } from '../json/schema.ts';
import type { Oversight } from '../oversight/oversight.ts';
import { against, parentFigures } from './shortfall.ts';
import type { ParentFigures, Shortfall } from './shortfall.ts';

/** Input of a report in addition to the records. */
export interface ReportInput {
  /** Version of the program that creates the report. */
  readonly version: string;
  /** Market history. Without it, figures that depend on it are omitted with a warning. */
  readonly prices?: Iterable<PriceColumns> | undefined;
  /** Bounds of the parents' start times. Default: all. */
  readonly since?: Instant | undefined;
  readonly until?: Instant | undefined;
  /** End of the period, if the records end earlier, because a finished desk records nothing more. */
  readonly end?: Instant | undefined;
  readonly strategy?: string | undefined;
  /** Assumptions that are not in the records, such as the model of a backtest. One sentence each. */
  readonly assumptions?: readonly string[] | undefined;
  /** The most important caveats for a reader, one sentence each. */
  readonly told?: readonly string[] | undefined;
  /** Interest on credit, if the caller knows it, because a journal does not record it. Positive means paid. */
  readonly carry?: readonly { readonly currency: string; readonly amount: Quantity }[] | undefined;
  /** The origin of the records, if a backtest wrote them. */
  readonly backtest?: BacktestFacts | undefined;
  /** The same records, for the section on oversight. */
  readonly oversight?: Oversight | undefined;
  /** Base and quote of a pair without a fill. */
  currencies?(pair: string): { readonly base: string; readonly quote: string } | undefined;
}

/** All figures of a report, exact. */
export interface Figures {
  readonly input: ReportInput;
  readonly facts: Facts;
  readonly prices: PriceBook;
  readonly from: Instant;
  readonly until: Instant;
  readonly parents: readonly ParentFigures[];
  readonly groups: readonly Group[];
  readonly totals: readonly Total[];
  readonly quoting: Quoting;
  readonly untraded: readonly UntradedFacts[];
  readonly portfolios: readonly PortfolioFigures[];
  /** With current figures, in journal order. */
  readonly fills: readonly FillRecord[];
  /** The same fills, with the prices for comparison. */
  readonly fillRows: readonly FillRow[];
}

/** Parents of one strategy, pair and side. Figures that only `report.json` uses are computed on demand. */
export interface Group {
  readonly strategy: string;
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly side: 'buy' | 'sell';
  readonly parents: readonly ParentFigures[];
  readonly traded: Quantity;
  readonly amount: Money;
  readonly fees: Money;
  readonly costs: Costs;
  /** `s·(Σ amount − F·B)` and `F·B` over the parents that have the benchmark. */
  readonly twap: Against | undefined;
  readonly vwap: Against | undefined;
  readonly fills: FillsFigures;
  readonly quoting: Quoting;
}

/** The cost compared with a benchmark, and the value at the benchmark price. */
export interface Against {
  readonly over: Money;
  readonly at: Money;
}

/** Sums over parents. Parents without an arrival price are only counted. */
export interface Costs {
  readonly parents: number;
  readonly withoutPrice: number;
  readonly shortfall: Shortfall;
  /** Later cost of untraded remainders. It is part of trading and opportunity cost, not additional. */
  readonly missed: { readonly slices: number; readonly cost: Money };
  /** The same cost for slots without an attempt. Slots with an unknown time, size or price are only counted. */
  readonly passed: Passed;
}

export interface Total {
  readonly quote: string;
  readonly amount: Money;
  readonly fees: Money;
  readonly costs: Costs;
}

/** Computes a report from the records of a journal, oldest first. Pure; reads the records once. */
export function figuresOf(records: Iterable<StoredRecord>, input: ReportInput): Figures {
  const prices = new PriceBook(input.prices);
  return figuresFrom(foldJournal(records, prices), prices, input);
}

function figuresFrom(facts: Facts, prices: PriceBook, input: ReportInput): Figures {
  const from = instant(Math.max(input.since ?? 0, facts.first ?? 0));
  const last = instant(Math.max(facts.last ?? 0, input.end ?? 0));
  const until = instant(Math.min(input.until ?? Number.POSITIVE_INFINITY, last));
  const isOurs = (strategy: string): boolean => input.strategy === undefined || strategy === input.strategy;
  const isIn = (at: Instant): boolean => at >= from && (input.until === undefined || at < input.until);
  const currencies = (pair: string): { readonly base: string; readonly quote: string } =>
    input.currencies?.(pair) ?? { base: '', quote: '' };
  const parents = [...facts.parents.values()]
    .filter(({ strategy, begunAt }) => isOurs(strategy) && isIn(begunAt))
    .map((parent) => parentFigures(parent, { prices, until: last, currencies }));
  const booked = parents
    .flatMap(({ facts: { fills }, arrival }) => fills.map((fill) => ({ fill, arrival })))
    .toSorted((a, b) => a.fill.at - b.fill.at);
  const { groups: members, groupOf } = membersOf(parents);
  const attempts = [...facts.attempts.values()].filter(({ intent }) => groupOf.has(intent.parent));
  let asked: ReadonlyMap<unknown, readonly AttemptFacts[]> | undefined;
  const askedBy = (group: readonly ParentFigures[]): readonly AttemptFacts[] => {
    asked ??= Map.groupBy(attempts, ({ intent }) => groupOf.get(intent.parent));
    return asked.get(group) ?? [];
  };
  const groups = members.flatMap((group) => groupFigures(group, askedBy, prices) ?? []);
  let portfolios: readonly PortfolioFigures[] | undefined;
  return {
    input,
    facts,
    prices,
    from,
    until,
    parents,
    groups,
    totals: totalsOf(groups),
    quoting: quotingOf(attempts),
    untraded: facts.untraded.filter(({ strategy, at }) => isOurs(strategy) && isIn(at)),
    get portfolios() {
      return (portfolios ??= portfoliosOf(facts, prices, { from, until }).filter(({ strategy }) =>
        isOurs(strategy),
      ));
    },
    fills: booked.map(({ fill: { record } }) => record),
    get fillRows() {
      return booked.map(({ fill, arrival }) => fillRow(fill, arrival));
    },
  };
}

function groupFigures(
  parents: readonly ParentFigures[],
  askedBy: (group: readonly ParentFigures[]) => readonly AttemptFacts[],
  prices: PriceBook,
): Group | undefined {
  const [first] = parents;
  if (first === undefined) return undefined;
  const { strategy, pair, side } = first.facts;
  const { base, quote } = parents.find((one) => one.quote !== '') ?? first;
  const amount = parents.reduce((sum, one) => add(sum, one.amount), NO_MONEY);
  let quoting: Quoting | undefined;
  return {
    strategy,
    pair,
    base,
    quote,
    side,
    parents,
    traded: parents.reduce((sum, one) => add(sum, one.traded), NO_QUANTITY),
    amount,
    fees: parents.reduce((sum, one) => add(sum, one.fees), NO_MONEY),
    costs: costsOf(parents, prices),
    get twap() {
      return againstAll(parents, (one) => benchmark(one, prices, 'time'));
    },
    get vwap() {
      return againstAll(parents, (one) => benchmark(one, prices, 'volume'));
    },
    fills: fillsFigures({ fills: parents.flatMap(({ facts }) => facts.fills), side, amount, prices }),
    get quoting() {
      return (quoting ??= quotingOf(askedBy(parents)));
    },
  };
}

/**
 * Parents of one strategy, pair and side, and the index of the list that contains each parent. Most parents belong to
 * the previous parent's group.
 */
function membersOf(parents: readonly ParentFigures[]): {
  readonly groups: readonly (readonly ParentFigures[])[];
  readonly groupOf: ReadonlyMap<string, readonly ParentFigures[]>;
} {
  const groups = new Map<string, ParentFigures[]>();
  const groupOf = new Map<string, readonly ParentFigures[]>();
  let [last, members]: [ParentFigures | undefined, ParentFigures[]] = [undefined, []];
  for (const parent of parents) {
    const { parent: id, strategy, pair, side } = parent.facts;
    if (last?.facts.strategy !== strategy || last.facts.pair !== pair || last.facts.side !== side) {
      const key = `${strategy}\n${pair}\n${side}`;
      members = groups.get(key) ?? [];
      groups.set(key, members);
    }
    members.push(parent);
    groupOf.set(id, members);
    last = parent;
  }
  return { groups: [...groups.values()], groupOf };
}

/** Means of prices over time and over volume. */
type Benchmark = 'time' | 'volume';

/** The mean price over the window of a parent, for the parent and its group. */
export function benchmark(parent: ParentFigures, prices: PriceBook, weight: Benchmark): Price | undefined {
  const known = benchmarks.get(parent) ?? new Map<Benchmark, Price | undefined>();
  if (known.has(weight)) return known.get(weight);
  const { pair } = parent.facts;
  const { from, until } = parent.window;
  const found = {
    time: () => prices.timeWeighted(pair, from, until),
    volume: () => prices.volumeWeighted(pair, from, until),
  }[weight]();
  benchmarks.set(parent, known.set(weight, found));
  return found;
}
/** Cached per parent, because a parent belongs to one price book. */
const benchmarks = new WeakMap<ParentFigures, Map<Benchmark, Price | undefined>>();

/** The cost of a parent compared with a benchmark price. */
export const againstPrice = ({ facts, traded, amount }: ParentFigures, each: Price): Against => {
  const at = cost(each, traded);
  return { over: against(facts.side, subtract(amount, at)), at };
};

function againstAll(
  parents: readonly ParentFigures[],
  benchmarkOf: (parent: ParentFigures) => Price | undefined,
): Against | undefined {
  let sum: Against | undefined;
  for (const parent of parents) {
    if (parent.traded.isZero()) continue;
    const each = benchmarkOf(parent);
    if (each === undefined) continue;
    const { over, at } = againstPrice(parent, each);
    sum = { over: add(sum?.over ?? NO_MONEY, over), at: add(sum?.at ?? NO_MONEY, at) };
  }
  return sum;
}

/** Per quote currency, because amounts in different currencies are never added. */
function totalsOf(groups: readonly Group[]): readonly Total[] {
  return [...Map.groupBy(groups, ({ quote }) => quote)].map(([quote, members]) => ({
    quote,
    amount: members.reduce((sum, { amount }) => add(sum, amount), NO_MONEY),
    fees: members.reduce((sum, { fees }) => add(sum, fees), NO_MONEY),
    costs: members.map(({ costs }) => costs).reduce(bothCosts),
  }));
}

const bothCosts = (a: Costs, b: Costs): Costs => ({
  parents: a.parents + b.parents,
  withoutPrice: a.withoutPrice + b.withoutPrice,
  shortfall: sumOf(a.shortfall, b.shortfall),
  missed: { slices: a.missed.slices + b.missed.slices, cost: add(a.missed.cost, b.missed.cost) },
  passed: {
    slots: a.passed.slots + b.passed.slots,
    withoutPrice: a.passed.withoutPrice + b.passed.withoutPrice,
    cost: add(a.passed.cost, b.passed.cost),
  },
});

const NO_SHORTFALL: Shortfall = {
  delay: NO_MONEY,
  trading: NO_MONEY,
  timing: NO_MONEY,
  execution: NO_MONEY,
  opportunity: NO_MONEY,
  fees: NO_MONEY,
  total: NO_MONEY,
  paper: NO_MONEY,
  atArrival: NO_MONEY,
};

function costsOf(parents: readonly ParentFigures[], prices: PriceBook): Costs {
  let [shortfall, missedCost] = [NO_SHORTFALL, NO_MONEY];
  let [withoutPrice, missed] = [0, 0];
  for (const parent of parents) {
    // A parent that is in no shortfall contributes to no part of a shortfall.
    const isNone = parent.shortfall === undefined || isWhole(parent);
    for (const { missedCost: one } of isNone ? [] : parent.slices) {
      if (one === undefined) continue;
      missed++;
      missedCost = add(missedCost, one);
    }
    if (parent.shortfall === undefined) withoutPrice++;
    else shortfall = sumOf(shortfall, parent.shortfall);
  }
  return {
    parents: parents.length,
    withoutPrice,
    shortfall,
    missed: { slices: missed, cost: missedCost },
    passed: passedOf(parents, prices),
  };
}

/** Whether every slice that ended traded all that it wanted. */
function isWhole({ facts: { slices } }: ParentFigures): boolean {
  for (const { end } of slices.values())
    if (end !== undefined && (end.body.result !== 'filled' || end.body.reason !== undefined)) return false;
  return true;
}

/** Most parents are on time and trade at one price, so parts that are equal are computed only once. */
export function sumOf(a: Shortfall, b: Shortfall): Shortfall {
  const trading = add(a.trading, b.trading);
  const paper = add(a.paper, b.paper);
  const isAtOnce = a.execution === a.trading && b.execution === b.trading;
  const isFull = a.atArrival === a.paper && b.atArrival === b.paper;
  const isAll = a.total === a.trading && b.total === b.trading;
  return {
    delay: plus(a.delay, b.delay),
    trading,
    timing: plus(a.timing, b.timing),
    execution: isAtOnce ? trading : add(a.execution, b.execution),
    opportunity: plus(a.opportunity, b.opportunity),
    fees: plus(a.fees, b.fees),
    total: isAll ? trading : add(a.total, b.total),
    paper,
    atArrival: isFull ? paper : add(a.atArrival, b.atArrival),
  };
}

/** Most parts are zero. */
const plus = (a: Money, b: Money): Money => (b === NO_MONEY ? a : add(a, b));
