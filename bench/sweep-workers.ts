/**
 * Measures the gain from a second worker: a sweep of 2,000 settings of a TWAP of 240 slices over a day of minutes, through a real PostgreSQL, with one
 * worker of one thread, then with two, then with two of which one is killed in the middle, then on threads of this process. Each sweep has
 * its own seed, so that the store knows no result, except for the last two, whose files must be equal byte for byte. It compares wall time,
 * and wall time minus the time in which the thread of a worker could have run but the system ran other work (Linux): other load on the
 * machine distorts the first ratio. Exit code 1 when the second ratio is below the target, or the files differ.
 *
 * Run: `npm run bench:sweep-workers -- [--settings N] [--slices N] [--target RATIO]`
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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
    slices: { type: 'string', default: '240' },
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

async function aWorker(): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [PROGRAM, 'worker', '--store', url, '--threads', '1'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
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

/**
 * Returns the times of the busiest thread of a process: seconds that it ran, and seconds that it could have run while the system
 * ran other work (Linux; else 0).
 */
function timesOf({ pid }: ChildProcess): { readonly ran: number; readonly waited: number } {
  const folder = `/proc/${pid}/task`;
  if (!existsSync(folder)) return { ran: 0, waited: 0 };
  const threads = readdirSync(folder).map((thread) => {
    const [ran = 0, waited = 0] = readFileSync(join(folder, thread, 'schedstat'), 'utf8').split(' ').map(Number);
    return { ran: ran / 1e9, waited: waited / 1e9 };
  });
  return threads.reduce((most, one) => (one.ran > most.ran ? one : most));
} // prettier-ignore

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

interface Measured {
  readonly wall: number;
  /** Wall time minus the time for which the worker that waited least waited for a core. */
  readonly unhindered: number;
  readonly ran: readonly number[];
}

/** Runs a sweep on workers that are already running. */
async function shared(seed: string, count: number): Promise<Measured> {
  await Promise.all(Array.from({ length: count }, aWorker));
  const wall = await sweep(seed, `shared-${seed}`, ['--store', url]);
  const times = workers.map(timesOf);
  await endWorkers();
  return {
    wall,
    unhindered: wall - Math.min(...times.map(({ waited }) => waited)),
    ran: times.map(({ ran }) => ran),
  };
}

/** Kills the first of two workers when half of the sweep is done. @returns seconds */
async function killed(seed: string): Promise<number> {
  const [victim] = await Promise.all([aWorker(), aWorker()]);
  const admin = new pg.Client(url);
  await admin.connect();
  const count = async (): Promise<number> =>
    (await admin.query<{ n: number }>('SELECT count(*)::int AS n FROM tranche_sweep.result')).rows[0]?.n ?? 0;
  const before = await count();
  const running = sweep(seed, `shared-${seed}`, ['--store', url]);
  while ((await count()) < before + settings / 2) await sleep(50);
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
  const text = ({ wall, unhindered, ran }: Measured): string =>
    `${wall.toFixed(1)} s; ${unhindered.toFixed(1)} s without waiting for a core; threads ran ${ran.map((x) => x.toFixed(1)).join(' + ')} s`;
  const one = await shared('1', 1);
  console.log(`${settings} settings, one worker: ${text(one)}`);
  const two = await shared('2', 2);
  console.log(`two workers: ${text(two)}`);
  const ratio = one.unhindered / two.unhindered;
  console.log(
    `ratio ${(one.wall / two.wall).toFixed(2)}, without waiting for a core ${ratio.toFixed(2)} (target ${values.target})`,
  );
  console.log(`two workers, one killed in the middle: ${(await killed('3')).toFixed(1)} s`);
  console.log(`this process: ${(await sweep('3', 'local', ['--workers', '2'])).toFixed(1)} s`);
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
