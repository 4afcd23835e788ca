import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { writeReport } from '../../src/app/research/report-files.ts';
import { quantity, text } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, after, instant, isoOf } from '../../src/core/time.ts';
import { exportRecords } from '../../src/journal/export.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { mapped } from '../../src/report/figures/rows.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { presetModel } from '../../src/research/run/model.ts';
import type { RecordedChanges } from '../../src/research/run/run.ts';
import { ptsSchema } from '../../src/simulator/options/options.ts';
import { aPolicy, aStrategy, aTwap, START } from '../engine/harness.ts';
import { aRun, walkTape } from '../research/bench.ts';
import type { RunShape } from '../research/bench.ts';
import { aFolder } from '../support/folder.ts';

/** Headline figures, recomputed from exported files by `figures.py`, which shares no code with the program. */
const PROGRAM = fileURLToPath(new URL('figures.py', import.meta.url));
const missing = spawnSync('python3', ['--version']).status === 0 ? undefined : 'there is no python3';

const tapes = [
  walkTape({ pair: 'btcusd', rows: 24 * 20, barMs: HOUR_MS, startPrice: 100, volatility: 0.02 }),
  walkTape({ pair: 'ethusd', rows: 24 * 20, barMs: HOUR_MS, startPrice: 5, volatility: 0.03 }),
];
const UNTIL = instant(START + 20 * DAY_MS);
const hours = (count: number): ReturnType<typeof instant> => after(START, count * HOUR_MS);
const RATE = { annual: '0.08', grace: 1_440, every: 60 };
const model = {
  ...presetModel('tight'),
  feeBps: 2,
  maxUsd: '100000000',
  quoteLatencyMs: 0,
  orderLatencyMs: 0,
  impactMemory: HOUR_MS,
  pts: ptsSchema.parse({ default_mode: 'Enabled', credit_limit_usd: '1000000' }),
};

const flow = (at: number, currency: string, amount: string): RecordedChanges['flows'][number] => ({
  at: hours(at),
  currency,
  amount: quantity(amount),
});
/** Nothing changes but the balances, which the desk reads every hour. */
const deposits = (...flows: RecordedChanges['flows'][number][]): RecordedChanges => ({
  reloads: [],
  strategies: () => ({ read: () => ({ sources: [], off: [], notes: [] }), revive: () => undefined }),
  flows,
  accountPollMs: HOUR_MS,
});
const rebalance = (over: object): ReturnType<typeof aStrategy> =>
  aStrategy('p', 'rebalance', {
    target_weights: { btc: '0.5', eth: '0.3', usd: '0.2' },
    cash: 'usd',
    drift_threshold: '0.03',
    ...over,
  });
const at = (count: number): { readonly start_time: string } => ({ start_time: isoOf(hours(count)) });

const runs: Readonly<Record<string, () => Partial<RunShape>>> = {
  /** Two big deposits, of which one is a coin, and a withdrawal; a purchase that ends unfilled, and one that goes on after the window. */
  'with deposits and a withdrawal': () => ({
    strategies: [
      rebalance({ min_interval: 'PT1H' }),
      aTwap('short', { ...at(30), duration: 'PT20S', slices: 1, limit_price: '10' }),
      aTwap('open', { ...at(470), duration: 'P5D', total_quantity: { amount: '10', currency: 'btc' } }),
    ],
    holdings: { usd: '100000' },
    changes: deposits(flow(60.5, 'usd', '3000000'), flow(200.25, 'btc', '5000'), flow(300.75, 'usd', '-200000')),
  }),
  /** A purchase on credit, of which nothing is repaid, by a strategy that ends long before the window. */
  'on credit': () => ({
    strategies: [
      rebalance({ drift_threshold: '0.9', schedule: { cron: '0 0 1 12 *', time_zone: 'UTC' } }),
      aTwap('lever', { ...at(3), duration: 'PT2H', slices: 2, total_quantity: { amount: '1500', currency: 'btc' } }),
    ],
    holdings: { usd: '100000' },
    policy: { pts: { ...aPolicy().pts, use: 'when_enabled' } },
  }),
}; // prettier-ignore

const PARTS = ['paper', 'delay', 'trading', 'timing', 'execution', 'opportunity', 'fees', 'total'] as const;

/** What the program reports, in the format of `figures.py`. */
const told = ({ portfolios: [portfolio], groups }: Report, value: string): unknown => ({
  value,
  worth: portfolio?.end?.value,
  points: portfolio?.course?.points.map((one) => [one.value, one.index, one.target_index, one.hold_index]),
  cash_flows: portfolio?.course?.cash_flows.map((one) => [Date.parse(one.at), one.value, one.amount]),
  ...mapped(['return', 'money_weighted_return', 'turnover', 'tracking_error'], (name) => portfolio?.course?.[name]),
  tearsheet: mapped(['portfolio', 'buy_and_hold', 'targets_held'], (name) => portfolio?.course?.tearsheet[name]),
  paid: portfolio?.paid,
  groups: groups.map(({ costs, fills }) => ({
    ...mapped(PARTS, (part) => costs[part]),
    bps: costs.bps?.total ?? null,
    slippage: costs.arrival_slippage_bps ?? null,
    half_spread: fills.spread_bps ?? null,
  })),
}); // prettier-ignore

describe(`the headline figures of a backtest${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  for (const [name, shape] of Object.entries(runs))
    it(`are those that Python recomputes from the exported files, to the last digit: ${name}`, async (ctx) => {
      if (missing !== undefined) return ctx.skip(missing);
      const folder = aFolder();
      const ran = aRun({ tapes, until: UNTIL, model, strategies: [], ...shape() });
      const charged = ran.exchange.interest('desk', UNTIL);
      const figures = figuresOf(ran.journal.read(), {
        version: 't',
        prices: tapes,
        end: UNTIL,
        charges: charged.ok ? charged.value.toReversed() : [],
      });
      await writeReport(figures, folder, {});
      writeFileSync(join(folder, 'records.jsonl'), [...exportRecords(ran.journal.read(), { format: 'jsonl', kind: 'all' })].join('')); // prettier-ignore
      const prices = tapes.map(({ pair, times, close }) => {
        const file = join(folder, `${pair}.csv`);
        const rows = Array.from(close, (each, i) => `${times[i] ?? 0},${each}\n`);
        writeFileSync(file, ['timestamp_ms,close\n', ...rows].join(''));
        return [pair, file] as const;
      });
      const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as Report; // oxlint-disable-line typescript/no-unsafe-type-assertion -- its schema is tested elsewhere
      const input = { report: join(folder, 'report.json'), fills: join(folder, 'fills.csv'), records: join(folder, 'records.jsonl'), prices: Object.fromEntries(prices), strategy: 'p', until: UNTIL, rate: RATE }; // prettier-ignore
      const { status, stdout, stderr } = spawnSync('python3', [PROGRAM], { input: JSON.stringify(input), encoding: 'utf8' }); // prettier-ignore
      if (status !== 0) throw new Error(stderr);
      expect(told(report, text(ran.valueAt(UNTIL)))).toEqual(JSON.parse(stdout));
    });
});
