import { afterAll, beforeAll, describe } from 'vitest';
import { noPostgres, startPostgres } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

const missing = noPostgres();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;

/** Tests that share a server, which `server` returns while they run. */
export function describePostgres(title: string, tests: (server: () => PostgresServer) => void): void {
  describe.skipIf(missing !== undefined)(`${title}${because}`, () => {
    let server: PostgresServer | undefined;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(async () => {
      await server?.stop();
    });
    tests(() => {
      if (server === undefined) throw new Error('the server has not started');
      return server;
    });
  });
}
