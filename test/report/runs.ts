import type { ExecutionModel } from '../../src/research/run/model.ts';
import { solvedOver } from '../../src/research/run/wake-index.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import type { StoredRecord } from '../../src/core/record.ts';
import { DAY_MS, instant } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import type { Figures } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { aRun } from '../research/bench.ts';
import { aStrategy } from '../engine/harness.ts';

/** A backtest with friction and its report, for a plain calculation to be held against. */
export interface Reported {
  readonly records: readonly StoredRecord[];
  readonly tapes: readonly Tape[];
  readonly figures: Figures;
  readonly report: Report;
}

/** A venue that costs something, is not always there, and looks twice. */
const FRICTION: Partial<ExecutionModel> = { feeBps: 1, unavailableShare: 0.02, quoteLatencyMs: 150, orderLatencyMs: 100, maxUsd: '1000000000' }; // prettier-ignore

const BNB = { name: 'BNB', fiat: false, precision: 8, canDeposit: true, canWithdraw: true };

interface Shape {
  readonly tapes: readonly Tape[];
  readonly strategies: readonly StrategySource[];
  readonly from: number;
  readonly until: number;
  readonly gapMax?: number | undefined;
}

function reported({ tapes, strategies, from, until, gapMax = DAY_MS }: Shape): Reported {
  const ran = aRun({
    tapes,
    strategies,
    from: instant(from),
    until: instant(until),
    holdings: { usd: '1000000' },
    model: { ...FRICTION, gapMax },
    policy: { minimumOf: () => ({}) },
    // One that the simulated venue does not know by itself.
    currencies: tapes.some(({ pair }) => pair === 'bnbusd') ? { bnb: BNB } : {},
    nextPossible: solvedOver(tapes),
  });
  const records = [...ran.journal.read()];
  const figures = figuresOf(records, { version: 't', prices: tapes });
  return { records, tapes, figures, report: reportOf(figures) };
}

export const twapReport = (tape: Tape, startsAt: number, days: number, slices: number): Reported =>
  reported({
    tapes: [tape],
    strategies: [
      aStrategy('week', 'twap', {
        pair: tape.pair,
        side: 'buy',
        total_quantity: { amount: '25', currency: tape.pair.slice(0, 3) },
        start_time: new Date(startsAt).toISOString(),
        duration: `P${days}D`,
        slices,
      }),
    ],
    from: startsAt - DAY_MS / 24,
    until: startsAt + days * DAY_MS + DAY_MS / 24,
  });

export const dcaReport = (tape: Tape, from: number, until: number): Reported =>
  reported({
    tapes: [tape],
    strategies: [
      aStrategy('dca', 'recurring', {
        pair: tape.pair,
        side: 'buy',
        each_notional: { amount: '100', currency: 'usd' },
        schedule: { cron: '0 9 * * *' },
      }),
    ],
    from,
    until,
  });

export const rebalanceReport = (
  tapes: readonly Tape[],
  { targets, from, until }: { readonly targets: Readonly<Record<string, string>>; readonly from: number; readonly until: number }, // prettier-ignore
): Reported =>
  reported({
    tapes,
    strategies: [
      aStrategy('parts', 'rebalance', {
        target_weights: targets,
        drift_type: 'absolute',
        drift_threshold: '0.05',
        min_trade_notional: { amount: '1', currency: 'usd' },
      }),
    ],
    from,
    until,
    gapMax: 7 * DAY_MS,
  });
