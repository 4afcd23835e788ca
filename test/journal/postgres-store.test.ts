import pg from 'pg';
import { onTestFinished } from 'vitest';
import { BlockingClient } from '../../src/journal/postgres/blocking-client.ts';
import { PostgresStore } from '../../src/journal/postgres/postgres-store.ts';
import { readPostgresUrl } from '../../src/journal/postgres/postgres-url.ts';
import { migrate } from '../../src/journal/postgres/schema.ts';
import { ServerSession } from '../../src/journal/postgres/server-session.ts';
import { describeStore } from './describe-store.ts';
import { describePostgres } from './describe-postgres.ts';

describePostgres('desks in PostgreSQL', (server) => {
  let count = 0;

  describeStore('PostgreSQL', async () => {
    const name = `store${(count += 1)}`;
    const { connectionString } = readPostgresUrl(server().url('any'));
    const admin = new pg.Client({ connectionString });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const own = connectionString.replace('/postgres?', `/${name}?`);
    const client = new BlockingClient(own, 5_000);
    migrate(client, name);
    client.close();
    const session = new ServerSession({ connectionString: own, shown: name, timeoutMs: 5_000 });
    onTestFinished(() => {
      session.close();
    });
    const pass = async (ms: number): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
    };
    return { store: new PostgresStore(session, { shown: name }), pass };
  });
});
