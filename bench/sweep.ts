/**
 * Measures how busy a sweep keeps the cores: 200 settings of a TWAP over a year of minutes, as `tranche sweep` runs them, from its
 * arguments to its files. Prices come from `--data FILE`, else from a random walk. CPU is user and system time of the process,
 * relative to wall time and threads: other load on the machine lowers it. Ready is CPU plus the time in which its threads could
 * have run but the system ran other work (Linux): the part of an idle machine that the sweep would use. Exit code 1 when that is
 * below the target.
 *
 * Run: `node bench/sweep.ts [--data FILE] [--settings N] [--workers N] [--target PERCENT]`
 */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { runSweep } from '../src/app/commands/sweep.ts';
import { uniform } from '../src/core/uniform.ts';
import { backtestConfig } from '../test/app/support/desk-config.ts';
import { aRunIo } from '../test/support/run-io.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    settings: { type: 'string', default: '200' },
    workers: { type: 'string', default: String(availableParallelism()) },
    target: { type: 'string', default: '85' },
  },
});
const workers = Number(values.workers);
const settings = Number(values.settings);
const MINUTES = 525_600;
const CONFIG = backtestConfig({ balances: { usd: '5000000', btc: '10' }, dayUsd: '10000000' });
const STRATEGY = `
id: year
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '100', currency: btc }
duration: P360D
slices: 300
`;

/** Returns a year of minutes of a random walk, as CSV. */
function bars(): string {
  const lines = ['timestamp_ms,open,high,low,close,volume'];
  let close = 10_000;
  for (let n = 0; n < MINUTES; n++) {
    close = Math.max(100, Math.round((close + 20 * (uniform(1, n) - 0.5)) * 100) / 100);
    lines.push(`${Date.UTC(2018, 0, 1) + n * 60_000},${close},${close},${close},${close},1`);
  }
  return lines.join('\n');
}

/**
 * Starts sampling all threads of this process. The returned function stops it and returns the seconds for which they ran or waited
 * for a core, never more than `workers` at the same time. 0 where the system does not provide these times.
 */
function readyTime(): () => number {
  let [before, at, sum] = [threads(), performance.now(), 0];
  const look = (): void => {
    const [now, seconds] = [threads(), (performance.now() - at) / 1_000];
    let ready = 0;
    for (const [thread, ns] of now) ready += (ns - (before.get(thread) ?? 0)) / 1e9;
    sum += Math.min(ready, workers * seconds);
    before = now;
    at = performance.now();
  };
  const timer = setInterval(look, 100);
  return () => {
    clearInterval(timer);
    look();
    return sum;
  };
}

function threads(): ReadonlyMap<string, number> {
  const folder = '/proc/self/task';
  if (!existsSync(folder)) return new Map();
  return new Map(
    readdirSync(folder).flatMap((thread): readonly (readonly [string, number])[] => {
      try {
        const [ran = 0, waited = 0] = readFileSync(join(folder, thread, 'schedstat'), 'utf8')
          .split(' ')
          .map(Number);
        return [[thread, ran + waited]];
      } catch {
        return []; // the thread has ended
      }
    }),
  );
}

const cwd = mkdtempSync(join(tmpdir(), 'tranche-bench-sweep-'));
try {
  writeFileSync(join(cwd, 'config.yaml'), CONFIG);
  writeFileSync(join(cwd, 'desk.yaml'), STRATEGY);
  const data = values.data === undefined ? 'btcusd.csv' : resolve(values.data);
  if (values.data === undefined) writeFileSync(join(cwd, data), bars());
  const io = aRunIo({ cwd });
  const run = async (vary: string, out?: string): Promise<number> =>
    await runSweep(
      { config: 'config.yaml', data: [`btcusd=${data}`], model: 'normal', assume: [], seed: '1', vary: [vary], workers, top: 20, out },
      io,
    ); // prettier-ignore
  // The first run reads the tape into the cache, as before every second sweep of a user.
  await run('slices=300');
  const before = process.cpuUsage();
  const began = performance.now();
  const ready = readyTime();
  const code = await run(`slices=101..${100 + settings}/1`, 'out');
  const wall = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(before);
  const cpu = (user + system) / 1e6;
  const share = (seconds: number): number => (100 * seconds) / (wall * workers);
  const wanted = share(ready() || cpu);
  console.log(
    `${settings} settings, ${workers} threads: ${wall.toFixed(1)} s, ${(settings / wall).toFixed(1)} a second`,
  );
  console.log(
    `CPU ${cpu.toFixed(1)} s: ${share(cpu).toFixed(0)} % of ${workers} cores; ready ${wanted.toFixed(0)} % (target ${values.target} %)`,
  );
  process.exitCode = code === 0 && wanted >= Number(values.target) ? 0 : 1;
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
