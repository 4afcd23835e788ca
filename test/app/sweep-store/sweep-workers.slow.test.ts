import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { noPostgres, startPostgres } from '../../journal/postgres-server.ts';
import { sweep, sweepFolder } from '../support/sweep.ts';

const missing = noPostgres();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;
const PROGRAM = resolve(import.meta.dirname, '../../../bin/tranche.js');
const LINE = ['--vary', 'slices=1..60/1', '--vary', 'total_quantity.amount=0.5,1,1.5,2,2.5'];

/** A worker process with one thread, which the end of the test kills. */
async function aWorker(url: string): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [PROGRAM, 'worker', '--store', url, '--threads', '1'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(async () => {
    if (worker.exitCode !== null || worker.signalCode !== null) return;
    worker.kill('SIGKILL');
    await once(worker, 'exit');
  });
  await once(worker.stderr, 'data');
  return worker;
}

describe.skipIf(missing !== undefined)(`sweep workers${because}`, () => {
  it('take over the chunk of a killed worker within 15 s and produce the files of a local sweep', async () => {
    const server = await startPostgres();
    onTestFinished(server.stop);
    const url = `postgres://tranche@localhost/postgres?host=${encodeURIComponent(server.home)}`;
    const cwd = sweepFolder();
    await sweep(cwd, ['prepare', '--store', url]);
    const admin = new pg.Client(url);
    await admin.connect();
    onTestFinished(async () => {
      await admin.end();
    });
    const [first] = await Promise.all([aWorker(url), aWorker(url)]);
    const running = sweep(cwd, [...LINE, '--out', 'shared', '--store', url]);
    const count = async (from: string): Promise<number> =>
      (await admin.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${from}`)).rows[0]?.n ?? 0;
    // The worker is stopped while both workers run a chunk.
    await vi.waitFor(
      async () => {
        first.kill('SIGSTOP');
        const isAtWork =
          (await count("tranche_sweep.job WHERE state = 'completed'")) >= 1 &&
          (await count("tranche_sweep.job WHERE state = 'active'")) === 2;
        if (!isAtWork) first.kill('SIGCONT');
        expect(isAtWork).toBe(true);
      },
      { timeout: 20_000, interval: 20 },
    );
    first.kill('SIGKILL');
    const killedAt = performance.now();
    await vi.waitFor(
      async () => {
        // The chunk is back in the queue or taken from it again: the other worker may have to finish its own chunk first.
        expect(await count("tranche_sweep.job WHERE state = 'retry' OR retry_count = 1")).toBe(1);
      },
      { timeout: 20_000, interval: 50 },
    );
    expect(performance.now() - killedAt).toBeLessThan(15_000);
    const shared = await running;
    expect(shared.code).toBe(0);
    expect((await sweep(cwd, [...LINE, '--out', 'local'])).code).toBe(0);
    for (const file of ['results.json', 'results.csv'])
      expect(readFileSync(join(cwd, 'shared', file)).equals(readFileSync(join(cwd, 'local', file)))).toBe(true);
  }, 150_000); // prettier-ignore
});
