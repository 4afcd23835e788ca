/**
 * Five years of minutes of five assets, prices made by a seed: rebalancing to equal weights at a drift band, and hourly buys
 * of one asset. The solver must make the same trades as a tight loop over typed arrays in the same run, to the last bit of
 * the final value, in a twentieth of its time at 5 %. Exit code 1 when it does not.
 *
 * Run: `node bench/backtest.ts [--seed S] [--rounds N] [--minutes N] [--json]`
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { bandOf } from '../src/backtest/band.ts';
import { driftSearch } from '../src/backtest/drift.ts';
import type { History } from '../src/backtest/history.ts';
import { indexBytes, readIndex } from '../src/backtest/index-file.ts';
import { indexPrices } from '../src/backtest/index.ts';
import { knownAt, lastKnownRow } from '../src/backtest/tape.ts';
import { NOTHING, ratio } from '../src/core/money.ts';
import {
  benchTapes,
  dcaEveryBar,
  dcaSlices,
  Equal,
  genericLoop,
  MINUTES,
  tightLoop,
} from './backtest-work.ts';
import type { Outcome } from './backtest-work.ts';
import { median, table } from './measure.ts';

const TARGET = 1 / 20;
/** Each runs so long before it is measured; the very first run stands in a column of its own. */
const WARM_UP_MS = 500;
const SAMPLE_MS = 12;
const TARGET_BAND = '0.05';
const BANDS = [TARGET_BAND, '0.01', '0.003'];

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '9' },
    minutes: { type: 'string', default: String(MINUTES) },
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
const bytes = histories.map(({ index }) => indexBytes(index));
const read = timed(() => tapes.map((tape, i) => readIndex(bytes[i] ?? new Uint8Array(0), tape)));
if (read.result.includes(undefined)) throw new Error('an index was not read back');

interface Looked {
  readonly blocks: number;
  readonly rows: number;
  readonly doubts: number;
}

/** The solver alone: from one breach to the next, with the arithmetic of the loops where rounding could matter. */
function solved(threshold: string): Outcome & Looked {
  const portfolio = new Equal(tapes);
  const [first] = tapes;
  if (first === undefined) throw new Error('no tapes');
  const targets = [...tapes.map(() => ratio('0.2')), NOTHING];
  const band = bandOf(targets, { driftType: 'absolute', threshold });
  const search = driftSearch(histories, tapes.map((_, pair) => ({ pair })), band); // prettier-ignore
  const { held } = portfolio;
  const isBreach = (rows: Int32Array): boolean => portfolio.isBeyond(rows[0] ?? 0, Number(threshold));
  portfolio.rebalance(0);
  let at = search.next({ from: knownAt(first, 0) + 1, held, cash: 0, isBreach });
  while (at !== undefined) {
    portfolio.rebalance(lastKnownRow(first, at));
    at = search.next({ from: at + 1, held, cash: 0, isBreach });
  }
  return { ...portfolio.outcome(), ...search.looked };
}

/**
 * Rounds of all contestants alternate, so that a slow minute of the machine slows all of them. A short run is repeated until
 * it has taken as long as a long one: else one switch to another process would count for the short one alone.
 */
function race<T>(contestants: Readonly<Record<string, () => T>>) {
  const runs = Object.entries(contestants).map(([name, run]) => {
    const { ms: firstMs, result } = timed(run);
    const warmUntil = performance.now() + WARM_UP_MS;
    while (performance.now() < warmUntil) run();
    const times = Math.ceil(SAMPLE_MS / Math.min(timed(run).ms, timed(run).ms));
    return { name, run, firstMs, result, times, ms: [] as number[] };
  });
  for (let round = 0; round < rounds; round++) {
    for (const { run, ms, times } of runs) {
      run(); // caches hold what a run of this kind leaves, as in a sweep over settings
      const { ms: together } = timed(() => {
        for (let i = 0; i < times; i++) run();
      });
      ms.push(together / times);
    }
  }
  return runs;
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
const failures: string[] = [];
const rows = [];
for (const band of BANDS) {
  const threshold = Number(band);
  const raced = race<Outcome & Partial<Looked>>({
    'tight loop': () => tightLoop(tapes, threshold),
    'generic loop': () => genericLoop(tapes, threshold),
    solver: () => solved(band),
  });
  const [tight] = raced;
  for (const { name, firstMs, ms, result } of raced) {
    const isSame =
      result.rebalancings === tight?.result.rebalancings && Object.is(result.value, tight?.result.value);
    if (!isSame) failures.push(`${name} at ${band} made other trades`);
    const toTight = median(ms) / median(tight?.ms ?? []);
    if (name === 'solver' && band === TARGET_BAND && toTight > TARGET)
      failures.push(`the solver took ${round(toTight, 4)} of the tight loop, more than 1/20`);
    rows.push({
      work: `rebalance ${round(threshold * 100, 1)} %`,
      run: name,
      firstMs: round(firstMs, 1),
      minMs: round(Math.min(...ms), 3),
      medianMs: round(median(ms), 3),
      'M bars/s': round(bars / median(ms) / 1000, 0),
      'of tight': round(toTight, 4),
      trades: result.trades ?? 0,
      value: result.value ?? 0,
      blocks: result.blocks ?? '',
      rows: result.rows ?? bars / tapes.length,
      doubts: result.doubts ?? '',
    });
  }
}

const [one] = tapes;
if (one === undefined) throw new Error('no tapes');
const dca = race({ 'every bar': () => dcaEveryBar(one), 'slices only': () => dcaSlices(one) });
for (const { name, firstMs, ms, result } of dca) {
  if (!Object.is(result.quantity, dca[0]?.result.quantity)) failures.push(`${name} made other buys`);
  rows.push({
    work: 'hourly buys',
    run: name,
    firstMs: round(firstMs, 1),
    minMs: round(Math.min(...ms), 3),
    medianMs: round(median(ms), 3),
    'M bars/s': round(one.rows / median(ms) / 1000, 0),
    'of tight': round(median(ms) / median(dca[0]?.ms ?? []), 4),
    trades: result.trades ?? 0,
    value: result.quantity ?? 0,
    blocks: '',
    rows: name === 'every bar' ? one.rows : (result.trades ?? 0),
    doubts: '',
  });
}

const facts = {
  bars,
  indexBuildMs: round(built.ms, 1),
  indexReadMs: round(read.ms, 1),
  indexMB: round(bytes.reduce((sum, each) => sum + each.length, 0) / 1e6, 1),
  peakMB: round(process.resourceUsage().maxRSS / 1024, 0),
  load: round(loadavg()[0] ?? 0, 2),
};
if (values.json)
  console.log(JSON.stringify({ bench: 'backtest', target: TARGET, failures, ...facts, results: rows }));
else {
  console.log(table(rows));
  console.log('\nfirst: the very first run, nothing compiled; rows and blocks: what a run looked at; doubts: rows that decimals decided\n'); // prettier-ignore
  console.log(table([facts]));
  console.log(`solver at ${TARGET_BAND}: the same trades in 1/20 of the tight loop: ${failures.length === 0 ? 'reached' : `MISSED: ${failures.join('; ')}`}`); // prettier-ignore
}
process.exitCode = failures.length === 0 ? 0 : 1;
