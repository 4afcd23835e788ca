/**
 * The whole engine over five years of minutes of five assets, prices made by a seed: rebalancing to equal weights at 5 % drift and
 * 5 bps, and hourly buys of one asset. Kernels, sizing, controls, quote cycle, exchange, decimals and the hash chain of the
 * journal are all in it, beside a tight loop over typed arrays in the same run. Runs twice and ends with the same journal,
 * or the exit code is 1.
 *
 * Run: `node bench/backtest-engine.ts [--seed S] [--minutes N] [--every-tick] [--json]`
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { presetModel } from '../src/backtest/model.ts';
import type { ExecutionModel } from '../src/backtest/model.ts';
import { solvedOver } from '../src/backtest/possible.ts';
import { backtest, coverOf } from '../src/backtest/run.ts';
import type { Tape } from '../src/backtest/tape.ts';
import { quantity } from '../src/core/money.ts';
import type { StrategySource } from '../src/engine/desk.ts';
import { memoryJournal } from '../src/journal/memory.ts';
import { strategies } from '../src/strategy/registry.ts';
import { ASSETS, benchTapes, CASH, MINUTES, tightLoop } from './backtest-work.ts';
import { benchPolicy } from './desk.ts';
import { table } from './measure.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '6' },
    minutes: { type: 'string', default: String(MINUTES) },
    'every-tick': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const tapes = benchTapes(Number(values.seed), Number(values.minutes));

/** What the loop assumes: five basis points a trade, and nothing in the way. */
const model: ExecutionModel = {
  ...presetModel('tight'),
  halfSpreadBps: 5,
  impactBps: 0,
  maxUsd: '1000000000',
  pricePrecision: 8,
  quoteLatencyMs: 0,
  orderLatencyMs: 0,
};

function source(id: string, kind: string, params: Record<string, unknown>): StrategySource {
  const known = strategies.get(kind);
  if (known === undefined) throw new Error(`no kind ${kind}`);
  const document = { id, kind, ...params };
  return { id, kind, hash: JSON.stringify(document), document, bound: known.bind(params) };
}

const equal = source('equal', 'rebalance', {
  target_weights: Object.fromEntries([...ASSETS.map((asset) => [asset, '0.199']), ['usd', '0.005']]),
  drift_type: 'absolute',
  drift_threshold: '0.05',
  continuous: true,
});
const hourly = source('dca', 'recurring', {
  pair: 'btcusd',
  side: 'buy',
  each_notional: { amount: '20', currency: 'usd' },
  schedule: { cron: '0 * * * *' },
});

interface Run {
  readonly what: string;
  readonly ms: number;
  readonly records: number;
  readonly trades: number;
  readonly hash: string;
}

function run(what: string, strategy: StrategySource, over: readonly Tape[], isJumped: boolean): Run {
  const journal = memoryJournal();
  const running = backtest({
    tapes: over,
    ...coverOf(over),
    strategies: [strategy],
    policy: benchPolicy(),
    model,
    holdings: new Map([['usd', quantity(String(CASH))]]),
    seed: '1',
    journal,
    nextPossible: isJumped ? solvedOver(over) : undefined,
  });
  const begun = performance.now();
  running.run();
  const ms = performance.now() - begun;
  const { seq: records, hash } = journal.head();
  return { what, ms, records, trades: running.desk.state.fills, hash };
}

const loopBegun = performance.now();
tightLoop(tapes, 0.05);
const loopMs = performance.now() - loopBegun;
const [btc] = tapes;
if (btc === undefined) throw new Error('no tapes');
const both = [true, ...(values['every-tick'] ? [false] : [])];
const runs = both.flatMap((isJumped) => {
  const how = isJumped ? 'jumped' : 'every row';
  return [
    run(`rebalancing, ${how}, first`, equal, tapes, isJumped),
    run(`rebalancing, ${how}, again`, equal, tapes, isJumped),
    run(`hourly buys, ${how}`, hourly, [btc], isJumped),
  ];
});
const isSame = ['rebalancing', 'hourly'].every(
  (what) => new Set(runs.filter((one) => one.what.startsWith(what)).map(({ hash }) => hash)).size === 1,
);
const rows = runs.map(({ what, ms, records, trades, hash }) => ({
  what,
  ms: Number(ms.toFixed(1)),
  trades,
  records,
  usATrade: Number(((1_000 * ms) / Math.max(1, trades)).toFixed(1)),
  ofLoop: Number((ms / loopMs).toFixed(2)),
  hash: hash.slice(0, 12),
}));
const facts = {
  loopMs: Number(loopMs.toFixed(1)),
  peakMb: Math.round(process.memoryUsage.rss() / 1e6),
  load: loadavg()[0],
  isSame,
};
if (values.json) console.log(JSON.stringify({ bench: 'backtest-engine', ...facts, runs: rows }));
else {
  console.log(table(rows));
  console.log(
    `tight loop, cold: ${facts.loopMs} ms; memory now ${facts.peakMb} MB; load ${String(facts.load)}; ${isSame ? 'every pair of runs wrote the same journal' : 'JOURNALS DIFFER'}`,
  );
}
process.exitCode = isSame ? 0 : 1;
