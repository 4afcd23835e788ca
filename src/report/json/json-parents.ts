import { approximate, text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import { benchmark } from '../figures/figures.ts';
import type { Benchmark, Figures } from '../figures/figures.ts';
import { passedOf } from '../figures/passed-times.ts';
import type { Seen } from '../figures/prices.ts';
import { averageOf, costsOf, statedBps } from '../figures/shortfall.ts';
import type { ParentFigures, SliceFigures } from '../figures/shortfall.ts';
import type { Report } from './schema.ts';

/** Maximum number of parents and slices in a report. The rest is only in its sums and in `fills.csv`. */
export const PARENTS_MAX = 1_000;
const SLICES_MAX = 5_000;

type ParentRow = Report['parents'][number];

/** All parents, or those with the largest costs and gains, in the order of their start. */
export function parentRows({ parents, prices }: Figures): readonly ParentRow[] {
  const weightOf = ({ shortfall }: ParentFigures): number =>
    Math.abs(shortfall === undefined ? 0 : approximate(shortfall.total));
  const weighed = parents.map((parent) => ({ parent, weight: weightOf(parent) }));
  const most = weighed.toSorted((a, b) => b.weight - a.weight).slice(0, PARENTS_MAX);
  const listed = new Set(most.map(({ parent }) => parent));
  let room = SLICES_MAX;
  return parents
    .filter((parent) => listed.has(parent))
    .map((parent) => {
      const { facts, arrival, window, shortfall, slices, decision, end, planned } = parent;
      const shown = slices.slice(0, room);
      room -= shown.length;
      const passed = passedOf(parent, prices);
      const against = (by: Benchmark): ParentRow['twap'] => {
        const found = benchmark(parent, prices, by);
        return found && { price: text(found.price), slippage_bps: statedBps(found.over, found.at) };
      };
      return {
        ...namesOf(parent),
        begun_at: isoOf(facts.begunAt),
        ended_at: isoOf(parent.endedAt),
        window: { from: isoOf(window.from), until: isoOf(window.until) },
        open: parent.isOpen,
        traded: text(parent.traded),
        amount: text(parent.amount),
        fees: text(parent.fees),
        missed: facts.missed.length,
        slices: shown.map(sliceRow),
        slices_left_out: slices.length - shown.length,
        never_began: facts.unbegun && true,
        planned: planned && text(planned),
        average_price: averageOf(parent.amount, parent.traded),
        decision: decision && seenRow(decision),
        arrival_price: arrival && text(arrival),
        end: end && seenRow(end),
        costs: shortfall && costsOf(shortfall),
        twap: against('timeWeighted'),
        vwap: against('volumeWeighted'),
        passed_cost:
          passed.passed_slots > 0 && passed.passed_without_price === 0 ? text(passed.passed_cost) : undefined,
      };
    });
}

/** What a parent is. */
export const namesOf = ({
  facts,
  base,
  quote,
}: ParentFigures): Pick<
  ParentRow,
  'parent' | 'strategy' | 'leg' | 'pair' | 'side' | 'base' | 'quote' | 'due_at'
> => ({
  parent: facts.parent,
  strategy: facts.strategy,
  leg: facts.leg,
  pair: facts.pair,
  side: facts.side,
  base,
  quote,
  due_at: isoOf(facts.decidedAt),
});

const seenRow = ({ price, at, from }: Seen): NonNullable<ParentRow['end']> => ({
  price: text(price),
  at: isoOf(at),
  from,
});

function sliceRow({
  facts,
  traded,
  amount,
  cost,
  paper,
  ...figures
}: SliceFigures): ParentRow['slices'][number] {
  const { intent, end } = facts;
  const { decision, timing, execution, missedCost } = figures;
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
    cost: cost && text(cost),
    cost_bps: cost && paper && statedBps(cost, paper),
    timing: timing && text(timing),
    execution: execution && text(execution),
    missed_cost: missedCost && text(missedCost),
  };
}
