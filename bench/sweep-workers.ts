/**
 * Measures the gain from a second worker: a sweep of 2,000 settings of a TWAP of 480 slices over a day of minutes, through a real PostgreSQL, with one
 * worker of one thread, then with two, then with two of which one is killed in the middle, then on two threads of one process. Each sweep has
 * its own seed, except for the last two, whose files must be equal byte for byte.
 *
 * Each worker stands for a machine, so it gets one core of its own (Linux, `taskset`). Otherwise the one worker would use the core of the
 * other for V8's own threads, which collect garbage and compile. The server and the command that waits for the workers use what the workers
 * leave. Each worker compiles the program's code anew: with fewer slices, the ratio is smaller. Exit code 1 when the ratio of wall times
 * is below the target, or the files differ.
 *
 * Run: `npm run bench:sweep-workers -- [--settings N] [--slices N] [--target RATIO]`
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { uniform } from '../src/core/uniform.ts';
import { backtestConfig } from '../test/app/support/desk-config.ts';
import { startPostgres } from '../test/journal/postgres-server.ts';

const { values } = parseArgs({
  options: {
    settings: { type: 'string', default: '2000' },
    target: { type: 'string', default: '1.8' },
    slices: { type: 'string', default: '480' },
  },
});
const settings = Number(values.settings);
const PROGRAM = resolve(import.meta.dirname, '../bin/tranche.js');
const STRATEGY = `
id: day
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '10', currency: btc }
duration: PT23H
slices: ${values.slices}
`;

/** Returns a day of minutes of a random walk, as CSV. */
function bars(): string {
  const lines = ['timestamp_ms,open,high,low,close,volume'];
  let close = 10_000;
  for (let n = 0; n < 1_440; n++) {
    close = Math.max(100, Math.round((close + 20 * (uniform(1, n) - 0.5)) * 100) / 100);
    lines.push(`${Date.UTC(2018, 0, 1) + n * 60_000},${close},${close},${close},${close},1`);
  }
  return lines.join('\n');
}

const cwd = mkdtempSync(join(tmpdir(), 'tranche-bench-workers-'));
const server = await startPostgres();
const url = `postgres://tranche@localhost/postgres?host=${encodeURIComponent(server.home)}`;
const workers: ChildProcess[] = [];
const isPinned = [0, 1].every((core) => spawnSync('taskset', ['-c', String(core), 'true']).status === 0);

async function aWorker(core: number): Promise<ChildProcess> {
  const line = [process.execPath, PROGRAM, 'worker', '--store', url, '--threads', '1'];
  const [program = '', ...rest] = isPinned ? ['taskset', '-c', String(core), ...line] : line;
  const worker = spawn(program, rest, { stdio: ['ignore', 'ignore', 'pipe'] });
  workers.push(worker);
  await once(worker.stderr, 'data');
  return worker;
}

async function endWorkers(): Promise<void> {
  for (const worker of workers.splice(0)) {
    if (worker.exitCode !== null || worker.signalCode !== null) continue;
    worker.kill('SIGTERM');
    await once(worker, 'exit');
  }
}

async function tranche(line: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, ...line], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const code: unknown = (await once(child, 'exit'))[0];
  if (code !== 0) throw new Error(`tranche ${line.join(' ')} ended with ${String(code)}:\n${said}`);
}

/** Runs a sweep. @returns seconds */
async function sweep(seed: string, out: string, more: readonly string[]): Promise<number> {
  const amounts = `total_quantity.amount=1..${settings}/1`;
  const began = performance.now();
  await tranche(['sweep', 'desk.yaml', '--config', 'config.yaml', '--data', 'btcusd=btc.csv', '--model', 'tight', '--seed', seed, '--vary', amounts, '--out', out, ...more]);
  return (performance.now() - began) / 1_000;
} // prettier-ignore

/** Runs a sweep on workers that are already running. @returns seconds */
async function shared(seed: string, count: number): Promise<number> {
  await Promise.all(Array.from({ length: count }, async (_, core) => await aWorker(core)));
  const wall = await sweep(seed, `shared-${seed}`, ['--store', url]);
  await endWorkers();
  return wall;
}

/** Kills the first of two workers when half of the chunks have ended. @returns seconds */
async function killed(seed: string): Promise<number> {
  const [victim] = await Promise.all([aWorker(0), aWorker(1)]);
  const admin = new pg.Client(url);
  await admin.connect();
  const count = async (where: string): Promise<number> =>
    (await admin.query<{ n: number }>(`SELECT count(*)::int AS n FROM tranche_sweep.job WHERE ${where}`))
      .rows[0]?.n ?? 0;
  const running = sweep(seed, `shared-${seed}`, ['--store', url]);
  const isOfSweep = "data->>'sweep' IN (SELECT id FROM tranche_sweep.sweep)";
  for (
    let all = 0;
    all === 0 || (await count(`${isOfSweep} AND state <> 'completed'`)) > all / 2;
    all = await count(isOfSweep)
  )
    await sleep(50);
  victim.kill('SIGKILL');
  const wall = await running;
  await admin.end();
  await endWorkers();
  return wall;
}

try {
  writeFileSync(
    join(cwd, 'config.yaml'),
    backtestConfig({ balances: { usd: '50000000', btc: '10' }, dayUsd: '100000000' }),
  );
  writeFileSync(join(cwd, 'desk.yaml'), STRATEGY);
  writeFileSync(join(cwd, 'btc.csv'), bars());
  await tranche(['sweep', 'prepare', '--store', url]);
  console.log(
    isPinned
      ? 'each worker has one core'
      : 'the workers share all cores: no taskset, or not the cores 0 and 1',
  );
  const one = await shared('1', 1);
  console.log(`${settings} settings, one worker: ${one.toFixed(1)} s`);
  const two = await shared('2', 2);
  const ratio = one / two;
  console.log(`two workers: ${two.toFixed(1)} s; ratio ${ratio.toFixed(2)} (target ${values.target})`);
  console.log(`two workers, one killed in the middle: ${(await killed('3')).toFixed(1)} s`);
  console.log(`two threads of one process: ${(await sweep('3', 'local', ['--workers', '2'])).toFixed(1)} s`);
  const isSame = ['results.json', 'results.csv', 'results.html'].every((file) =>
    readFileSync(join(cwd, 'shared-3', file)).equals(readFileSync(join(cwd, 'local', file))),
  );
  console.log(isSame ? 'same files, byte for byte' : 'THE FILES DIFFER');
  process.exitCode = isSame && ratio >= Number(values.target) ? 0 : 1;
} finally {
  for (const worker of workers) worker.kill('SIGKILL');
  await server.stop();
  rmSync(cwd, { recursive: true, force: true });
}
