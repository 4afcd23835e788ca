/**
 * Measures five years of minutes of five assets, with seeded prices: rebalancing to equal weights at a drift band, and hourly buys
 * of one asset. Compares a tight loop over typed arrays, the solver, and a loop over any number of assets, in the same run. All
 * must make the same trades, to the last bit of the final value. Targets are fractions of the tight loop. Exit code 1 when trades
 * differ, and with `--check` also when a target is missed.
 *
 * Run: `node bench/backtest.ts [--seed S] [--rounds N] [--minutes N] [--check] [--json]`
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { bandOf } from '../src/research/run/band.ts';
import type { Band } from '../src/research/run/band.ts';
import { driftSearch } from '../src/research/run/drift.ts';
import type { History } from '../src/research/run/history.ts';
import { indexPrices } from '../src/research/tape/index.ts';
import { knownAt } from '../src/research/tape/tape.ts';
import type { Tape } from '../src/research/tape/tape.ts';
import { NOTHING, ratio } from '../src/core/money.ts';
import {
  benchTapes,
  dcaEveryBar,
  dcaFound,
  dcaSlices,
  Equal,
  genericLoop,
  MINUTE,
  MINUTES,
  tightLoop,
} from './backtest-work.ts';
import type { Outcome } from './backtest-work.ts';
import { median, table } from './measure.ts';

/** Largest time of the solver at each band, relative to the tight loop. Narrow bands trade every few minutes. */
const TARGETS = { '0.05': 0.1, '0.01': 2, '0.003': 12, '0.001': 30 };
/** Largest time of hourly buys at their own instants, relative to a loop over all bars. */
const TARGET_SLICES = 1 / 20;
/** Warm-up of each contestant; the very first run has its own column. */
const WARM_UP_MS = 500;
const SAMPLE_MS = 12;
const ROUNDS_OF_GENERIC = '0.05';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '9' },
    minutes: { type: 'string', default: String(MINUTES) },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const tapes = benchTapes(Number(values.seed), Number(values.minutes));
const bars = tapes.reduce((sum, { rows }) => sum + rows, 0);

const timed = <T>(run: () => T): { readonly ms: number; readonly result: T } => {
  const begun = performance.now();
  const result = run();
  return { ms: performance.now() - begun, result };
};

const built = timed(() => tapes.map((tape): History => ({ tape, index: indexPrices(tape) })));
const histories = built.result;

interface Looked {
  readonly blocks: number;
  readonly rows: number;
  readonly doubts: number;
}

interface Asked {
  readonly from: number;
  readonly held: Float64Array;
  readonly cash: number;
  isBreach(rows: Int32Array): boolean;
}
type Next = (asked: Asked) => number | undefined;

const [first] = tapes;
if (first === undefined) throw new Error('no tapes');
const valuations = tapes.map((_, pair) => ({ pair }));
const bandAt = (threshold: string): Band =>
  bandOf([...tapes.map(() => ratio('0.2')), NOTHING], { driftType: 'absolute', threshold });

/** Runs from one breach to the next, with the arithmetic of the loops where rounding could matter. */
function rebalanced(threshold: string, next: Next): Outcome {
  const portfolio = new Equal(tapes);
  const { held } = portfolio;
  const isBreach = (rows: Int32Array): boolean => portfolio.isBeyond(rows[0] ?? 0, Number(threshold));
  portfolio.rebalance(0);
  const known = knownAt(first as Tape, 0);
  let at = next({ from: known + 1, held, cash: 0, isBreach });
  while (at !== undefined) {
    portfolio.rebalance((at - known) / MINUTE);
    at = next({ from: at + 1, held, cash: 0, isBreach });
  }
  return portfolio.outcome();
}

/** Runs the solver alone. */
function solved(threshold: string): Outcome & Looked {
  const search = driftSearch(histories, valuations, bandAt(threshold));
  return { ...rebalanced(threshold, (asked) => search.next(asked)), ...search.looked };
}

/**
 * Measures all contestants in alternating rounds, so that a slow minute of the machine slows all of them. A short run is repeated
 * until it takes as long as a long one: otherwise one switch to another process would affect only the short one.
 */
function race(contestants: Readonly<Record<string, () => Outcome & Partial<Looked>>>) {
  const runs = Object.entries(contestants).map(([name, run]) => {
    const { ms: firstMs, result } = timed(run);
    const warmUntil = performance.now() + WARM_UP_MS;
    while (performance.now() < warmUntil) run();
    const times = Math.ceil(SAMPLE_MS / Math.min(timed(run).ms, timed(run).ms));
    return { name, run, firstMs, result, times, ms: [] as number[] };
  });
  for (let round = 0; round < rounds; round++) {
    for (const { run, ms, times } of runs) {
      run(); // fills the caches as a run of this kind does, as in a sweep over settings
      const { ms: together } = timed(() => {
        for (let i = 0; i < times; i++) run();
      });
      ms.push(together / times);
    }
  }
  return runs;
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
const wrong: string[] = [];
const missed: string[] = [];
const rows: Record<string, string | number>[] = [];
type Raced = ReturnType<typeof race>[number];
const mid = (one: Raced | undefined): number => median(one?.ms ?? []);

/** Checks a target: a contestant may take at most this fraction of another one. */
function atMost(part: number, one: Raced | undefined, other: Raced | undefined, what: string): string {
  const took = mid(one) / mid(other);
  if (took > part)
    missed.push(
      `${what}: ${one?.name} took ${round(took, 3)} of ${other?.name}, more than ${round(part, 3)}`,
    );
  return `≤ ${round(part, 3)}`;
}

function addRow(
  work: string,
  one: Raced,
  {
    of,
    bars: all,
    targets,
  }: { readonly of: Raced | undefined; readonly bars: number; readonly targets: string },
): void {
  const { name, firstMs, ms, result } = one;
  rows.push({
    work,
    run: name,
    firstMs: round(firstMs, 1),
    minMs: round(Math.min(...ms), 3),
    medianMs: round(median(ms), 3),
    'M bars/s': round(all / median(ms) / 1000, 0),
    'of tight': round(median(ms) / mid(of), 4),
    target: targets,
    trades: result.trades,
    value: result.value,
    blocks: result.blocks ?? '',
    rows: result.rows ?? '',
    doubts: result.doubts ?? '',
  });
}

for (const [band, target] of Object.entries(TARGETS)) {
  const threshold = Number(band);
  const work = `rebalance ${round(threshold * 100, 1)} %`;
  const raced = race({
    'tight loop': () => tightLoop(tapes, threshold),
    ...(band === ROUNDS_OF_GENERIC ? { 'generic loop': () => genericLoop(tapes, threshold) } : {}),
    solver: () => solved(band),
  });
  const [tight] = raced;
  const named = (name: string): Raced | undefined => raced.find((one) => one.name === name);
  const targets: Record<string, string> = {
    solver: atMost(target, named('solver'), tight, work),
  };
  for (const one of raced) {
    const { rebalancings, value } = one.result;
    if (rebalancings !== tight?.result.rebalancings || !Object.is(value, tight.result.value))
      wrong.push(`${one.name} at ${band} made other trades`);
    addRow(work, one, { of: tight, bars, targets: targets[one.name] ?? '' });
  }
}

const dca = race({
  'every bar': () => dcaEveryBar(first),
  'slices only': () => dcaSlices(first),
  'slices, found by their times': () => dcaFound(first),
});
const [everyBar] = dca;
for (const one of dca) {
  if (!Object.is(one.result.value, everyBar?.result.value)) wrong.push(`${one.name} made other buys`);
  const isBound = one.name === 'slices only';
  const targets = isBound ? atMost(TARGET_SLICES, one, everyBar, 'hourly buys') : '';
  addRow('hourly buys', one, { of: everyBar, bars: first.rows, targets });
}

const facts = {
  bars,
  indexBuildMs: round(built.ms, 1),
  peakMB: round(process.resourceUsage().maxRSS / 1024, 0),
  load: round(loadavg()[0] ?? 0, 2),
};
const failures = [...wrong, ...missed];
if (values.json) console.log(JSON.stringify({ bench: 'backtest', wrong, missed, ...facts, results: rows }));
else {
  console.log(table(rows));
  console.log('\nof tight: of the first row of the same work; first: the very first run, nothing compiled; rows and blocks: what a run looked at; doubts: rows that decimals decided\n'); // prettier-ignore
  console.log(table([facts]));
  console.log(failures.length === 0 ? 'the same trades everywhere, and every target reached' : `MISSED: ${failures.join('; ')}`); // prettier-ignore
}
process.exitCode = wrong.length > 0 || (values.check && missed.length > 0) ? 1 : 0;
