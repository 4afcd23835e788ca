import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../journal/postgres-server.ts';
import type { PostgresServer } from '../../journal/postgres-server.ts';

/** Both servers: a standby must allow as many connections as its primary. */
const SETTINGS = { max_connections: '200', wal_keep_size: '512MB', max_wal_senders: '4' };

/** Asks a server with one connection for each question. */
export async function askServer(
  { home }: PostgresServer,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = await connected(home);
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

export async function connected(home: string): Promise<pg.Client> {
  const client = new pg.Client({ host: home, user: 'tranche', database: 'postgres' });
  // A server that ends is told by the query that was under way.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** A primary and a synchronous standby: a commit is confirmed once both have it. */
export class PostgresPair {
  primary: PostgresServer;
  #standby: PostgresServer | undefined;
  /** Servers that were replaced and may still run. */
  readonly #replaced = new Set<PostgresServer>();

  constructor(primary: PostgresServer) {
    this.primary = primary;
  }

  static async start(): Promise<PostgresPair> {
    const pair = new PostgresPair(await startPostgres({ settings: SETTINGS }));
    await pair.#attachStandby();
    return pair;
  }

  /** The standby becomes the primary, with all that was confirmed. The primary of before goes on alone: it can confirm nothing any more. */
  async promote(): Promise<PostgresServer> {
    const [before, standby] = [this.primary, this.#standby];
    if (standby === undefined) throw new Error('there is no standby to promote');
    this.#standby = undefined;
    this.#replaced.add(before);
    const [done] = await askServer(standby, 'SELECT pg_promote(true, 30) AS done');
    if (done?.['done'] !== true) throw new Error('the standby was not promoted within 30 s');
    // It waits for a standby of its own, as the primary did; without one nothing would be confirmed.
    await waitForStandby(standby, false);
    this.primary = standby;
    return before;
  }

  /** Ends a primary that was replaced, and gives the one of now a standby. */
  async replace(before: PostgresServer): Promise<void> {
    await before.stop();
    this.#replaced.delete(before);
    await this.#attachStandby();
  }

  async stop(): Promise<void> {
    await this.#standby?.kill();
    await Promise.all([...this.#replaced, this.primary].map(async (server) => await server.kill()));
    for (const server of [...this.#replaced, this.primary, this.#standby])
      if (server !== undefined) rmSync(server.home, { recursive: true, force: true });
  }

  async #attachStandby(): Promise<void> {
    const { primary } = this;
    this.#standby = await startPostgres({
      settings: { ...SETTINGS, primary_conninfo: `host=${primary.home} user=tranche` },
      fill: async (data) => {
        await copyServer(primary, data);
      },
    });
    for (;;) {
      const [row] = await askServer(primary, "SELECT count(*)::int AS n FROM pg_stat_replication WHERE state = 'streaming'");
      if (row?.['n'] === 1) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await waitForStandby(primary, true);
  }
} // prettier-ignore

/** Whether commits of the server wait for its standby. */
async function waitForStandby(server: PostgresServer, isSynchronous: boolean): Promise<void> {
  await askServer(server, `ALTER SYSTEM SET synchronous_standby_names = '${isSynchronous ? '*' : ''}'`);
  await askServer(server, 'SELECT pg_reload_conf()');
}

/** Copies the files of a server that runs, as pg_basebackup does, which npm has not. The copy follows the server once it is started. */
async function copyServer({ home }: PostgresServer, data: string): Promise<void> {
  const client = await connected(home);
  try {
    await client.query("SELECT pg_backup_start('standby', true)");
    // Files may go while they are copied: the log has what was in them.
    spawnSync('cp', ['-a', join(home, 'data'), data]);
    for (const name of ['postmaster.pid', 'postmaster.opts', 'standby.signal'])
      rmSync(join(data, name), { force: true });
    rmSync(join(data, 'pg_wal'), { recursive: true });
    spawnSync('install', ['-d', '-m', '700', join(data, 'pg_wal')]);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    writeFileSync(join(data, 'backup_label'), rows[0]?.labelfile ?? '');
    writeFileSync(join(data, 'standby.signal'), '');
    // All of it belongs to whom the folder belongs to.
    spawnSync('chown', ['-R', `--reference=${join(home, 'data')}`, data]);
  } finally {
    await client.end();
  }
}
