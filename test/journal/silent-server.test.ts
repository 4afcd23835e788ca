import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { firstValueFrom } from 'rxjs';
import { PostgresStore } from '../../src/journal/postgres/postgres-store.ts';
import { readPostgresUrl } from '../../src/journal/postgres/postgres-url.ts';
import { preparePostgres } from '../../src/journal/postgres/prepare.ts';
import { ServerSession } from '../../src/journal/postgres/server-session.ts';
import { EMPTY, tie } from '../../src/journal/proof/chain.ts';
import { Line } from '../system/support/line.ts';
import { noPostgres, startPostgres } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';
import { NINE, aFill } from './records.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Runs one query, reports that, and closes the connection on request. */
const ASKS_AND_ENDS = `
  const { firstValueFrom } = await import('rxjs');
  const { ServerSession } = await import('./src/journal/postgres/server-session.ts');
  const [, connectionString] = process.argv;
  const server = new ServerSession({ connectionString, shown: 'test', timeoutMs: 30_000 });
  await firstValueFrom(server.ask({ text: 'SELECT 1' }));
  process.stdout.write('asked');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
  server.close();
`;
const missing = noPostgres();

/** "Terminate" in the protocol of PostgreSQL. */
// oxlint-disable-next-line no-control-regex -- the protocol is binary
const TERMINATE = /^X\0\0\0\u0004$/u;

async function aServer(options?: Parameters<typeof startPostgres>[0]): Promise<PostgresServer> {
  const server = await startPostgres(options);
  onTestFinished(async () => {
    await server.stop();
  });
  preparePostgres(server.url('main'));
  return server;
}

describe.skipIf(missing !== undefined)(
  `a PostgreSQL server that stops answering${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('does not delay the exit of a process that has closed its connections', async () => {
      const server = await aServer();
      const line = await Line.to(() => connect(join(server.home, '.s.PGSQL.5432')));
      onTestFinished(() => {
        line.close();
      });
      const url = `postgres://tranche@127.0.0.1:${line.port}/postgres`;
      const child = spawn(process.execPath, ['--input-type=module', '--eval', ASKS_AND_ENDS, url], {
        cwd: ROOT,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onTestFinished(() => {
        child.kill('SIGKILL');
      });
      const ended = once(child, 'exit');
      await once(child.stdout, 'data');
      line.set('silent');
      child.stdin.write('end\n');
      expect(await ended).toEqual([0, null]);
    });

    it('does not block a session by never confirming the end of a connection with forbidden settings', async () => {
      const server = await aServer({ settings: { fsync: 'off' } });
      const line = await Line.to(() => connect(join(server.home, '.s.PGSQL.5432')));
      const connectionString = `postgres://tranche@127.0.0.1:${line.port}/postgres`;
      const session = new ServerSession({ connectionString, shown: 'test', timeoutMs: 30_000 });
      onTestFinished(() => {
        session.close();
        line.close();
      });
      const held = line.holdNext(TERMINATE, 60_000);
      await expect(firstValueFrom(session.ask({ text: 'SELECT 1' }))).rejects.toThrow('fsync off');
      expect(await held).toBeDefined();
    });

    it('receives no retries from a store after its session was closed', async () => {
      const server = await aServer();
      const { connectionString } = readPostgresUrl(server.url('main'));
      const session = new ServerSession({ connectionString, shown: 'test', timeoutMs: 30_000 });
      let asked = 0;
      const store = new PostgresStore(
        {
          ask(statement) {
            asked += 1;
            return session.ask(statement);
          },
        },
        { shown: 'test' },
      );
      const lease = await firstValueFrom(store.acquire({ desk: 'main', owner: 'test', leaseMs: 60_000 }));
      if (lease === undefined) throw new Error('nobody else has the desk');
      await server.kill();
      const lines = tie(EMPTY, [aFill()], NINE).map(({ line }) => line);
      const failed = firstValueFrom(store.insert(lease, lines)).catch(String);
      session.close();
      const before = asked;
      expect(await failed).toMatch(/the connection is closed/u);
      expect(asked - before).toBeLessThanOrEqual(2);
      await server.start();
    });
  },
);
