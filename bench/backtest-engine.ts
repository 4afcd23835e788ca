/**
 * Measures the whole engine over five years of minutes of five assets, with seeded prices: rebalancing to equal weights at 5 % drift
 * and 5 bps, and hourly buys of one asset. A run includes kernels, sizing, controls, quote cycle, exchange, decimals, a journal in
 * memory and all figures of a report. It is compared with a tight loop over typed arrays in the same process, in both ways of a
 * backtest: jumping from wake to wake, and showing the desk every row (`--every-tick`). The hash chain, which the journal computes
 * only on request, and the text of `report.json` have their own columns.
 *
 * All works run in turn, in rounds; short ones run several times a round. The very first run, before anything is compiled, has its
 * own column; each work then warms up for some seconds, and its result is the median. The index of the tapes, which a backtest builds
 * once and stores beside them, is not part of the timed runs and has its own row. Runs that show the desk every row cover fewer
 * minutes, and are compared with a loop over the same minutes.
 *
 * Exit code 1 when two runs of the same work, or of the same tapes in the other way, wrote different journals; with
 * `--check` also when a target is missed.
 *
 * Run: `node bench/backtest-engine.ts [--seed S] [--minutes N] [--every-row-minutes N] [--rounds N] [--check] [--json]`
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { indexPrices } from '../src/research/tape/index.ts';
import type { PriceIndex } from '../src/research/tape/index.ts';
import { presetModel } from '../src/research/run/model.ts';
import type { ExecutionModel } from '../src/research/run/model.ts';
import { solvedOver } from '../src/research/run/wake-index.ts';
import { backtest, coverOf } from '../src/research/run/run.ts';
import type { Backtest } from '../src/research/run/run.ts';
import type { NextPossible } from '../src/research/run/tape-market.ts';
import type { Tape } from '../src/research/tape/tape.ts';
import { quantity } from '../src/core/money.ts';
import { reportText } from '../src/app/research/report-files.ts';
import type { StrategySource } from '../src/engine/desk.ts';
import type { Journal } from '../src/journal/journal.ts';
import { backtestJournal } from '../src/journal/backtest-journal.ts';
import { figuresOf } from '../src/report/figures/figures.ts';
import type { Figures } from '../src/report/figures/figures.ts';
import { reportOf } from '../src/report/json/json.ts';
import { strategies } from '../src/strategy/registry.ts';
import { ASSETS, benchTapes, CASH, MINUTES, tightLoop } from './backtest-work.ts';
import { benchPolicy } from './desk.ts';
import { median, table } from './measure.ts';

/** `ofLoop`: at most this many times the tight loop of the same run. */
const TARGETS = { rebalancing: { ofLoop: 2.5 }, buys: { usATrade: 60 } } as const;

/** Warm-up of each work, because a sweep runs it thousands of times. */
const WARM_UP_MS = 5_000;
/** A work that is shorter runs again within a round. */
const SAMPLE_MS = 200;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '6' },
    minutes: { type: 'string', default: String(MINUTES) },
    'every-row-minutes': { type: 'string', default: '43824' },
    rounds: { type: 'string', default: '4' },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const everyRowMinutes = Math.min(minutes, Number(values['every-row-minutes']));

/** The assumptions of the loop: five basis points per trade, and no restrictions. */
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

const equal = (): StrategySource =>
  source('equal', 'rebalance', {
    target_weights: Object.fromEntries([...ASSETS.map((asset) => [asset, '0.199']), ['usd', '0.005']]),
    drift_type: 'absolute',
    drift_threshold: '0.05',
  });
const hourly = (): StrategySource =>
  source('dca', 'recurring', {
    pair: 'btcusd',
    side: 'buy',
    each_notional: { amount: '20', currency: 'usd' },
    schedule: { cron: '0 * * * *' },
  });

/** Returns the first minutes of a tape: views, not copies. */
function begin(tape: Tape, rows: number): Tape {
  if (rows >= tape.rows) return tape;
  const cut = (column: Float64Array): Float64Array => column.subarray(0, rows);
  const { times, open, high, low, close, volume } = tape;
  const columns = { times: cut(times), open: cut(open), high: cut(high), low: cut(low), close: cut(close) };
  return { ...tape, ...columns, volume: cut(volume), rows, hash: `${tape.hash} ${rows}` };
}

/** Times of one run, ms. */
interface Run {
  readonly runMs: number;
  /** Time to compute all figures of a report from the records in memory, as a terminal shows them. */
  readonly reportMs: number;
  /** Time to check, serialise and hash the journal, as needed for its head and for a file. */
  readonly chainMs: number;
  /** Time to write the figures as `report.json`, including each point and parent. */
  readonly jsonMs: number;
  readonly trades: number;
  readonly records: number;
  readonly hash: string;
}

interface Work {
  readonly what: string;
  /** Works of one group write the same journal. */
  readonly group: string;
  readonly tapes: readonly Tape[];
  readonly run: () => Run;
  /** Whether the work runs in the first round only: it only has to write the same journal. */
  readonly isOnce?: boolean;
}

/** Results of a work over all rounds. */
interface Measured {
  readonly work: Work;
  readonly runs: Run[];
  /** Resident memory after each run, MB. */
  readonly memory: number[];
}

const indexes = new Map<Tape, PriceIndex>();

function indexOf(tape: Tape): PriceIndex {
  const index = indexes.get(tape);
  if (index === undefined) throw new Error(`no index of ${tape.pair}`);
  return index;
}

/** How the backtest finds the next instant at which a wait can come true. */
type Way = 'jumped' | 'every row';
const ways: Readonly<Record<Way, (over: readonly Tape[]) => NextPossible | undefined>> = {
  jumped: (over) => solvedOver(over, indexOf),
  'every row': () => undefined,
};

function engine(strategy: () => StrategySource, over: readonly Tape[], way: Way): Run {
  const journal = backtestJournal();
  const running = backtest({
    tapes: over,
    ...coverOf(over),
    strategies: [strategy()],
    policy: benchPolicy(),
    model,
    holdings: new Map([['usd', quantity(String(CASH))]]),
    seed: '1',
    journal,
    nextPossible: ways[way](over),
  });
  const begun = performance.now();
  running.run();
  const ended = performance.now();
  const figures = figuresIn(running, journal, over);
  const figured = performance.now();
  const { seq: records, hash } = journal.head();
  const tied = performance.now();
  const report = reportOf(figures);
  const reported = performance.now();
  if (report.fills === 0 || reportText(report) === '') throw new Error('the report shows no trade');
  const written = performance.now();
  const { fills: trades } = running.desk.state;
  return {
    runMs: ended - begun,
    reportMs: figured - ended + (reported - tied),
    chainMs: tied - figured,
    jsonMs: written - reported,
    trades,
    records,
    hash,
  };
}

/** Computes all figures of a report, over the same tapes. */
function figuresIn({ desk }: Backtest, journal: Journal, tapes: readonly Tape[]): Figures {
  return figuresOf(journal.read(), {
    version: 'bench',
    prices: tapes,
    currencies(pair) {
      const known = desk.instruments.pair(pair);
      return 'problem' in known ? undefined : known;
    },
  });
}

function loop(over: readonly Tape[]): Run {
  const begun = performance.now();
  const { trades, value } = tightLoop(over, 0.05);
  return {
    runMs: performance.now() - begun,
    reportMs: 0,
    chainMs: 0,
    jsonMs: 0,
    trades,
    records: 0,
    hash: String(value),
  };
}

function indexing(over: readonly Tape[]): Run {
  const begun = performance.now();
  for (const tape of over) indexes.set(tape, indexPrices(tape));
  return {
    runMs: performance.now() - begun,
    reportMs: 0,
    chainMs: 0,
    jsonMs: 0,
    trades: 0,
    records: 0,
    hash: '',
  };
}

const tapes = benchTapes(Number(values.seed), minutes);
const begins = tapes.map((tape) => begin(tape, everyRowMinutes));
const [btc] = tapes;
const [btcBegin] = begins;
if (btc === undefined || btcBegin === undefined) throw new Error('no tapes');
for (const tape of begins) indexes.set(tape, indexPrices(tape));

const portfolio = { name: 'rebalancing', strategy: equal, whole: tapes, begin: begins };
const buys = { name: 'hourly buys', strategy: hourly, whole: [btc], begin: [btcBegin] };
const whole = ({ name, strategy, whole: over }: typeof portfolio, way: Way): Work => ({
  what: `${name}, ${way}`,
  group: name,
  tapes: over,
  run: () => engine(strategy, over, way),
});
/** Returns the runs over every row of the beginning, and a jumped run over the same rows, which only has to write the same journal. */
const everyRow = ({ name, strategy, begin: over }: typeof portfolio): readonly Work[] =>
  (['every row', 'jumped'] as const).map((way) => ({
    what: `${name}, ${way}`,
    group: `${name}, begin`,
    tapes: over,
    run: () => engine(strategy, over, way),
    isOnce: way === 'jumped',
  }));
const works: readonly Work[] = [
  { what: 'tight loop', group: 'loop', tapes, run: () => loop(tapes) },
  whole(portfolio, 'jumped'),
  whole(buys, 'jumped'),
  { what: 'tight loop, begin', group: 'loop, begin', tapes: begins, run: () => loop(begins) },
  ...everyRow(portfolio),
  ...everyRow(buys),
];
/** Built first, because its garbage would otherwise be collected during other runs. */
const index: Measured = {
  work: { what: 'index of the tapes', group: 'index', tapes, run: () => indexing(tapes) },
  runs: [],
  memory: [],
};
for (let round = 0; round < Number(values.rounds); round++) index.runs.push(index.work.run());
index.memory.push(process.memoryUsage.rss() / 1e6);
const measured = [index, ...works.map((work): Measured => ({ work, runs: [], memory: [] }))];
for (let round = 0; round < Number(values.rounds); round++)
  for (const { work, runs, memory } of measured.slice(1)) {
    if (work.isOnce === true && round > 0) continue;
    const begun = performance.now();
    runs.push(work.run());
    const passed = (): number => performance.now() - begun;
    if (round === 0) while (work.isOnce !== true && passed() < WARM_UP_MS) work.run();
    else while (passed() < SAMPLE_MS) runs.push(work.run());
    memory.push(process.memoryUsage.rss() / 1e6);
  }

const digits = (value: number, after: number): number => Number(value.toFixed(after));
const warm = (runs: readonly Run[], of: (run: Run) => number): number =>
  median((runs.length > 1 ? runs.slice(1) : runs).map(of));
const wallOf = ({ runMs, reportMs }: Run): number => runMs + reportMs;
/** Returns the time of the loop over the same tapes. */
const loopOf = ({ tapes: over }: Work): number =>
  warm(
    measured.find(({ work }) => work.what.startsWith('tight') && work.tapes[0]?.rows === over[0]?.rows)
      ?.runs ?? [],
    wallOf,
  );

const PARTS = ['runMs', 'reportMs', 'chainMs', 'jsonMs'] as const;
/** Returns the warm times of all parts, ms. `wallMs` is the sum of run and report and excludes the other two. */
const parts = (runs: readonly Run[]): Readonly<Record<string, number>> =>
  Object.fromEntries(PARTS.map((part) => [part, digits(warm(runs, (run) => run[part]), 2)])); // prettier-ignore

const shown = measured.filter(({ work }) => work.isOnce !== true);
const rows = shown.map(({ work, runs, memory }) => {
  const [first] = runs;
  const wall = warm(runs, wallOf);
  const bars = work.tapes.reduce((sum, tape) => sum + tape.rows, 0);
  const trades = first?.trades ?? 0;
  return {
    what: work.what,
    minutes: work.tapes[0]?.rows ?? 0,
    firstMs: digits(first === undefined ? Number.NaN : wallOf(first), 1),
    wallMs: digits(wall, 2),
    ...parts(runs),
    'M bars/s': digits(bars / wall / 1_000, 1),
    trades,
    records: first?.records ?? 0,
    usATrade: digits(trades === 0 ? 0 : (1_000 * warm(runs, ({ runMs }) => runMs)) / trades, 1),
    ofLoop: digits(wall / loopOf(work), 2),
    MB: digits(Math.max(...memory), 0),
  };
});

const groups = Map.groupBy(measured, ({ work }) => work.group);
const differing = [...groups]
  .filter(([, all]) => new Set(all.flatMap(({ runs }) => runs.map(({ hash }) => hash))).size > 1)
  .map(([group]) => group);
const rowOf = (what: string): (typeof rows)[number] | undefined => rows.find((row) => row.what === what);
const target = (what: string, unit: string, is: number, most: number): Record<string, string | number> => ({
  target: what,
  most: `${most} ${unit}`,
  is,
  verdict: is <= most ? 'met' : 'missed',
});
const targets = [
  target('rebalancing, jumped, with its report', 'x the tight loop', rowOf('rebalancing, jumped')?.ofLoop ?? Number.NaN, TARGETS.rebalancing.ofLoop), // prettier-ignore
  target('hourly buys, jumped', 'us a trade', rowOf('hourly buys, jumped')?.usATrade ?? Number.NaN, TARGETS.buys.usATrade), // prettier-ignore
];
const facts = {
  rounds: Number(values.rounds),
  peakMB: digits(process.resourceUsage().maxRSS / 1024, 0),
  load: digits(loadavg()[0] ?? 0, 1),
  differing,
};
if (values.json) console.log(JSON.stringify({ bench: 'backtest-engine', ...facts, results: rows, targets }));
else {
  console.log(table(rows));
  console.log(
    '\nfirst: nothing compiled; wall: a warm run with all figures of its report; chain: to hash its journal, and json: to write its report.json, in no other column; us a trade: of the run; MB: resident after it',
  );
  console.log(
    `${facts.rounds} rounds; peak ${facts.peakMB} MB, made tapes included; load ${facts.load}; ${differing.length === 0 ? 'all runs of a work wrote the same journal, in whichever way' : `JOURNALS DIFFER: ${differing.join(', ')}`}\n`,
  );
  console.log(table(targets));
}
const isMissed = targets.some(({ verdict }) => verdict !== 'met');
process.exitCode = differing.length > 0 || (values.check && isMissed) ? 1 : 0;
