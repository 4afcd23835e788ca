import { add, cost, NO_MONEY, NO_QUANTITY, subtract, text } from '../../core/money.ts';
import type { Money, Price } from '../../core/money.ts';
import type { FillRecord, StoredRecord } from '../../core/record.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { atCosts } from './at-costs.ts';
import type { AttemptFacts, Facts, UntradedFacts } from './facts.ts';
import { fillRow, fillsFigures } from './fill-figures.ts';
import type { FillRow } from './fill-figures.ts';
import { foldJournal } from './fold-journal.ts';
import { passedOf } from './passed-times.ts';
import type { Passed } from './passed-times.ts';
import type { Charge } from '../portfolio/holdings.ts';
import { portfoliosOf } from '../portfolio/portfolio.ts';
import { PriceBook } from './prices.ts';
import type { PriceColumns } from './prices.ts';
import { quotingOf } from './quoting.ts';
import type { Quoting } from './quoting.ts';
import { mapped, onDemand } from './rows.ts';
import type { BacktestFacts, Report } from '../json/schema.ts';
import type { Oversight } from '../oversight/oversight.ts';
import { against, averageOf, costsOf, ParentFigures, statedBps, sumOfShortfalls } from './shortfall.ts';
import type { Shortfall } from './shortfall.ts';

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
  /** Interest on credit, oldest first, if the caller knows it, because a journal does not record it. */
  readonly charges?: readonly Charge[] | undefined;
  /** The origin of the records, if a backtest wrote them. */
  readonly backtest?: BacktestFacts | undefined;
  /** The same records, for the section on oversight. */
  readonly oversight?: Oversight | undefined;
  /** Base and quote of a pair without a fill. */
  currencies?(pair: string): { readonly base: string; readonly quote: string } | undefined;
}

/** The figures of a report: exact, or as `report.json` has them. */
export interface Figures {
  readonly input: ReportInput;
  readonly facts: Facts;
  readonly prices: PriceBook;
  readonly from: Instant;
  readonly until: Instant;
  readonly parents: readonly ParentFigures[];
  readonly groups: readonly Group[];
  readonly totals: Report['totals'];
  readonly quoting: Quoting;
  readonly untraded: readonly UntradedFacts[];
  readonly portfolios: Report['portfolios'];
  /** With current figures, in journal order. */
  readonly fills: readonly FillRecord[];
  /** The same fills, with the prices for comparison. */
  readonly fillRows: readonly FillRow[];
}

/** Parents of one strategy, pair and side. */
export interface Group {
  readonly row: Report['groups'][number];
  readonly parents: readonly ParentFigures[];
  /** The costs of `row`, exact. */
  readonly costs: CostSums;
}

/** Exact sums over parents, as `report.json` describes them. Parents without an arrival price are only counted. */
interface CostSums extends Passed, Readonly<Record<'parents' | 'without_price' | 'missed_slices', number>> {
  readonly shortfall: Shortfall;
  readonly missed_cost: Money;
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
    .map((parent) => new ParentFigures(parent, { prices, until: last, currencies }));
  const booked = parents
    .flatMap(({ facts: { fills }, arrival }) => fills.map((fill) => ({ fill, arrival })))
    .toSorted((a, b) => a.fill.at - b.fill.at);
  const asked = Map.groupBy(facts.attempts.values(), ({ intent }) => intent.parent);
  const attemptsOf = (some: readonly ParentFigures[]): readonly AttemptFacts[] =>
    some.flatMap((one) => asked.get(one.facts.parent) ?? []);
  const groups = [
    ...Map.groupBy(
      parents,
      ({ facts: { strategy, pair, side } }) => `${strategy}\n${pair}\n${side}`,
    ).values(),
  ].flatMap((some) => groupOf(some, prices, () => quotingOf(attemptsOf(some))) ?? []);
  return onDemand({
    input,
    facts,
    prices,
    from,
    until,
    parents,
    groups,
    totals: totalsOf(groups),
    quoting: quotingOf(attemptsOf(parents)),
    untraded: facts.untraded.filter(({ strategy, at }) => isOurs(strategy) && isIn(at)),
    get portfolios() {
      return portfoliosOf(facts, prices, { from, until, charges: input.charges }).filter(({ strategy }) =>
        isOurs(strategy),
      );
    },
    fills: booked.map(({ fill: { record } }) => record),
    get fillRows() {
      return booked.map(({ fill, arrival }) => fillRow(fill, arrival));
    },
  });
}

const moneyOf = (all: readonly Money[]): Money => all.reduce(add, NO_MONEY);

function groupOf(
  parents: readonly ParentFigures[],
  prices: PriceBook,
  quoted: () => Quoting,
): Group | undefined {
  const [first] = parents;
  if (first === undefined) return undefined;
  const { strategy, pair, side } = first.facts;
  const { base, quote } = parents.find((one) => one.quote !== '') ?? first;
  const traded = parents.reduce((sum, one) => add(sum, one.traded), NO_QUANTITY);
  const amount = moneyOf(parents.map((one) => one.amount));
  const costs = sumOfCosts(parents.map((parent) => costOf(parent, prices)));
  const slippage = (by: Benchmark): string | undefined => {
    const all = parents
      .filter((one) => !one.traded.isZero())
      .flatMap((one) => benchmark(one, prices, by) ?? []);
    return statedBps(moneyOf(all.map(({ over }) => over)), moneyOf(all.map(({ at }) => at)));
  };
  const row = onDemand({
    strategy,
    pair,
    base,
    quote,
    side,
    traded: text(traded),
    amount: text(amount),
    average_price: averageOf(amount, traded),
    costs: costsRow(costs),
    get twap_slippage_bps() {
      return slippage('timeWeighted');
    },
    get vwap_slippage_bps() {
      return slippage('volumeWeighted');
    },
    fills: fillsFigures({ fills: parents.flatMap(({ facts }) => facts.fills), side, prices }),
    get quoting() {
      return quoted();
    },
  });
  return { row, parents, costs };
}

/** Means of prices over time and over volume. */
export type Benchmark = 'timeWeighted' | 'volumeWeighted';

/** The mean price over the window of a parent, the cost of the parent against it, and the value at that price. */
export function benchmark(
  { facts: { pair, side }, window: { from, until }, traded, amount }: ParentFigures,
  prices: PriceBook,
  by: Benchmark,
): { readonly price: Price; readonly over: Money; readonly at: Money } | undefined {
  const price = prices[by](pair, from, until);
  if (price === undefined) return undefined;
  const at = cost(price, traded);
  return { price, over: against(side, subtract(amount, at)), at };
}

/** Per quote currency, because amounts in different currencies are never added. */
function totalsOf(groups: readonly Group[]): Report['totals'] {
  return [...Map.groupBy(groups, ({ row }) => row.quote)].map(([quote, members]) => {
    const costs = sumOfCosts(members.map((group) => group.costs));
    const { total, execution, fees } = costs.shortfall;
    const parents = members.flatMap((group) => group.parents);
    return {
      quote,
      amount: text(moneyOf(parents.map(({ amount }) => amount))),
      fees: text(moneyOf(parents.map((one) => one.fees))),
      costs: costsRow(costs),
      at_costs: atCosts(total, add(execution, fees)),
    };
  });
}

function costOf(parent: ParentFigures, prices: PriceBook): CostSums {
  const { shortfall } = parent;
  // A parent that is in no shortfall contributes to no part of a shortfall.
  const isNone = shortfall === undefined || isWhole(parent);
  const missed = isNone ? [] : parent.slices.flatMap(({ missedCost }) => missedCost ?? []);
  return {
    shortfall: shortfall ?? NO_SHORTFALL,
    parents: 1,
    without_price: shortfall === undefined ? 1 : 0,
    missed_slices: missed.length,
    missed_cost: moneyOf(missed),
    ...passedOf(parent, prices),
  };
}
const NO_SHORTFALL = sumOfShortfalls([]);

/** Whether every slice that ended traded all that it wanted. */
function isWhole({ facts: { slices } }: ParentFigures): boolean {
  for (const { end } of slices.values())
    if (end !== undefined && (end.body.result !== 'filled' || end.body.reason !== undefined)) return false;
  return true;
}

const COUNTS = ['parents', 'without_price', 'missed_slices', 'passed_slots', 'passed_without_price'] as const;

const sumOfCosts = (all: readonly CostSums[]): CostSums => ({
  shortfall: sumOfShortfalls(all.map(({ shortfall }) => shortfall)),
  ...mapped(COUNTS, (count) => all.reduce((sum, one) => sum + one[count], 0)),
  ...mapped(['missed_cost', 'passed_cost'], (amount) => moneyOf(all.map((one) => one[amount]))),
});

const costsRow = ({
  shortfall,
  missed_cost: missed,
  passed_cost: passed,
  ...counts
}: CostSums): Report['totals'][number]['costs'] => ({
  ...costsOf(shortfall),
  parents: counts.parents,
  without_price: counts.without_price,
  missed_slices: counts.missed_slices,
  missed_cost: text(missed),
  passed_slots: counts.passed_slots,
  passed_without_price: counts.passed_without_price,
  passed_cost: text(passed),
});
