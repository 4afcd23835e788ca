import { add, NO_QUANTITY, text } from '../../core/money.ts';
import { reasons } from '../../core/reasons.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Figures } from '../figures/figures.ts';
import type { UntradedFacts } from '../figures/facts.ts';
import { gapsOf } from '../figures/gaps.ts';
import { PARENTS_MAX, parentRows } from './json-parents.ts';
import { oversightOf } from '../oversight/section.ts';
import { notesOf } from '../figures/notes.ts';
import type { PriceColumns } from '../figures/prices.ts';
import { onDemand } from '../figures/rows.ts';
import { REPORT_FORMAT } from './schema.ts';
import type { Report } from './schema.ts';
import { isRecord } from '../../core/text/json.ts';

export const SIGNS = {
  costs: 'A positive cost is bad for the desk. Costs in basis points (1 bp = 0.01 %) refer to the notional.',
  mark_outs:
    'Mark-outs have the opposite sign: positive is good, the price moved in the direction of the trade.',
} as const;

/** A report as the data of `report.json`. Parts that a terminal does not show are computed on demand. */
export function reportOf(figures: Figures): Report {
  const { facts, input, from, until } = figures;
  const startsOf = (by: 'desk' | 'mode' | 'version' | 'config_hash'): string[] => [
    ...new Set(facts.starts.map(({ body }) => body[by])),
  ];
  return onDemand({
    format: REPORT_FORMAT,
    version: input.version,
    signs: SIGNS,
    period: facts.first === undefined ? undefined : { from: isoOf(from), until: isoOf(until) },
    made_from: {
      records: facts.records,
      head: facts.head,
      desks: startsOf('desk'),
      modes: startsOf('mode'),
      versions: startsOf('version'),
      config_hashes: startsOf('config_hash'),
      corrections: facts.corrections,
    },
    prices: figures.prices.tapes.map((tape) => historyJson(tape, figures)),
    ...notesOf(figures),
    strategies: facts.lives
      .filter(({ record }) => input.strategy === undefined || record.strategy === input.strategy)
      .map(({ record, finished }) => ({
        strategy: record.strategy,
        kind: record.type,
        hash: record.hash,
        document: isRecord(record.document) ? record.document : undefined,
        begun_at: isoOf(record.begun_at),
        finished_at: finished && isoOf(finished.at),
        finished: finished?.reason,
      })),
    totals: figures.totals,
    carry:
      input.charges &&
      [...Map.groupBy(input.charges, ({ currency }) => currency)].map(([currency, all]) => ({
        currency,
        amount: text(all.reduce((sum, { amount }) => add(sum, amount), NO_QUANTITY)),
      })),
    quoting: figures.quoting,
    groups: figures.groups.map(({ row }) => row),
    // Computed on demand, because a terminal shows none of this long list.
    get parents() {
      return parentRows(figures);
    },
    parents_left_out: Math.max(0, figures.parents.length - PARENTS_MAX),
    fills: figures.fills.length,
    untraded: untradedJson(figures.untraded),
    portfolios: figures.portfolios,
    backtest: input.backtest,
    oversight: input.oversight && oversightOf(figures, input.oversight),
  });
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
          detail: last.note,
        },
      ];
    })
    .toSorted((a, b) => b.slices - a.slices || b.looks - a.looks);
}
