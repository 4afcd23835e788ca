import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { inChunks } from '../../../src/app/sweep/store/run-through-store.ts';
import { serveSweeps } from '../../../src/app/sweep/store/sweep-service.ts';
import { noPostgres, startPostgres } from '../../journal/postgres-server.ts';
import type { PostgresServer } from '../../journal/postgres-server.ts';
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
  const work = async (url = owner(), tapesFolder?: string): Promise<void> => {
    const stop = new AbortController();
    const ended = serveSweeps({ url, tapesFolder, threads: 1, stop: stop.signal, say: () => undefined });
    onTestFinished(async () => {
      stop.abort();
      await ended.catch(() => undefined);
    });
    await ended;
  };
  const waiting = async (): Promise<string> =>
    await vi.waitFor(
      async () => {
        const [row] = await sql(
          "SELECT id FROM tranche_sweep.sweep s WHERE state = 'running' AND EXISTS (SELECT FROM tranche_sweep_queue.job WHERE data->>'sweep' = s.id)",
        );
        expect(row).toBeDefined();
        return String(row?.['id']);
      },
      { timeout: 20_000, interval: 100 },
    );

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.stop();
  });

  it('is refused without tables in the store, without a server, and with a password in the URL', async () => {
    const cwd = sweepFolder();
    const bare = await sweep(cwd, ['--vary', 'slices=4', '--store', owner()]);
    expect(bare.code).toBe(78);
    expect(bare.err).toContain('is not prepared for sweeps: run "tranche sweep prepare --store URL"');
    const nobody = await sweep(cwd, ['--vary', 'slices=4', '--store', 'postgres://tranche@127.0.0.1:1/x']);
    expect(nobody.code).toBe(69);
    expect(nobody.err).toContain('cannot be used');
    const named = await sweep(cwd, ['--vary', 'slices=4', '--store', 'postgres://a:b@localhost/x']);
    expect(named.code).toBe(78);
    expect(named.err).toContain('--store: the URL contains a password');
    expect((await sweep(cwd, ['--vary', 'slices=4', '--tapes', '.'])).err).toContain('it requires --store');
  });

  it('produces the files of a local sweep with a role without rights on journals, and repeats no run', async () => {
    await sql('CREATE ROLE worker LOGIN');
    await sql('CREATE ROLE stranger LOGIN');
    const cwd = sweepFolder();
    const prepared = await sweep(cwd, ['prepare', '--store', owner(), '--grant', 'worker']);
    expect(prepared.out).toContain('layout 1; worker may submit sweeps');
    expect((await sweep(cwd, ['prepare', '--store', owner()])).code).toBe(0);
    await expect(work(urlOf('stranger'))).rejects.toThrow('the role lacks a privilege');
    const line = ['--vary', 'slices=1..6/1', '--walk-forward', '2'];
    expect((await sweep(cwd, [...line, '--out', 'local'])).code).toBe(0);
    void work(urlOf('worker')).catch(() => undefined);
    const first = await sweep(cwd, [...line, '--out', 'first', '--store', urlOf('worker')]);
    expect(first.code).toBe(0);
    expect(first.err).toContain('18 runs in 18 chunks wait for workers');
    const again = await sweep(cwd, [...line, '--out', 'again', '--store', urlOf('worker')]);
    expect(again.err).toContain('18 runs are already in the store and are not repeated');
    expect(again.err).not.toContain('wait for workers');
    for (const file of ['results.json', 'results.csv', 'results.html'])
      for (const folder of ['first', 'again'])
        expect(readFileSync(join(cwd, folder, file), 'utf8')).toBe(readFileSync(join(cwd, 'local', file), 'utf8'));
    // Another seed leads to another outcome.
    const other = await sweep(cwd, ['--vary', 'slices=6', '--seed', '2', '--store', urlOf('worker')]);
    expect(other.err).toContain('1 runs in 1 chunks wait for workers');
    expect((await sql('SELECT count(*)::int AS n FROM tranche_sweep.result'))[0]?.['n']).toBe(19);
    expect(await sql('SELECT * FROM tranche_sweep.chunk')).toEqual([]);
    expect(await sql("SELECT id FROM tranche_sweep.sweep WHERE state <> 'done'")).toEqual([]);
  }, 60_000); // prettier-ignore

  it('stops when it is cancelled, and keeps the finished runs', async () => {
    const cwd = sweepFolder();
    const running = sweep(cwd, ['--vary', 'slices=7..9/1', '--store', owner()]);
    const id = await waiting();
    const cancelled = await sweep(cwd, ['cancel', id, '--store', owner()]);
    expect(cancelled.out).toContain(`sweep ${id} is cancelled`);
    const stopped = await running;
    expect(stopped.code).toBe(75);
    expect(stopped.err).toContain(`sweep ${id} was cancelled`);
    const twice = await sweep(cwd, ['cancel', id, '--store', owner()]);
    expect(twice.code).toBe(64);
    expect(twice.err).toContain(`sweep ${id} is cancelled, not running`);
    // A worker removes the chunks of the sweep from the queue without running them.
    const before = await sql('SELECT count(*) FROM tranche_sweep.result');
    void work().catch(() => undefined);
    const left = "SELECT FROM tranche_sweep_queue.job WHERE data->>'sweep' = $1 AND state <> 'completed'";
    await vi.waitFor(async () => expect(await sql(left, [id])).toEqual([]), { timeout: 20_000, interval: 100 });
    expect(await sql('SELECT count(*) FROM tranche_sweep.result')).toEqual(before);
  }, 60_000); // prettier-ignore

  it('is cancelled when its command is interrupted, and the same command resumes it', async () => {
    const cwd = sweepFolder();
    void work().catch(() => undefined);
    const line = ['--vary', 'slices=1..60/1', '--seed', '4', '--out', 'out', '--store', owner()];
    const stopped = await sweep(cwd, line, { interrupted: true });
    expect(stopped.code).toBe(75);
    const id = /sweep (?<id>\S+): 60 runs/u.exec(stopped.err)?.groups?.['id'];
    expect(await sql('SELECT state FROM tranche_sweep.sweep WHERE id = $1', [id])).toEqual([{ state: 'cancelled' }]);
    const rest = await sweep(cwd, line);
    expect(rest.code).toBe(0);
    expect(rest.err).toContain('of 60 runs are already done and are not repeated');
    expect(await sql('SELECT FROM tranche_sweep.chunk')).toEqual([]);
  }, 60_000); // prettier-ignore

  it('stops a worker without the tape and gives its chunk to a worker with the tape', async () => {
    const cwd = sweepFolder();
    const tapes = join(cwd, 'tapes');
    mkdirSync(tapes);
    // A different price, because the store already has the tape of the other tests.
    writeFileSync(join(cwd, 'btc.csv'), readFileSync(join(cwd, 'btc.csv'), 'utf8').replace(',60000,1', ',60000,3'));
    const running = sweep(cwd, ['--vary', 'slices=4', '--store', owner(), '--tapes', tapes]);
    await waiting();
    await expect(work()).rejects.toThrow(/the tape of btcusd \([0-9a-f]{64}\) is missing: it is neither in the store nor in a folder/u);
    const [file = ''] = readdirSync(tapes);
    const bytes = readFileSync(join(tapes, file));
    writeFileSync(join(tapes, file), bytes.subarray(8));
    await expect(work(owner(), tapes)).rejects.toThrow('is damaged: it is not the tape of btcusd');
    writeFileSync(join(tapes, file), bytes);
    void work(owner(), tapes).catch(() => undefined);
    expect((await running).code).toBe(0);
  }, 60_000); // prettier-ignore

  it('is refused by a worker of another version', async () => {
    await sql("INSERT INTO tranche_sweep.sweep (id, version, base, tapes) VALUES ('old', '0.0.9', '', '[]')");
    await expect(work()).rejects.toThrow('sweep old has version 0.0.9, but this worker has version');
    expect((await sweep(sweepFolder(), ['cancel', 'old', '--store', owner()])).code).toBe(0);
  });

  it('fails and names a chunk during which five workers died', async () => {
    const running = sweep(sweepFolder(), ['--vary', 'slices=11', '--store', owner()]);
    const id = await waiting();
    await sql('UPDATE tranche_sweep.chunk SET attempts = 5 WHERE sweep = $1', [id]);
    void work().catch(() => undefined);
    const { code, err } = await running;
    expect(code).toBe(70);
    expect(err).toContain('chunk 0 cannot end: 5 workers died while running it');
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
