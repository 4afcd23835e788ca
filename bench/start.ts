/**
 * Measures how long `tranche run` takes from its start to `ready`, compared with a bare `node -e 0` in the same run, against a
 * venue that already runs in another process; and the resident memory of an idle daemon with 100 strategies. Exit code 1 when a
 * target is missed.
 *
 * Run: `node bench/start.ts [--rounds N] [--json]`
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownEnvironment, residentMb, startTranche, stopTranche, writeDesk, writeVenue } from './daemon.ts';
import type { Running } from './daemon.ts';
import { median, table } from './measure.ts';

const TARGET = { readyMs: 700, residentMb: 150 };
const at = process.argv.indexOf('--rounds');
const ROUNDS = at < 0 ? 7 : Number(process.argv[at + 1]);
const STRATEGIES = 100;
const IDLE_MS = 20_000;

const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'));
// Uses its own cache of compiled code, which the first start fills, as the first start after an installation does.
const env = { XDG_CACHE_HOME: join(folder, 'cache') };

function bareNode(): number {
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, ['-e', '0'], { env: ownEnvironment(env) });
  if (status !== 0) throw new Error('bare node did not run');
  return performance.now() - begun;
}

const run = async (config: string): Promise<Running> =>
  await startTranche(['run', '--json', '--config', config], (line) => line['event'] === 'ready', env);

async function stop(running: Running): Promise<void> {
  const code = await stopTranche(running);
  if (code !== 0) throw new Error(`tranche ended with ${String(code)} on SIGTERM`);
}

async function measure(): Promise<void> {
  // Each start has its own account, because the venue allows one read of the transactions of an account in ten seconds.
  const options = writeVenue(folder, ROUNDS + 2);
  const venue = await startTranche(
    ['venue', '--port', '0', '--config', options],
    (line) => 'base_url' in line,
    env,
  );
  const tokens = [...(venue.line['tokens'] as readonly string[])];
  const desk = (strategies: number): string => {
    const token = tokens.pop() ?? '';
    return writeDesk({
      baseUrl: String(venue.line['base_url']),
      token,
      folder: join(folder, token),
      strategies,
    });
  };

  const first = await run(desk(2));
  await stop(first);
  const bare: number[] = [];
  const ready: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(bareNode());
    const running = await run(desk(2));
    ready.push(running.readyMs);
    await stop(running);
  }
  const idle = await run(desk(STRATEGIES));
  await sleep(IDLE_MS);
  const memory = residentMb(idle.process.pid ?? 0);
  await stop(idle);
  await stopTranche(venue);
  report({ first: first.readyMs, bare, ready, many: idle.readyMs, memory });
}

interface Measured {
  readonly first: number;
  readonly bare: readonly number[];
  readonly ready: readonly number[];
  readonly many: number;
  readonly memory: { readonly now: number; readonly peak: number };
}

function report({ first, bare, ready, many, memory }: Measured): void {
  const floor = median(bare);
  const row = (what: string, ms: number): Readonly<Record<string, string>> => ({
    what,
    ms: ms.toFixed(0),
    overBareNode: (ms / floor).toFixed(1),
    ofTarget: (ms / TARGET.readyMs).toFixed(2),
  });
  const reached = median(ready) <= TARGET.readyMs && memory.now <= TARGET.residentMb;
  const figures = {
    bareMs: floor,
    readyMs: median(ready),
    readyBestMs: Math.min(...ready),
    firstReadyMs: first,
    manyReadyMs: many,
    residentMb: memory.now,
    residentPeakMb: memory.peak,
  };
  process.exitCode = reached ? 0 : 1;
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ bench: 'start', target: TARGET, reached, results: figures }));
    return;
  }
  console.log(
    table([
      row(`node -e 0, median of ${ROUNDS}`, floor),
      row(`run to ready, median of ${ROUNDS}`, figures.readyMs),
      row('run to ready, best', figures.readyBestMs),
      row('run to ready, nothing cached', first),
      row(`run to ready, ${STRATEGIES} strategies`, many),
    ]),
  );
  console.log(
    `resident after ${IDLE_MS / 1000} s idle with ${STRATEGIES} strategies: ${memory.now.toFixed(0)} MB (peak ${memory.peak.toFixed(0)}), ${(memory.now / TARGET.residentMb).toFixed(2)} of target`,
  );
  console.log(
    `target: ready in ${TARGET.readyMs} ms, ${TARGET.residentMb} MB resident: ${reached ? 'reached' : 'MISSED'}`,
  );
}

try {
  await measure();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
