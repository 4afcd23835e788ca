import { approximate, text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import { againstPrice, benchmark } from '../figures/figures.ts';
import type { Figures } from '../figures/figures.ts';
import { averageOf, costsJson, slippage } from './json-parts.ts';
import type { Draft } from './json-parts.ts';
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
  const json: Draft<ParentJson> = {
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
  };
  if (facts.unbegun !== undefined) json.never_began = true;
  if (planned !== undefined) json.planned = text(planned);
  const average = averageOf(amount, traded);
  if (average !== undefined) json.average_price = average;
  if (decision !== undefined) json.decision = seenJson(decision);
  if (arrival !== undefined) json.arrival_price = text(arrival);
  if (end !== undefined) json.end = seenJson(end);
  if (shortfall !== undefined) json.costs = costsJson(shortfall);
  const [twap, vwap] = [benchmarkJson(parent, prices, 'time'), benchmarkJson(parent, prices, 'volume')];
  if (twap !== undefined) json.twap = twap;
  if (vwap !== undefined) json.vwap = vwap;
  if (facts.missed.length === 0) return json;
  const passed = passedOf([parent], prices);
  if (passed.withoutPrice === 0) json.passed_cost = text(passed.cost);
  return json;
}

function benchmarkJson(
  parent: ParentFigures,
  prices: PriceBook,
  weight: 'time' | 'volume',
): BenchmarkJson | undefined {
  const each = benchmark(parent, prices, weight);
  if (each === undefined) return undefined;
  const slipped = slippage(againstPrice(parent, each));
  return slipped === undefined ? { price: text(each) } : { price: text(each), slippage_bps: slipped };
}

const seenJson = ({ price, at, from }: Seen): NonNullable<ParentJson['end']> => ({
  price: text(price),
  at: isoOf(at),
  from,
});

function sliceJson(figures: SliceFigures): SliceJson {
  const { facts, traded, amount, decision, cost: paid, paper, timing, execution, missedCost } = figures;
  const { intent, end } = facts;
  const json: Draft<SliceJson> = {
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
  };
  if (end !== undefined) {
    json.ended_at = isoOf(end.at);
    const { reason, detail } = end.body;
    if (reason !== undefined) json.reason = reason;
    if (detail !== undefined) json.detail = detail;
  }
  const average = averageOf(amount, traded);
  if (average !== undefined) json.average_price = average;
  if (decision !== undefined) json.decision_price = text(decision);
  if (paid !== undefined && paper !== undefined) {
    json.cost = text(paid);
    const bps = statedBps(paid, paper);
    if (bps !== undefined) json.cost_bps = bps;
  }
  if (timing !== undefined) json.timing = text(timing);
  if (execution !== undefined) json.execution = text(execution);
  if (missedCost !== undefined) json.missed_cost = text(missedCost);
  return json;
}
