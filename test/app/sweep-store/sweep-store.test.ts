import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { inChunks } from '../../../src/app/sweep/store/submit-sweep.ts';
import { serveSweeps } from '../../../src/app/sweep/store/sweep-service.ts';
import { noPostgres, startPostgres } from '../../journal/postgres-server.ts';
import type { PostgresServer } from '../../journal/postgres-server.ts';
import { expectRan } from '../../support/command.ts';
import { sweep, sweepFolder } from '../support/sweep.ts';

const missing = noPostgres();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;

it('inChunks divides a sweep into bounded chunks that become smaller towards the end, and keeps the order', () => {
  const runs = Array.from({ length: 2_000 }, (_, i) => i);
  const chunks = inChunks(runs);
  expect(chunks.flat()).toEqual(runs);
  const sizes = chunks.map(({ length }) => length);
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
  expect([sizes[0], sizes.at(-1), sizes.length]).toEqual([25, 1, 191]);
  expect([0, 1, 18].map((count) => inChunks(runs.slice(0, count)).length)).toEqual([0, 1, 18]);
});

describe.skipIf(missing !== undefined)(`a sweep through PostgreSQL${because}`, () => {
  let server: PostgresServer;
  const urlOf = (user: string): string =>
    `postgres://${user}@localhost/postgres?host=${encodeURIComponent(server.home)}`;
  const owner = (): string => urlOf('tranche');
  const sql = async (text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> => {
    const client = new pg.Client(owner());
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }; // prettier-ignore
  /** Runs a worker until it fails or the test ends. */
  const work = async (url = owner()): Promise<void> => {
    const stop = new AbortController();
    const ended = serveSweeps({ url, threads: 2, stop: stop.signal, say: () => undefined });
    onTestFinished(async () => {
      stop.abort();
      await ended.catch(() => undefined);
    });
    await ended;
  };
  /** Waits until a sweep has queued its chunks. Returns its id. */
  const waiting = async (): Promise<string> =>
    await vi.waitFor(
      async () => {
        const [row] = await sql(
          "SELECT id FROM tranche_sweep.sweep s WHERE EXISTS (SELECT FROM tranche_sweep.job WHERE data->>'sweep' = s.id)",
        );
        expect(row).toBeDefined();
        return String(row?.['id']);
      },
      { timeout: 20_000, interval: 100 },
    );
  const noSweep = async (): Promise<void> =>
    expect(
      await sql('SELECT id FROM tranche_sweep.sweep UNION SELECT sweep FROM tranche_sweep.tape'),
    ).toEqual([]);

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.stop();
  });

  it('is refused without tables in the store, without a server, and with a password in the URL', async () => {
    const cwd = sweepFolder();
    const prepare = 'is not prepared for sweeps of this version: run "tranche sweep prepare --store URL"';
    for (const [code, store, says] of [
      [78, owner(), prepare],
      [69, 'postgres://tranche@127.0.0.1:1/x', 'cannot be used'],
      [78, 'postgres://a:b@localhost/x', '--store: the URL contains a password'],
    ] as const)
      expectRan(await sweep(cwd, ['--vary', 'slices=4', '--store', store]), code, says);
    expectRan(await sweep(cwd, ['prepare']), 64, 'name the database with --store');
  });

  it('produces the files of a local sweep, with a role without rights on journals', async () => {
    await sql('CREATE ROLE worker LOGIN');
    await sql('CREATE ROLE stranger LOGIN');
    const cwd = sweepFolder();
    const prepared = await sweep(cwd, ['prepare', '--store', owner(), '--grant', 'worker']);
    expect(prepared.out).toContain('ready; worker may submit sweeps');
    expect((await sweep(cwd, ['prepare', '--store', owner()])).code).toBe(0);
    await expect(work(urlOf('stranger'))).rejects.toThrow('the role lacks a privilege');
    const line = ['--vary', 'slices=1..6/1', '--walk-forward', '2'];
    expect((await sweep(cwd, [...line, '--out', 'local'])).code).toBe(0);
    void work(urlOf('worker')).catch(() => undefined);
    const shared = await sweep(cwd, [...line, '--out', 'shared', '--store', urlOf('worker')]);
    expectRan(shared, 0, '18 runs in 18 chunks wait for workers of version');
    for (const file of ['results.json', 'results.csv'])
      expect(readFileSync(join(cwd, 'shared', file), 'utf8')).toBe(readFileSync(join(cwd, 'local', file), 'utf8'));
    await noSweep();
  }, 60_000); // prettier-ignore

  it('is cancelled when its command is interrupted, and the same command resumes it', async () => {
    const cwd = sweepFolder();
    void work().catch(() => undefined);
    const line = ['--vary', 'slices=1..60/1', '--seed', '4', '--out', 'out', '--store', owner()];
    expectRan(await sweep(cwd, line, { interrupted: true }), 75, 'sweep stopped early');
    await noSweep();
    expect(await sql("SELECT FROM tranche_sweep.job WHERE state < 'active'")).toEqual([]);
    expectRan(await sweep(cwd, line), 0, 'of 60 runs are already done and are not repeated');
  }, 60_000); // prettier-ignore

  it('is dropped by workers if its command no longer waits', async () => {
    const running = sweep(sweepFolder(), ['--vary', 'slices=4', '--store', owner()]);
    const id = await waiting();
    await sql('DELETE FROM tranche_sweep.sweep WHERE id = $1', [id]);
    expectRan(await running, 75, 'the workers dropped the sweep');
    // A chunk that outlives its command, such as one that was killed.
    await sql("UPDATE tranche_sweep.job SET state = 'created' WHERE data->>'sweep' = $1", [id]);
    void work().catch(() => undefined);
    await vi.waitFor(
      async () => {
        const [job] = await sql("SELECT state, output FROM tranche_sweep.job WHERE data->>'sweep' = $1", [id]);
        expect(job).toEqual({ state: 'completed', output: { outcomes: '[]' } });
      },
      { timeout: 20_000, interval: 100 },
    );
  }, 60_000); // prettier-ignore

  it('fails if no worker can complete a chunk, because its data are damaged or its workers die', async () => {
    const damaged = sweep(sweepFolder(), ['--vary', 'slices=4', '--store', owner()]);
    await waiting();
    await sql('UPDATE tranche_sweep.tape SET bytes = substr(bytes, 99)');
    void work().catch(() => undefined);
    expectRan(await damaged, 70, 'a chunk of the sweep cannot end');

    const deadly = sweep(sweepFolder(), ['--vary', 'slices=200..300/1', '--seed', '9', '--store', owner()]);
    await waiting();
    await sql("UPDATE tranche_sweep.job SET state = 'failed', output = '{\"message\": \"heartbeat\"}' WHERE state < 'completed'");
    expectRan(await deadly, 70, 'its workers died or stopped 11 times');
  }, 60_000); // prettier-ignore

  it('continues when the database server is back', async () => {
    void work().catch(() => undefined);
    const running = sweep(sweepFolder(), ['--vary', 'slices=12..30/1', '--seed', '3', '--store', owner()]);
    await waiting();
    await server.kill();
    await server.start();
    expect((await running).code).toBe(0);
  }, 60_000); // prettier-ignore
});
