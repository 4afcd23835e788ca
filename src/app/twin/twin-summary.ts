import type { z } from 'zod';
import { dayResult } from '../../operate/api/schema-twin.ts';
import type { SliceRow, TwinReport } from '../../research/twin/twin-json.ts';

/** Comparison of one day, as the desk stores it and its API returns it. */
export type DayResult = z.output<typeof dayResult>;
export const dayResultSchema = dayResult;

const LARGEST = 10;
const DECISIONS = 20;
const NOTES = 20;

/** Returns the report in a bounded size, with only the largest differences. */
export function summaryOf(report: TwinReport): DayResult['report'] {
  const { slices, decisions, notes, from, until, head, model, verdict, causes, modelled } = report;
  const differing = slices.filter(({ difference_usd: usd }) => usd !== '0');
  const sizeOf = ({ difference_usd: usd }: SliceRow): number => Math.abs(Number(usd));
  return {
    from,
    until,
    head,
    model,
    verdict,
    bound_bps: report.bound_bps,
    traded_usd: report.traded_usd,
    difference_usd: report.difference_usd,
    difference_bps: report.difference_bps,
    causes,
    cost_bps: report.cost_bps,
    live: report.live,
    twin: report.twin,
    decisions: decisions.slice(0, DECISIONS),
    modelled,
    slices: slices.length,
    differing: differing.length,
    largest: differing
      .toSorted((a, b) => sizeOf(b) - sizeOf(a))
      .slice(0, LARGEST)
      .map(largeSlice),
    notes: notes.slice(0, NOTES),
  };
}

function largeSlice(row: SliceRow): DayResult['report']['largest'][number] {
  const { strategy, parent, slice, pair, decided_at: decidedAt, live, twin, modelled } = row;
  const outcomeOf = ({ decision, quantity, cost_bps: bps }: SliceRow['live']) => ({
    decision,
    quantity,
    cost_bps: bps,
  });
  return {
    strategy,
    parent,
    slice,
    pair,
    side: row.side === 'sell' ? 'sell' : 'buy',
    decided_at: decidedAt,
    live: outcomeOf(live),
    twin: outcomeOf(twin),
    difference_usd: row.difference_usd,
    causes: Object.fromEntries(Object.entries(row.causes)),
    modelled,
  };
}
