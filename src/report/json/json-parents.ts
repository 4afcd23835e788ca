import { approximate, text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import { againstPrice, benchmark } from '../figures/figures.ts';
import type { Figures } from '../figures/figures.ts';
import { averageOf, costsJson, slippage } from './json-parts.ts';
import { passedOf } from '../figures/passed-times.ts';
import type { PriceBook, Seen } from '../figures/prices.ts';
import type { Report } from './schema.ts';
import { statedBps } from '../figures/shortfall.ts';
import type { ParentFigures, SliceFigures } from '../figures/shortfall.ts';

/** Maximum number of parents and slices in a report. The rest is only in its sums and in `fills.csv`. */
export const PARENTS_MAX = 1_000;
const SLICES_MAX = 5_000;

type ParentJson = Report['parents'][number];
type SliceJson = ParentJson['slices'][number];
type BenchmarkJson = NonNullable<ParentJson['twap']>;

/** All parents, or those with the largest costs and gains, in the order of their start. */
export function parentsJson({ parents, prices }: Figures): readonly ParentJson[] {
  const room = { slices: SLICES_MAX };
  return listedOf(parents).map((parent) => parentJson(parent, prices, room));
}

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

function parentJson(parent: ParentFigures, prices: PriceBook, room: { slices: number }): ParentJson {
  const { facts, traded, amount, planned, decision, arrival, end, shortfall } = parent;
  const slices = parent.slices.slice(0, room.slices);
  room.slices -= slices.length;
  const passed = facts.missed.length === 0 ? undefined : passedOf([parent], prices);
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
    ended_at: isoOf(parent.endedAt),
    window: { from: isoOf(parent.window.from), until: isoOf(parent.window.until) },
    open: parent.isOpen,
    traded: text(traded),
    amount: text(amount),
    fees: text(parent.fees),
    missed: facts.missed.length,
    slices: slices.map(sliceJson),
    slices_left_out: parent.slices.length - slices.length,
    never_began: facts.unbegun === undefined ? undefined : true,
    planned: planned && text(planned),
    average_price: averageOf(amount, traded),
    decision: decision && seenJson(decision),
    arrival_price: arrival && text(arrival),
    end: end && seenJson(end),
    costs: shortfall && costsJson(shortfall),
    twap: benchmarkJson(parent, prices, 'time'),
    vwap: benchmarkJson(parent, prices, 'volume'),
    passed_cost: passed?.withoutPrice === 0 ? text(passed.cost) : undefined,
  };
}

function benchmarkJson(
  parent: ParentFigures,
  prices: PriceBook,
  weight: 'time' | 'volume',
): BenchmarkJson | undefined {
  const each = benchmark(parent, prices, weight);
  return each && { price: text(each), slippage_bps: slippage(againstPrice(parent, each)) };
}

const seenJson = ({ price, at, from }: Seen): NonNullable<ParentJson['end']> => ({
  price: text(price),
  at: isoOf(at),
  from,
});

function sliceJson(figures: SliceFigures): SliceJson {
  const { facts, traded, amount, decision, cost: paid, paper, timing, execution, missedCost } = figures;
  const { intent, end } = facts;
  const isCosted = paid !== undefined && paper !== undefined;
  return {
    slice: facts.slice,
    slot: isoOf(facts.slot),
    decided_at: isoOf(facts.at),
    result: end?.body.result ?? 'open',
    by: intent.by,
    wanted: intent.size,
    traded: text(traded),
    amount: text(amount),
    attempts: facts.attempts,
    untraded: text(figures.untraded),
    ended_at: end && isoOf(end.at),
    reason: end?.body.reason,
    detail: end?.body.detail,
    average_price: averageOf(amount, traded),
    decision_price: decision && text(decision),
    cost: isCosted ? text(paid) : undefined,
    cost_bps: isCosted ? statedBps(paid, paper) : undefined,
    timing: timing && text(timing),
    execution: execution && text(execution),
    missed_cost: missedCost && text(missedCost),
  };
}
