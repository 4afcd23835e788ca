import { expect } from 'vitest';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { DAY_MS, HOUR_MS, instant } from '../../src/core/time.ts';
import { aStrategy } from '../engine/harness.ts';
import { aRun } from './bench.ts';
import { averageOf, journalTrades, plainDca, plainTwap, sumOf } from './plain.ts';
import type { PlainTrade } from './plain.ts';

/** A venue that always quotes the mid price immediately, so that only the schedule and the tape matter. */
export const FRICTIONLESS: Partial<ExecutionModel> = {
  halfSpreadBps: 0,
  impactBps: 0,
  maxUsd: '1000000000',
  pricePrecision: 8,
  quoteLatencyMs: 0,
  orderLatencyMs: 0,
  lastLookBps: undefined,
  rejectedShare: 0,
  unavailableShare: 0,
  feeBps: 0,
  gapMax: DAY_MS,
};

export interface Checked {
  readonly trades: readonly PlainTrade[];
  readonly words: string;
}

/** A twap of a week, a slice every half hour, against plain arithmetic. */
export function checkTwapWeek(tape: Tape, startsAt: number): Checked {
  const slices = 336;
  const ran = aRun({
    tapes: [tape],
    strategies: [
      aStrategy('week', 'twap', {
        pair: tape.pair,
        side: 'buy',
        total_quantity: { amount: '25', currency: 'btc' },
        start_time: new Date(startsAt).toISOString(),
        duration: 'P7D',
        slices,
      }),
    ],
    from: instant(startsAt - HOUR_MS),
    until: instant(startsAt + 7 * DAY_MS),
    model: FRICTIONLESS,
  });
  const trades = journalTrades(ran.journal.read(), 'week');
  expect(trades).toEqual(plainTwap(tape, { total: '25', slices, startsAt, everyMs: HOUR_MS / 2 }));
  expect(sumOf(trades, 'quantity')).toBe('25');
  return { trades, words: wordsOf(trades) };
}

/** A hundred dollars every day at nine in the morning, until the end of the tape, against plain arithmetic. */
export function checkDca(tape: Tape, from: number, until: number): Checked {
  const ran = aRun({
    tapes: [tape],
    strategies: [
      aStrategy('dca', 'recurring', {
        pair: tape.pair,
        side: 'buy',
        each_notional: { amount: '100', currency: 'usd' },
        schedule: { cron: '0 9 * * *' },
      }),
    ],
    from: instant(from),
    until: instant(until),
    model: FRICTIONLESS,
  });
  const trades = journalTrades(ran.journal.read(), 'dca');
  const dues: number[] = [];
  for (let day = Math.floor(from / DAY_MS); day * DAY_MS + 9 * HOUR_MS < until; day++) {
    const due = day * DAY_MS + 9 * HOUR_MS;
    if (due >= from) dues.push(due);
  }
  expect(trades).toEqual(plainDca(tape, 10_000n, dues));
  return { trades, words: wordsOf(trades) };
}

const wordsOf = (trades: readonly PlainTrade[]): string =>
  `${trades.length} trades, ${sumOf(trades, 'quantity')} for ${sumOf(trades, 'amount')}, on average ${averageOf(trades)}`;
