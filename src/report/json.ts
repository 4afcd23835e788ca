import { add, approximate, isAmount, money, roundEven, text } from '../core/money.ts';
import type { Money, Price } from '../core/money.ts';
import { reasons } from '../core/reasons.ts';
import { instant, isoOf } from '../core/time.ts';
import { againstPrice, benchmark } from './figures.ts';
import type { Against, Costs, Figures, Group } from './figures.ts';
import type { UntradedFacts } from './facts.ts';
import type { FillsFigures } from './fill-figures.ts';
import { nineDigits } from './digits.ts';
import { gapsOf } from './gaps.ts';
import { notesOf } from './notes.ts';
import { passedOf } from './passed.ts';
import type { PortfolioFigures, Valuation } from './portfolio.ts';
import type { PriceColumns, Seen } from './prices.ts';
import type { Quoting } from './quoting.ts';
import { REPORT_FORMAT } from './format.ts';
import type { Report } from './schema.ts';
import { bpsOf } from './shortfall.ts';
import type { ParentFigures, Shortfall, SliceFigures } from './shortfall.ts';

/** Most parents and slices that a report lists: the rest is in its sums and in `fills.csv`. */
const PARENTS_MAX = 1_000;
const SLICES_MAX = 5_000;

export const SIGNS = {
  costs:
    'Costs are positive when they are bad for the desk, in basis points (1 bp = 0.01 %) of the notional they are of.',
  mark_outs: 'Mark-outs are the other way round: positive is good, the price went the way of the trade.',
} as const;

/** A report as the plain data of `report.json`. */
export function reportOf(figures: Figures): Report {
  const { facts, input, from, until } = figures;
  const listed = listedOf(figures.parents);
  const room = { slices: SLICES_MAX };
  const distinct = (values: readonly string[]): string[] => [...new Set(values)];
  const starts = facts.starts.map(({ body }) => body);
  return {
    format: REPORT_FORMAT,
    version: input.version,
    signs: SIGNS,
    ...(facts.first === undefined ? {} : { period: { from: isoOf(from), until: isoOf(until) } }),
    made_from: {
      records: facts.records,
      ...known({ head: facts.head }),
      desks: distinct(starts.map(({ desk }) => desk)),
      modes: distinct(starts.map(({ mode }) => mode)),
      versions: distinct(starts.map(({ version }) => version)),
      config_hashes: distinct(starts.map(({ config_hash: hash }) => hash)),
      corrections: facts.corrections,
    },
    prices: figures.prices.tapes.map((tape) => historyJson(tape, figures)),
    ...notesOf(figures),
    strategies: [...facts.lives.values()]
      .filter(({ record }) => input.strategy === undefined || record.strategy === input.strategy)
      .map(({ record, finished }) => ({
        strategy: record.strategy,
        kind: record.type,
        hash: record.hash,
        ...known({ document: isRecord(record.document) ? record.document : undefined }),
        begun_at: isoOf(record.begun_at),
        ...known({ finished_at: finished && isoOf(finished.at), finished: finished?.reason }),
      })),
    totals: figures.totals.map(({ quote, amount, fees, costs }) => ({
      quote,
      amount: text(amount),
      fees: text(fees),
      costs: sumsJson(costs),
    })),
    ...(input.carry === undefined
      ? {}
      : { carry: input.carry.map(({ currency, amount }) => ({ currency, amount: text(amount) })) }),
    quoting: quotingJson(figures.quoting),
    groups: figures.groups.map(groupJson),
    parents: listed.map((parent) => parentJson(parent, figures, room)),
    parents_left_out: figures.parents.length - listed.length,
    fills: figures.fills.length,
    untraded: untradedJson(figures.untraded),
    portfolios: figures.portfolios.map(portfolioJson),
    ...(input.backtest === undefined ? {} : { backtest: input.backtest }),
    ...(input.bootstrap === undefined ? {} : { bootstrap: input.bootstrap }),
  };
}

function historyJson(tape: PriceColumns, { from, until }: Figures): Report['prices'][number] {
  const { pair, barMs, rows, times, hash } = tape;
  const { gaps, missingBars, longestMs } = gapsOf(tape, from, until);
  return {
    pair,
    bar_ms: barMs,
    rows,
    from: isoOf(instant(times[0] ?? 0)),
    until: isoOf(instant((times[rows - 1] ?? 0) + barMs)),
    hash,
    ...(barMs === 0 ? {} : { gaps, missing_bars: missingBars, longest_gap_ms: longestMs }),
  };
}

/** All of them, or those that cost and gained most, in the order in which they were begun. */
function listedOf(parents: readonly ParentFigures[]): readonly ParentFigures[] {
  if (parents.length <= PARENTS_MAX) return parents;
  const weighed = parents.map((parent) => ({
    parent,
    weight: Math.abs(parent.shortfall === undefined ? 0 : approximate(parent.shortfall.total)),
  }));
  const most = weighed.toSorted((a, b) => b.weight - a.weight).slice(0, PARENTS_MAX);
  const chosen = new Set(most.map(({ parent }) => parent));
  return parents.filter((parent) => chosen.has(parent));
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Json<Row> = { readonly [Key in keyof Row]: Exclude<Row[Key], undefined> };

/** Without the fields that are `undefined`. */
function known<Row extends Readonly<Record<string, unknown>>>(row: Row): Partial<Json<Row>> {
  const kept: Record<string, unknown> = {};
  for (const key of Object.keys(row)) if (row[key] !== undefined) kept[key] = row[key];
  return kept as Partial<Json<Row>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- what is left out is exactly what may be
}

const stated = (part: Money, whole: Money): string | undefined => bpsOf(part, whole)?.toFixed(4);
const averageOf = (each: Price | undefined): string | undefined => each && text(roundEven(each, 12));
const textOf = (value: unknown): string | undefined => (isAmount(value) ? text(value) : undefined);
const seenJson = (seen: Seen): { price: string; at: string; from: Seen['from'] } => ({
  price: text(seen.price),
  at: isoOf(seen.at),
  from: seen.from,
});

function costsJson(shortfall: Shortfall, atArrival: Money): NonNullable<Report['parents'][number]['costs']> {
  const { paper, ...parts } = shortfall;
  const of = (part: Money): string => stated(part, paper) ?? '';
  const { delay, trading, timing, execution, opportunity, fees, total } = parts;
  return {
    paper: text(paper),
    delay: text(delay),
    trading: text(trading),
    timing: text(timing),
    execution: text(execution),
    opportunity: text(opportunity),
    fees: text(fees),
    total: text(total),
    ...(paper.isZero()
      ? {}
      : {
          bps: {
            delay: of(delay),
            trading: of(trading),
            timing: of(timing),
            execution: of(execution),
            opportunity: of(opportunity),
            fees: of(fees),
            total: of(total),
          },
        }),
    ...known({
      arrival_slippage_bps: stated(trading, atArrival),
      all_in_bps: stated(add(trading, fees), atArrival),
    }),
  };
}

const sumsJson = ({
  shortfall,
  atArrival,
  missed,
  passed,
  parents,
  withoutPrice,
}: Costs): Report['totals'][number]['costs'] => ({
  ...costsJson(shortfall, atArrival),
  parents,
  without_price: withoutPrice,
  missed_slices: missed.slices,
  missed_cost: text(missed.cost),
  passed_slots: passed.slots,
  passed_without_price: passed.withoutPrice,
  passed_cost: text(passed.cost),
});

const slippage = (beyond: Against | undefined): string | undefined =>
  beyond && stated(beyond.over, beyond.at);

const groupJson = (group: Group): Report['groups'][number] => ({
  strategy: group.strategy,
  pair: group.pair,
  base: group.base,
  quote: group.quote,
  side: group.side,
  traded: text(group.traded),
  amount: text(group.amount),
  ...known({ average_price: averageOf(group.average) }),
  costs: sumsJson(group.costs),
  ...known({ twap_slippage_bps: slippage(group.twap), vwap_slippage_bps: slippage(group.vwap) }),
  fills: fillsJson(group.fills),
  quoting: quotingJson(group.quoting),
});

const fillsJson = ({
  fills,
  spreadBps,
  spreadBpsOfFills,
  markOuts,
}: FillsFigures): Report['groups'][number]['fills'] => ({
  fills,
  ...known({ spread_bps: spreadBps?.toFixed(4), spread_bps_of_fills: spreadBpsOfFills }),
  mark_outs: markOuts.map(({ minutes, fills: of, bps }) => ({
    minutes,
    fills: of,
    ...known({ bps: bps?.toFixed(4) }),
  })),
});

const quotingJson = (quoting: Quoting): Report['quoting'] => ({
  requests: quoting.requests,
  quotes: quoting.quotes,
  orders: quoting.orders,
  fills: quoting.fills,
  rejected: quoting.rejected,
  doubts: quoting.doubts,
  open: quoting.open,
  expired: quoting.expired,
  ...known({
    response_ratio: quoting.responseRatio,
    hit_ratio: quoting.hitRatio,
    fill_ratio: quoting.fillRatio,
    expiry_miss_ratio: quoting.expiryMissRatio,
    attempts_per_fill: quoting.attemptsPerFill,
    quote_age_ms: quoting.ageMs,
    quote_life_ms: quoting.lifeMs,
  }),
  refusals: quoting.refusals,
});

function parentJson(
  parent: ParentFigures,
  { prices }: Figures,
  room: { slices: number },
): Report['parents'][number] {
  const { facts, arrival, shortfall } = parent;
  const slices = parent.slices.slice(0, room.slices);
  const passed = passedOf([parent], prices);
  room.slices -= slices.length;
  const against = (weight: 'time' | 'volume'): { price: string; slippage_bps?: string } | undefined => {
    const each = benchmark(parent, prices, weight);
    if (each === undefined) return undefined;
    return { price: text(each), ...known({ slippage_bps: slippage(againstPrice(parent, each)) }) };
  };
  return {
    parent: facts.parent,
    strategy: facts.strategy,
    leg: facts.leg,
    pair: facts.pair,
    side: facts.side,
    base: parent.base,
    quote: parent.quote,
    due_at: isoOf(facts.decidedAt),
    begun_at: isoOf(facts.begunAt),
    ...(facts.unbegun === undefined ? {} : { never_began: true as const }),
    ended_at: isoOf(parent.endedAt),
    open: parent.isOpen,
    traded: text(parent.traded),
    amount: text(parent.amount),
    fees: text(parent.fees),
    ...known({
      planned: textOf(parent.planned),
      average_price: averageOf(parent.average),
      decision: parent.decision && seenJson(parent.decision),
      arrival_price: textOf(arrival),
      end: parent.end && seenJson(parent.end),
      costs: shortfall && arrival && costsJson(shortfall, arrivalOf(parent)),
      twap: against('time'),
      vwap: against('volume'),
    }),
    missed: facts.missed.length,
    ...(passed.slots === 0 || passed.withoutPrice > 0 ? {} : { passed_cost: text(passed.cost) }),
    slices: slices.map(sliceJson),
    slices_left_out: parent.slices.length - slices.length,
  };
}

const arrivalOf = (parent: ParentFigures): Money =>
  parent.arrival === undefined ? money('0') : againstPrice(parent, parent.arrival).at;

const sliceJson = (figures: SliceFigures): Report['parents'][number]['slices'][number] => {
  const { facts, traded, amount, cost, paper } = figures;
  const end = facts.end?.body;
  return {
    slice: facts.slice,
    slot: isoOf(facts.slot),
    decided_at: isoOf(facts.at),
    result: end?.result ?? 'open',
    by: facts.intent.by,
    wanted: facts.intent.size,
    traded: text(traded),
    amount: text(amount),
    attempts: facts.attempts,
    untraded: text(figures.untraded),
    ...known({
      ended_at: facts.end && isoOf(facts.end.at),
      reason: end?.reason,
      detail: end?.detail,
      average_price: averageOf(figures.average),
      decision_price: textOf(figures.decision),
      cost: textOf(cost),
      cost_bps: cost && paper && stated(cost, paper),
      timing: textOf(figures.timing),
      execution: textOf(figures.execution),
      missed_cost: textOf(figures.missedCost),
    }),
  };
};

function untradedJson(untraded: readonly UntradedFacts[]): Report['untraded'] {
  const rows = Map.groupBy(untraded, ({ strategy, reason }) => `${strategy}\n${reason}`);
  return [...rows.values()]
    .flatMap((all) => {
      const [first, last] = [all[0], all.at(-1)];
      if (first === undefined || last === undefined) return [];
      return [
        {
          strategy: first.strategy,
          reason: first.reason,
          words: reasons[first.reason],
          slices: all.reduce((sum, { slices }) => sum + slices, 0),
          looks: all.filter(({ slices }) => slices === 0).length,
          first: isoOf(first.at),
          last: isoOf(last.at),
          ...known({ detail: last.note }),
        },
      ];
    })
    .toSorted((a, b) => b.slices - a.slices || b.looks - a.looks);
}

const portfolioJson = (figures: PortfolioFigures): Report['portfolios'][number] => ({
  strategy: figures.strategy,
  cash: figures.cash,
  drift_type: figures.driftType,
  drift_threshold: figures.threshold,
  targets: figures.targets,
  decisions: figures.decisions,
  traded: text(figures.traded),
  ...known({
    start: figures.start && valuationJson(figures.start),
    end: figures.end && valuationJson(figures.end),
    course: figures.course && courseJson(figures.course),
  }),
});

const valuationJson = ({
  at,
  value,
  weights,
  drift,
}: Valuation): NonNullable<Report['portfolios'][number]['start']> => ({
  at: isoOf(at),
  value: text(value),
  weights,
  drift,
});

type CourseJson = NonNullable<Report['portfolios'][number]['course']>;
function courseJson(course: NonNullable<PortfolioFigures['course']>): CourseJson {
  const { points, currencies, weights, drawdownAt } = course;
  const unknown = Object.fromEntries(currencies.map((currency) => [currency, Number.NaN]));
  const weightsOf = (point: number): Record<string, number> => {
    const all = { ...unknown };
    for (let i = 0; i < currencies.length; i++)
      all[currencies[i] ?? ''] = nineDigits(weights[point * currencies.length + i] ?? 0);
    return all;
  };
  return {
    step_ms: course.stepMs,
    mean_value: nineDigits(course.meanValue),
    turnover: nineDigits(course.turnover),
    return: nineDigits(course.return),
    target_return: nineDigits(course.targetReturn),
    drawdown: nineDigits(course.drawdown),
    drift_mean: nineDigits(course.driftMean),
    drift_max: nineDigits(course.driftMax),
    outside: nineDigits(course.outside),
    flows: nineDigits(course.flows),
    ...known({
      tracking_error: course.trackingError === undefined ? undefined : nineDigits(course.trackingError),
      drawdown_at: drawdownAt && isoOf(drawdownAt),
    }),
    points: points.map(({ at, value, index, drawdown }, i) => ({
      at: isoOf(at),
      value: nineDigits(value),
      index: nineDigits(index),
      drawdown: nineDigits(drawdown),
      weights: weightsOf(i),
    })),
  };
}
